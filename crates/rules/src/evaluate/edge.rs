//! The moments at which a condition becomes true.

use super::kleene::Kleene;
use serde::{Deserialize, Serialize};

/// Follows a condition from sample to sample.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Edge {
    /// Its last known value.
    last: Option<bool>,
    /// Whether it was unknown since.
    was_unknown: bool,
}

impl Edge {
    /// Returns whether the condition becomes true at this sample, and then whether that moment is known. What is true at first has become true at an unknown time
    /// before; what is true after a gap as it was before has not.
    pub fn step(&mut self, missing: u64, condition: Kleene) -> Option<bool> {
        self.was_unknown |= missing > 0;
        let is_true = match condition {
            Kleene::Unknown => {
                self.was_unknown = true;
                return None;
            }
            Kleene::True => true,
            Kleene::False => false,
        };
        let is_known = !std::mem::replace(&mut self.was_unknown, false);
        let before = self.last.replace(is_true);
        (is_true && before == Some(false)).then_some(is_known)
    }
}
