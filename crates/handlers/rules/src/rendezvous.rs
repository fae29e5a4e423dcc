//! Which of several DACs does something that one of them must do: the one whose name has the highest hash together with what is done (rendezvous hashing,
//! Thaler and Ravishankar 1998). All that know the same names choose the same one, and one that comes or goes changes only what it gets or had.

use uuid::Uuid;

/// The namespace of the hashes (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x51d3_8c0e_7f42_4a96_a1b7_0e6d_93c5_284b);

/// Chooses one of some DACs for a rule; none of none.
pub fn choose<'a>(rule: &str, dacs: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    dacs.max_by_key(|dac| (hash(rule, dac), *dac))
}

fn hash(rule: &str, dac: &str) -> u128 {
    // A length before each text: "a" + "bc" is another key than "ab" + "c".
    let mut bytes = Vec::with_capacity(16 + rule.len() + dac.len());
    for text in [rule, dac] {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Uuid::new_v5(&NAMESPACE, &bytes).as_u128()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn chosen<'a>(rule: &str, dacs: &'a BTreeSet<String>) -> Option<&'a str> {
        choose(rule, dacs.iter().map(String::as_str))
    }

    #[test]
    fn rules_are_spread_over_the_dacs() {
        let dacs: BTreeSet<String> = (1..=4).map(|number| format!("hall-{number}")).collect();
        for dac in &dacs {
            let own = (0..1_000).filter(|rule| chosen(&format!("Rule{rule}"), &dacs) == Some(dac)).count();
            assert!((190..310).contains(&own), "{dac} has {own} of 1,000");
        }
        assert_eq!(choose("Rule", std::iter::empty()), None);
    }

    proptest! {
        #[test]
        fn the_order_of_the_dacs_does_not_matter(
            rule in ".{0,20}", dacs in prop::collection::btree_set(".{0,12}", 1..10), turn in 0_usize..10,
        ) {
            let mut turned: Vec<&str> = dacs.iter().map(String::as_str).collect();
            let middle = turn % turned.len();
            turned.rotate_left(middle);
            prop_assert_eq!(choose(&rule, turned.into_iter()), chosen(&rule, &dacs));
        }

        #[test]
        fn exactly_one_of_those_that_know_the_same_takes_it(
            rule in ".{0,20}", dacs in prop::collection::btree_set(".{0,12}", 1..10),
        ) {
            prop_assert_eq!(dacs.iter().filter(|own| chosen(&rule, &dacs) == Some(own)).count(), 1);
        }

        #[test]
        fn a_dac_that_goes_changes_only_what_it_had(
            rule in ".{0,20}", dacs in prop::collection::btree_set(".{0,12}", 2..10), gone in 0_usize..10,
        ) {
            let before = chosen(&rule, &dacs).map(str::to_owned);
            let gone = dacs.iter().nth(gone % dacs.len()).cloned().unwrap_or_default();
            let mut left = dacs.clone();
            left.remove(&gone);
            let after = chosen(&rule, &left).map(str::to_owned);
            if before.as_deref() == Some(gone.as_str()) {
                prop_assert!(after.is_some_and(|after| left.contains(&after)));
            } else {
                prop_assert_eq!(after, before);
            }
        }
    }
}
