//! When silence would be noticed.

use oasis_wire::quantity::TopicId;
use std::collections::{BTreeMap, BTreeSet};

/// The ticks of DAC time at which silence of a topic would be noticed.
#[derive(Debug, Default)]
pub struct Deadlines {
    ordered: BTreeSet<(u64, TopicId)>,
    of_topic: BTreeMap<TopicId, u64>,
}

impl Deadlines {
    /// Sets or removes the tick of a topic.
    pub fn set(&mut self, topic: TopicId, deadline: Option<u64>) {
        let before = match deadline {
            Some(deadline) => self.of_topic.insert(topic, deadline),
            None => self.of_topic.remove(&topic),
        };
        if before != deadline {
            if let Some(before) = before {
                self.ordered.remove(&(before, topic));
            }
            self.ordered.extend(deadline.map(|deadline| (deadline, topic)));
        }
    }

    /// The first of them.
    pub fn next(&self) -> Option<u64> {
        self.ordered.first().map(|(deadline, _)| *deadline)
    }

    /// The topics whose ticks are not after this DAC time.
    pub fn due(&self, dac_time: u64) -> Vec<TopicId> {
        self.ordered
            .iter()
            .take_while(|(deadline, _)| *deadline <= dac_time)
            .map(|(_, topic)| *topic)
            .collect()
    }
}
