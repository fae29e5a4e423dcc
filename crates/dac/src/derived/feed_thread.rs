//! The thread on which the tasks of derived streams run.

use oasis_thread_priority::lower_priority;
use std::{io, thread};
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// Priority below that of the threads that receive and send samples.
const NICE: i32 = 5;

/// A running thread with a runtime of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct FeedThread {
    handle: Handle,
    /// Dropped to end the thread.
    _stop: oneshot::Sender<()>,
}

impl FeedThread {
    /// Starts it.
    ///
    /// # Errors
    /// If the system refuses a thread or a descriptor.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("oasis-derived".into()).spawn(move || {
            lower_priority(NICE);
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { handle, _stop: stop })
    }

    /// Returns where tasks are spawned.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}
