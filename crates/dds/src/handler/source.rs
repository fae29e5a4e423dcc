//! The samples of one instance, from its topic log to the writer of its type.

use super::{
    state::{Loss, NotPublished},
    topics::Topic,
};
use crate::{DdsError, InstanceKey, TopicName, encode};
use oasis_dac::{Instance, Wake};
use oasis_wire::{
    batch::{Batch, Sample},
    quantity::Offset,
};
use std::sync::Arc;

/// Segments read at once.
const MAX_READ_SEGMENTS: usize = 16;

/// Numbers of samples by what happened to them.
#[derive(Debug, Default)]
pub struct Outcome {
    pub published: u64,
    pub lost: Vec<NotPublished>,
}

/// Result of a turn of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// There is nothing left.
    Done,
    /// There may be more.
    More,
    /// The writer has no room.
    Full,
}

/// The samples of one instance. While it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Source {
    pub instance: Arc<Instance>,
    pub topic: TopicName,
    key: InstanceKey,
    next: Offset,
    wake: Arc<dyn Wake>,
}

impl Source {
    /// Begins with the samples that come from now on, or with the oldest one of the log.
    pub fn new(instance: Arc<Instance>, from_now_on: bool, wake: Arc<dyn Wake>) -> Self {
        let next = if from_now_on { instance.log.next() } else { instance.log.start() };
        instance.log.add_reader(wake.clone());
        let topic = TopicName::of(&instance.probe_type.name);
        Self { key: InstanceKey::new(&instance.node, &instance.name), topic, next, wake, instance }
    }

    /// Returns the number of unread samples in the log.
    pub fn behind(&self) -> u64 {
        self.instance.log.next().0.saturating_sub(self.next.0)
    }

    /// Returns whether the instance is retired, and all of it is read.
    pub fn is_over(&self) -> bool {
        self.instance.is_retired() && self.behind() == 0
    }

    /// Passes over all samples that are there. Returns how many there were.
    pub fn skip(&mut self) -> u64 {
        let skipped = self.behind();
        self.next = self.instance.log.next().max(self.next);
        skipped
    }

    /// Publishes the next samples.
    pub fn publish(&mut self, topic: &mut Topic, outcome: &mut Outcome) -> Result<Turn, DdsError> {
        if !topic.has_room() {
            return Ok(Turn::Full);
        }
        let read = self.instance.log.read(self.next, MAX_READ_SEGMENTS);
        if let Some((from, to)) = read.missed {
            let why = "the log evicted them before they were published";
            outcome.lost.push(self.lost(Loss::Lag, to.0 - from.0, why));
            self.next = to;
        }
        for segment in &read.segments {
            let Ok(batch) = Batch::parse(segment.batch(), &self.instance.probe_type) else {
                // The session has checked it.
                let samples = segment.end().0 - self.next.0;
                outcome.lost.push(self.lost(Loss::Refused, samples, "a batch cannot be read"));
                self.next = segment.end();
                continue;
            };
            // A batch whose samples did not all find room is read again from where it ended.
            let done = self.next.0.saturating_sub(segment.first_held().0);
            for index in usize::try_from(done).unwrap_or(usize::MAX)..usize::from(segment.count()) {
                let Some(sample) = batch.get(index) else { break };
                if !self.write(&sample, topic)? {
                    return Ok(Turn::Full);
                }
                outcome.published += 1;
                self.next = Offset(segment.first_held().0 + index as u64 + 1);
            }
            self.next = segment.end();
        }
        Ok(Turn::More)
    }

    fn write(&self, sample: &Sample, topic: &mut Topic) -> Result<bool, DdsError> {
        topic.write(&self.key, sample.time, encode(&self.key, &self.instance.probe_type, sample))
    }

    /// Describes samples of this instance that were not published.
    pub fn lost(&self, cause: Loss, samples: u64, why: &str) -> NotPublished {
        let (node, name) = (&self.instance.node, &self.instance.name);
        NotPublished { cause, samples, detail: format!("{node}/{name}: {samples} samples: {why}") }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.instance.log.remove_reader(&self.wake);
    }
}
