//! Every order of steps between writers of a topic and a reader on a shard, tried out by loom.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod atomic {
    pub use loom::sync::atomic::{AtomicBool, Ordering};
}
#[path = "../src/raised.rs"]
#[allow(dead_code, reason = "the default is for others")]
mod raised;

use loom::{
    sync::{Arc, Condvar, Mutex, atomic::AtomicU64, atomic::Ordering},
    thread,
};
use raised::Raised;

/// A topic as far as waking goes: how much was appended, the flag, and the shard's inbox.
struct Topic {
    next: AtomicU64,
    raised: Raised,
    inbox: Mutex<u32>,
    told: Condvar,
}

impl Topic {
    fn append(&self, next: u64) {
        self.next.fetch_max(next, Ordering::Release);
        if self.raised.raise() {
            *self.inbox.lock().unwrap() += 1;
            self.told.notify_one();
        }
    }

    /// Sleeps until told, then looks: how much there is.
    fn look(&self) -> u64 {
        let mut inbox = self.inbox.lock().unwrap();
        while *inbox == 0 {
            inbox = self.told.wait(inbox).unwrap();
        }
        *inbox = 0;
        drop(inbox);
        self.raised.lower();
        self.next.load(Ordering::Acquire)
    }
}

fn topic() -> Arc<Topic> {
    Arc::new(Topic {
        next: AtomicU64::new(0),
        raised: Raised::new(),
        inbox: Mutex::new(0),
        told: Condvar::new(),
    })
}

/// A reader that sleeps for ever with something to read would be found as a deadlock.
#[test]
fn a_reader_sees_the_last_of_a_writers_appends() {
    loom::model(|| {
        let topic = topic();
        let writer = {
            let topic = topic.clone();
            thread::spawn(move || (1..=2).for_each(|next| topic.append(next)))
        };
        while topic.look() < 2 {}
        writer.join().unwrap();
    });
}

#[test]
fn a_reader_is_told_at_most_once_until_it_looks() {
    loom::model(|| {
        let topic = topic();
        let writers = [1, 2].map(|next| {
            let topic = topic.clone();
            thread::spawn(move || topic.append(next))
        });
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(*topic.inbox.lock().unwrap(), 1);
        assert_eq!(topic.look(), 2);
    });
}
