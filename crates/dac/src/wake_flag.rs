//! A flag between writers of a topic and a sleeping reader: the reader is woken once, and not again before it has
//! looked.
//!
//! `tests/integration/model.rs` tries every order of their steps.

use super::atomic::{AtomicBool, Ordering};

/// True if the reader was woken and has not looked yet.
#[derive(Debug)]
pub struct WakeFlag(AtomicBool);

impl WakeFlag {
    /// Creates a lowered flag.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises the flag after an append. Returns whether the caller must wake the reader: false if it was woken since
    /// it last looked.
    pub fn raise(&self) -> bool {
        // Acquire and release, here and below: a writer that finds the flag up knows that the reader will still look
        // after this. A reader that lowers the flag sees everything appended before it was raised.
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Lowers the flag. The reader calls this before it looks.
    pub fn lower(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl Default for WakeFlag {
    fn default() -> Self {
        Self::new()
    }
}
