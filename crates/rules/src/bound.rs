//! The most memory that a rule takes for each instance, beside the batch at hand.

use crate::{
    evaluate::{Entry, Obligation, State, Totals},
    program::{Body, MAX_PENDING, Rule, Slot},
};

impl Rule {
    /// Bytes that it takes at most for each instance.
    pub fn memory_bytes(&self) -> usize {
        let slots: usize = self.slots.iter().map(|slot| slot.memory_bytes()).sum();
        let pending = MAX_PENDING * size_of::<Obligation>();
        let body = match &self.body {
            Body::Alarm(_) => 0,
            Body::Event(event) => event.then.as_ref().map_or(0, |_| pending),
            Body::Check(_) => pending,
            Body::Derive(derive) => derive.fields.len() * size_of::<f64>(),
        };
        // An instance keeps the state beside the number of its rule.
        size_of::<(usize, State)>() + slots + body
    }
}

impl Slot {
    fn memory_bytes(&self) -> usize {
        let entries = match self {
            Self::Window { capacity, purpose, .. } => {
                let capacity = *capacity as usize;
                capacity * size_of::<Entry>() + Totals::memory_bytes(*purpose, capacity)
            }
            Self::Previous => 0,
        };
        size_of::<crate::evaluate::Memory>() + entries
    }
}
