//! Asks a device for the schemas that it has announced, a piece at a time.

use crate::{
    message::{Announce, SchemaPiece, ToDevice},
    schemas::{SchemaError, Schemas},
};
use std::time::{Duration, Instant};

/// A question without an answer is repeated after this time.
const SCHEMA_REPEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Questions without an answer, after which the device must announce itself again.
const QUESTIONS: u32 = 10;
/// Texts that cannot be used, after which the device must announce itself again.
const FAILURES: u32 = 3;

/// An announcement whose schemas are not all known.
#[derive(Debug)]
pub struct SchemaRequest {
    /// The announcement.
    pub announce: Announce,
    /// Number of the instance that is asked for; one beyond the last once all are known.
    instance: usize,
    text: Vec<u8>,
    asked: Option<Instant>,
    questions: u32,
    failures: u32,
}

impl SchemaRequest {
    /// Asks nothing yet.
    pub fn new(announce: Announce) -> Self {
        Self { announce, instance: 0, text: Vec::new(), asked: None, questions: 0, failures: 0 }
    }

    /// Whether all schemas are known.
    pub fn is_complete(&self) -> bool {
        self.instance >= self.announce.instances.len()
    }

    /// Whether a question must be repeated.
    pub fn is_due(&self, now: Instant) -> bool {
        self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= SCHEMA_REPEAT_INTERVAL)
    }

    /// Returns the next question; none while one waits for its answer, once all are known, or if the device does not answer.
    pub fn next(&mut self, now: Instant, schemas: &Schemas) -> Option<ToDevice> {
        while let Some(known) = self.announce.instances.get(self.instance)
            && schemas.get((known.probe_type, known.schema_crc)).is_some()
        {
            self.instance += 1;
            self.text.clear();
            self.asked = None;
        }
        if self.is_complete() || !self.is_due(now) || self.questions >= QUESTIONS || self.failures >= FAILURES
        {
            return None;
        }
        self.asked = Some(now);
        self.questions += 1;
        // Both are bounded: 32 instances, and texts of 16,384 bytes.
        Some(ToDevice::AskSchema { instance: self.instance as u8, offset: self.text.len() as u16 })
    }

    /// Takes an answer. One to another question changes nothing.
    ///
    /// # Errors
    /// If the whole text is not the schema that was announced.
    pub fn take(&mut self, piece: SchemaPiece<'_>, schemas: &Schemas) -> Result<(), SchemaError> {
        let Some(known) = self.announce.instances.get(self.instance) else { return Ok(()) };
        let total = usize::from(known.schema_bytes);
        let is_next = usize::from(piece.instance) == self.instance
            && usize::from(piece.offset) == self.text.len()
            && piece.total == known.schema_bytes
            && !piece.text.is_empty();
        if !is_next || self.text.len() + piece.text.len() > total {
            return Ok(());
        }
        self.text.extend_from_slice(piece.text);
        (self.asked, self.questions) = (None, 0);
        if self.text.len() < total {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        schemas.add((known.probe_type, known.schema_crc), &text).inspect_err(|_| self.failures += 1)
    }
}
