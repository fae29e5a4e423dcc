//! Budgets of recorded refusals: a caller that is refused often must neither fill the audit log nor hide the refusals of
//! others.

use super::{PERIOD, REFUSALS};
use oasis_access::Event;
use oasis_dac::LogLimit;
use std::{
    hash::{BuildHasher, RandomState},
    time::Instant,
};

/// Number of all budgets. Two principals share one by chance, which cannot be chosen from outside.
const BUDGET_COUNT: usize = 64;

/// A budget for each principal at each address.
#[derive(Debug)]
pub(super) struct RefusalBudget {
    budgets: Vec<LogLimit>,
    hasher: RandomState,
}

impl Default for RefusalBudget {
    fn default() -> Self {
        let budgets = (0..BUDGET_COUNT).map(|_| LogLimit::new(REFUSALS, PERIOD)).collect();
        Self { budgets, hasher: RandomState::new() }
    }
}

impl RefusalBudget {
    /// Returns how many refusals before this one were not recorded; none if this one must not be either.
    pub(super) fn admit(&self, event: &Event, now: Instant) -> Option<u64> {
        let key = self.hasher.hash_one((&event.principal, &event.address));
        let budget = self.budgets.get(key as usize % BUDGET_COUNT)?;
        Some(budget.admit(now)?.others().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_who_is_refused_often_hides_no_refusal_of_others() {
        let (budget, now) = (RefusalBudget::default(), Instant::now());
        let event = |principal: &str| Event::new(principal.to_owned(), "command:hertz", "forbidden");
        let admitted = (0..1_000).filter(|_| budget.admit(&event("stranger"), now).is_some()).count();
        assert_eq!(admitted, 100);
        let others = (0..32).filter(|at| budget.admit(&event(&format!("person:{at}")), now).is_some());
        assert!(others.count() > 24, "a few may share the budget of the stranger");
        assert!(budget.admit(&event("stranger"), now + PERIOD).is_some_and(|others| others >= 900));
    }
}
