//! Threads that write text for readers that lag.
//!
//! Text of new samples is written once for all readers, by the threads of the doors. Old samples are written anew for each request, and a client may ask
//! for them again and again. That is done here at low priority, so that readers of new samples find a processor.

use oasis_thread_priority::{BACKGROUND, lower_priority};
use std::{io, num::NonZero, thread};
use tokio::runtime::{Builder, Runtime};

/// The threads.
#[derive(Debug)]
pub struct Writers {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Writers {
    /// Starts a thread for every second processor.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(processors.div_ceil(2))
            .thread_name("oasis-text")
            .on_thread_start(|| lower_priority(BACKGROUND))
            .build()?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Lets one of the threads work on a value, and returns it; nothing if the work has panicked.
    pub async fn work<T: Send + 'static>(
        &self,
        mut value: T,
        work: impl FnOnce(&mut T) + Send + 'static,
    ) -> Option<T> {
        let done = self.runtime.as_ref()?.spawn(async move {
            work(&mut value);
            value
        });
        done.await.ok()
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        // Waiting for the threads would block the one that drops them.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_its_panic_is_nothing() {
        let writers = Writers::start().expect("threads");
        assert_eq!(writers.work(1, |number| *number += 1).await, Some(2));
        assert_eq!(writers.work(1, |_| panic!("of a test")).await, None);
        assert_eq!(writers.work(1, |_| ()).await, Some(1), "the threads go on");
    }
}
