//! Whether a handler reaches the system that it sends samples to.

use oasis_dac::now;
use serde::Serialize;

/// Condition of a handler, in words of its own, with its begin and reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reach<C> {
    /// The condition.
    pub condition: C,
    /// Since when, in nanoseconds since 1970; 0 before the first condition.
    pub since: u64,
    /// The error.
    pub detail: Option<String>,
}

impl<C: PartialEq> Reach<C> {
    /// Records the condition. Returns whether it is another one, or the first, and is to be logged.
    pub fn note(&mut self, condition: C, detail: Option<String>) -> bool {
        self.detail = detail;
        let is_new = self.condition != condition || self.since == 0;
        if is_new {
            (self.condition, self.since) = (condition, now().0);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_new_once_and_its_error_is_always_the_last_one() {
        let mut reach = Reach::<bool>::default();
        assert!(reach.note(false, None), "the first");
        let since = reach.since;
        assert!(!reach.note(false, Some("refused".into())));
        assert_eq!((reach.since, reach.detail.as_deref()), (since, Some("refused")));
        assert!(reach.note(true, None));
        assert_eq!(reach.detail, None);
    }
}
