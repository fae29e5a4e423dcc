//! Every order of steps between writers of a topic and a reader on a shard, explored by loom.

mod atomic {
    pub use loom::sync::atomic::{AtomicBool, Ordering};
}
#[path = "../../src/wake_flag.rs"]
#[allow(dead_code, reason = "the default is for others")]
mod wake_flag;

use loom::{
    sync::{Arc, Condvar, Mutex, atomic::AtomicU64, atomic::Ordering},
    thread,
};
use wake_flag::WakeFlag;

/// The parts of a topic that wake a reader: the number of appends, the flag, and the shard's inbox.
struct Topic {
    next: AtomicU64,
    flag: WakeFlag,
    inbox: Mutex<u32>,
    woken: Condvar,
}

impl Topic {
    fn append(&self, next: u64) {
        self.next.fetch_max(next, Ordering::Release);
        if self.flag.raise() {
            *self.inbox.lock().unwrap() += 1;
            self.woken.notify_one();
        }
    }

    /// Waits until woken, then looks. Returns the number of appends.
    fn wait_for_wake(&self) -> u64 {
        let mut inbox = self.inbox.lock().unwrap();
        while *inbox == 0 {
            inbox = self.woken.wait(inbox).unwrap();
        }
        *inbox = 0;
        drop(inbox);
        self.flag.lower();
        self.next.load(Ordering::Acquire)
    }
}

fn topic() -> Arc<Topic> {
    Arc::new(Topic {
        next: AtomicU64::new(0),
        flag: WakeFlag::new(),
        inbox: Mutex::new(0),
        woken: Condvar::new(),
    })
}

/// A reader that sleeps forever with something to read would be found as a deadlock.
#[test]
fn a_reader_sees_the_last_append_of_a_writer() {
    loom::model(|| {
        let topic = topic();
        let writer = {
            let topic = topic.clone();
            thread::spawn(move || (1..=2).for_each(|next| topic.append(next)))
        };
        while topic.wait_for_wake() < 2 {}
        writer.join().unwrap();
    });
}

#[test]
fn a_reader_is_woken_at_most_once_until_it_looks() {
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
        assert_eq!(topic.wait_for_wake(), 2);
    });
}
