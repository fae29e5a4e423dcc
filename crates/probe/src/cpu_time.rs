//! Processor time of the node's own threads, in total.

use crate::atomic::AtomicU64;
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

/// Total of all of the node's threads. Threads come and go with connections.
#[derive(Debug, Clone, Default)]
pub struct CpuTime(Arc<AtomicU64>);

/// One thread's share. Created and used on that thread.
#[derive(Debug)]
pub struct ThreadTime {
    total: CpuTime,
    counted: Duration,
}

impl CpuTime {
    /// Starts to count the calling thread.
    pub fn this_thread(&self) -> ThreadTime {
        ThreadTime { total: self.clone(), counted: thread_time() }
    }

    /// Returns the total.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl ThreadTime {
    /// Adds the time that this thread has used since the last call. Costs a system call.
    pub fn settle(&mut self) {
        let now = thread_time();
        let used = now.saturating_sub(self.counted);
        self.counted = now;
        self.total.0.fetch_add(u64::try_from(used.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel's count starts at 0 and its nanoseconds are below 10^9.
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_even_after_they_ended() {
        let cpu = CpuTime::default();
        let work = |cpu: CpuTime| {
            move || {
                let mut time = cpu.this_thread();
                let began = thread_time();
                while thread_time() - began < Duration::from_millis(2) {}
                time.settle();
            }
        };
        let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(work(cpu.clone()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(cpu.total() >= Duration::from_millis(4));
    }
}
