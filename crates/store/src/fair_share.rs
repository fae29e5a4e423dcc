//! Fair shares of a retention rule's size limit. Nodes share it equally, and so do the instances of a node; what one does not use, others
//! may (max-min fairness). Instances with less than their share are *small*: their samples are the last that the limit evicts.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Bytes of an instance in one segment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileShare {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Bytes of its batches.
    pub bytes: u64,
}

/// Bytes of all instances in the sealed files of a rule.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    nodes: BTreeMap<Arc<str>, BTreeMap<Arc<str>, u64>>,
}

impl Usage {
    /// Adds what a file has of an instance.
    pub fn add(&mut self, FileShare { node, instance, bytes }: &FileShare) {
        let of_node = self.nodes.entry(node.clone()).or_default();
        *of_node.entry(instance.clone()).or_default() += bytes;
    }

    /// Removes what an evicted file had of an instance.
    pub fn remove(&mut self, FileShare { node, instance, bytes }: &FileShare) {
        let Some(of_node) = self.nodes.get_mut(node) else { return };
        if let Some(known) = of_node.get_mut(instance) {
            *known = known.saturating_sub(*bytes);
            if *known == 0 {
                of_node.remove(instance);
            }
        }
        if of_node.is_empty() {
            self.nodes.remove(node);
        }
    }

    /// Returns the bytes of each node.
    pub fn by_node(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.nodes.iter().map(|(node, instances)| (node, instances.values().sum()))
    }

    /// Returns the bytes of all instances.
    pub fn bytes(&self) -> u64 {
        self.by_node().map(|(_, bytes)| bytes).sum()
    }

    /// Returns node and name of all instances.
    pub fn names(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.nodes.iter().flat_map(|(node, instances)| instances.keys().map(move |instance| (node, instance)))
    }

    /// Divides a capacity among nodes and instances.
    pub fn shares_of(&self, capacity: u64) -> FairShares<'_> {
        let most = level(self.by_node().map(|(_, bytes)| bytes), capacity);
        let inner =
            self.by_node().filter(|(_, bytes)| !fits(*bytes, most, SMALL_SHARE)).map(|(node, bytes)| {
                // Half of it, so that instances of about the same size are all large.
                let within = bytes.min(most) / 2;
                (node.as_ref(), level(self.nodes[node].values().copied(), within))
            });
        FairShares { usage: self, most, inner: inner.collect() }
    }
}

/// The fair share of each node, and of each instance of the large ones.
#[derive(Debug)]
pub struct FairShares<'a> {
    usage: &'a Usage,
    /// The share of a node; `u64::MAX` while all of them fit.
    most: u64,
    /// The share of an instance, of the nodes that are not small.
    inner: HashMap<&'a str, u64>,
}

/// The part of its share up to which an instance is small. Less than all of it: of nodes with about the same number of bytes none is small,
/// and files are evicted in their order.
const SMALL_SHARE: (u64, u64) = (4, 5);
/// The part of its share below which a large instance becomes small again: others' bytes vary.
const SMALL_AGAIN_SHARE: (u64, u64) = (1, 2);

impl FairShares<'_> {
    /// Whether an instance has clearly less than its share, or its node has.
    pub fn is_small(&self, node: &str, instance: &str) -> bool {
        self.is_below(node, instance, SMALL_SHARE)
    }

    /// As [`FairShares::is_small`], for one that was large before.
    pub fn is_small_again(&self, node: &str, instance: &str) -> bool {
        self.is_below(node, instance, SMALL_AGAIN_SHARE)
    }

    fn is_below(&self, node: &str, instance: &str, part: (u64, u64)) -> bool {
        let Some(instances) = self.usage.nodes.get(node) else { return true };
        if fits(instances.values().sum(), self.most, part) {
            return true;
        }
        let bytes = instances.get(instance).copied().unwrap_or_default();
        self.inner.get(node).is_some_and(|most| fits(bytes, *most, part))
    }
}

/// Whether an amount is at most a part of a share.
fn fits(amount: u64, share: u64, (part, of): (u64, u64)) -> bool {
    u128::from(amount) * u128::from(of) <= u128::from(share) * u128::from(part)
}

/// Returns the amount up to which each one is granted so that all fit into the capacity; `u64::MAX` if they fit as they are.
fn level(amounts: impl Iterator<Item = u64>, capacity: u64) -> u64 {
    let mut amounts: Vec<u64> = amounts.collect();
    amounts.sort_unstable();
    let (mut left, mut others) = (capacity, amounts.len() as u64);
    for amount in amounts {
        let equal = left / others;
        if amount > equal {
            return equal;
        }
        left -= amount;
        others -= 1;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(of: &[(&str, &str, u64)]) -> Usage {
        let mut usage = Usage::default();
        for (node, instance, bytes) in of {
            usage.add(&FileShare { node: (*node).into(), instance: (*instance).into(), bytes: *bytes });
        }
        usage
    }

    proptest! {
        #[test]
        fn a_level_grants_all_that_fits_and_no_more(
            amounts in proptest::collection::vec(0..1_000_u64, 1..20), capacity in 0..10_000_u64
        ) {
            let level = level(amounts.iter().copied(), capacity);
            let granted: u64 = amounts.iter().map(|amount| amount.min(&level)).sum();
            prop_assert!(granted <= capacity);
            let all: u64 = amounts.iter().sum();
            // Only a remainder of the division is not granted.
            prop_assert!(granted == all || capacity - granted < amounts.len() as u64);
        }
    }

    #[test]
    fn everybody_is_small_while_all_fit() {
        let usage = usage(&[("a", "x", 60), ("b", "x", 30)]);
        let shares = usage.shares_of(90);
        assert!(["a", "b", "new"].iter().all(|node| shares.is_small(node, "x")));
    }

    #[test]
    fn a_heavy_node_is_large_and_others_are_small() {
        let usage = usage(&[("junk", "x", 900), ("plant", "a", 30), ("plant", "b", 20), ("mill", "a", 100)]);
        let shares = usage.shares_of(1_000);
        assert!(!shares.is_small("junk", "x"));
        assert!([("plant", "a"), ("plant", "b"), ("mill", "a")].iter().all(|(n, i)| shares.is_small(n, i)));
        // Many instances alone do not make a node small.
        let many: Vec<_> = (0..100).map(|number| format!("{number}")).collect();
        let mut usage = usage.clone();
        for instance in &many {
            usage.add(&FileShare { node: "many".into(), instance: instance.as_str().into(), bytes: 20 });
        }
        let shares = usage.shares_of(1_000);
        assert!(many.iter().all(|instance| !shares.is_small("many", instance)));
        assert!(shares.is_small("plant", "a"));
    }

    #[test]
    fn within_a_node_an_instance_with_little_is_small() {
        let usage = usage(&[("plant", "camera", 990), ("plant", "door", 10)]);
        let shares = usage.shares_of(900);
        assert!(!shares.is_small("plant", "camera") && shares.is_small("plant", "door"));
    }

    #[test]
    fn of_nodes_with_about_the_same_none_is_small() {
        let usage = usage(&[("a", "x", 95), ("b", "x", 100), ("c", "x", 105)]);
        let shares = usage.shares_of(270);
        assert!(["a", "b", "c"].iter().all(|node| !shares.is_small(node, "x")));
    }

    #[test]
    fn what_is_evicted_does_not_count() {
        let mut usage = usage(&[("a", "x", 95), ("b", "x", 100)]);
        usage.remove(&FileShare { node: "b".into(), instance: "x".into(), bytes: 100 });
        assert_eq!(usage.by_node().map(|(node, bytes)| (&**node, bytes)).collect::<Vec<_>>(), [("a", 95)]);
    }
}
