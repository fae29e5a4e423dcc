//! Ends the threads of a test, also if it fails.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when it is dropped. `thread::scope` waits for its threads before a failed test ends, so that a flag which is set last would never be set.
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
