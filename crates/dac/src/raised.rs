//! A flag between writers of a topic and a reader that sleeps: the reader is told once, and then not again until it has looked.
//!
//! `tests/model.rs` tries every order in which the two can meet.

use super::atomic::{AtomicBool, Ordering};

/// Whether the reader was told and has not looked yet.
#[derive(Debug)]
pub struct Raised(AtomicBool);

impl Raised {
    /// Not raised.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Called behind an append. Answers whether the reader must be told: not if somebody has done so since it last looked.
    pub fn raise(&self) -> bool {
        // Acquire and release, both here and below: who finds the flag up knows that the reader will look after this, and who
        // takes it down sees all that was appended before it was put up.
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Called by the reader before it looks.
    pub fn lower(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl Default for Raised {
    fn default() -> Self {
        Self::new()
    }
}
