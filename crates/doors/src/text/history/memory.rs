//! The memory of an answer.

use crate::Doors;
use axum::http::StatusCode;
use oasis_dac::HeldMemory;
use oasis_http::Problem;

/// The memory that an answer holds for a client that may be slow: part of the share of unread answers in `memory_bytes`.
pub struct AnswerMemory {
    held: HeldMemory,
    /// Bytes that every answer of its form needs.
    reserved: usize,
    /// Decoded batches.
    batches: usize,
    /// Bytes that the file keeps until its end.
    index: usize,
}

impl AnswerMemory {
    /// Reserves what every answer needs.
    ///
    /// # Errors
    /// If unread answers exceed their share. So do the other functions.
    pub fn reserve(doors: &Doors, reserved: usize) -> Result<Self, Problem> {
        let mut memory = Self { held: doors.dac.answers.hold(), reserved, batches: 0, index: 0 };
        memory.settle(doors)?;
        Ok(memory)
    }

    /// Holds `new` bytes of a decoded batch in place of `old`.
    pub fn replace_batch(&mut self, doors: &Doors, old: usize, new: usize) -> Result<(), Problem> {
        self.batches = self.batches.saturating_sub(old).saturating_add(new);
        self.settle(doors)
    }

    /// Holds `bytes` bytes of an index that grows with the file.
    pub fn index(&mut self, doors: &Doors, bytes: usize) -> Result<(), Problem> {
        if bytes == self.index {
            return Ok(());
        }
        self.index = bytes;
        self.settle(doors)
    }

    fn settle(&mut self, doors: &Doors) -> Result<(), Problem> {
        if self.held.set(self.reserved.saturating_add(self.batches).saturating_add(self.index)) {
            return Ok(());
        }
        doors.admission.count_refused("memory_limit");
        let detail = "answers that clients have not read exceed their share of memory_bytes: \
                      try again later, or ask for a shorter time";
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "memory_limit", detail))
    }
}
