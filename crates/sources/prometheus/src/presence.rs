//! Nodes whose series have all ended.
//!
//! Prometheus sends a marker in place of a value when a series is not there any more: of all series of a target if that does not answer.

use std::collections::{HashMap, HashSet};

/// The NaN that marks the end of a series.
pub const STALE: u64 = 0x7ff0_0000_0000_0002;

/// The series of each node that have not ended.
#[derive(Debug, Default)]
pub struct Presence(HashMap<String, HashSet<String>>);

impl Presence {
    /// Notes a sample. Returns whether it was the end of the last series of its node.
    pub fn note(&mut self, node: &str, instance: &str, value: f64) -> bool {
        let is_stale = value.to_bits() == STALE;
        match self.0.get_mut(node) {
            Some(series) if is_stale => {
                let ended = series.remove(instance) && series.is_empty();
                if ended {
                    self.0.remove(node);
                }
                ended
            }
            Some(series) => {
                if !series.contains(instance) {
                    series.insert(instance.to_owned());
                }
                false
            }
            None => {
                if !is_stale {
                    self.0.insert(node.to_owned(), HashSet::from([instance.to_owned()]));
                }
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_ends_with_its_last_series() {
        let mut presence = Presence::default();
        let stale = f64::from_bits(STALE);
        assert!(!presence.note("a", "x", stale), "it was never there");
        assert!(!presence.note("a", "x", 1.0));
        assert!(!presence.note("a", "y", f64::NAN), "a NaN of the target is a value");
        assert!(!presence.note("a", "x", stale));
        assert!(presence.note("a", "y", stale));
        assert!(!presence.note("a", "y", stale));
    }
}
