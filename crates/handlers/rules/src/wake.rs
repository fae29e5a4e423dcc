//! Which topics have new samples.

use oasis_dac::{Wake, WakeFlag};
use oasis_wire::quantity::TopicId;
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The topics with new samples, and the sleep of the thread until there are any.
#[derive(Debug, Default)]
pub struct Ready {
    /// Locked for a push or an exchange; a writer of a topic waits for no more.
    topics: Mutex<Vec<TopicId>>,
    some: Condvar,
}

/// Wakes the thread for one topic: once, and not again before it has looked.
#[derive(Debug)]
pub struct TopicWake {
    topic: TopicId,
    flag: WakeFlag,
    ready: Arc<Ready>,
}

impl TopicWake {
    pub fn new(topic: TopicId, ready: &Arc<Ready>) -> Arc<Self> {
        Arc::new(Self { topic, flag: WakeFlag::new(), ready: ready.clone() })
    }

    /// Call it before looking at the topic.
    pub fn lower(&self) {
        self.flag.lower();
    }
}

impl Wake for TopicWake {
    fn raise(&self) {
        if self.flag.raise() {
            self.ready.lock().push(self.topic);
            self.ready.some.notify_one();
        }
    }
}

impl Ready {
    /// Takes the topics with new samples.
    pub fn take(&self) -> Vec<TopicId> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until a topic has new samples, at most so long.
    pub fn wait(&self, most: Duration) {
        let topics = self.lock();
        drop(self.some.wait_timeout_while(topics, most, |topics| topics.is_empty()));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TopicId>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
