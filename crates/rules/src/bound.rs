//! The most memory that a rule takes for each instance, besides the current batch.

use crate::{
    evaluate::{Clock, Entry, FeedState, Obligation, QUEUE_BYTES, State, Totals},
    program::{Body, Feed, MAX_PENDING, Rule, Slot},
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
        // Samples of each input wait for those of the others.
        let queues = if self.feeds.is_empty() { 0 } else { (1 + self.others().len()) * QUEUE_BYTES };
        let feed = |feed: &Feed| {
            let slots: usize = feed.slots.iter().map(|slot| slot.memory_bytes()).sum();
            slots + size_of::<(usize, FeedState)>()
        };
        let clocks = if self.feeds.is_empty() { 0 } else { (1 + self.others().len()) * size_of::<Clock>() };
        let slots = slots + queues + clocks + self.feeds.iter().map(feed).sum::<usize>();
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
