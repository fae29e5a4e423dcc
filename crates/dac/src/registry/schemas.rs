//! The memory of schemas: one limit for those of instances, and for those that a session has registered and no instance has.

use super::{Inner, Registry};
use crate::memory::HeldMemory;
use oasis_channel::Failure;

impl Registry {
    /// Returns a session's part of the memory of schemas.
    pub(crate) fn hold_schemas(&self) -> HeldMemory {
        self.session_schemas.hold()
    }

    /// Reserves memory for a type of a session.
    ///
    /// # Errors
    /// `too_much_schema` if all schemas together exceed `channel.max_schema_bytes`.
    pub(crate) fn reserve(&self, session: &mut HeldMemory, bytes: usize) -> Result<(), Failure> {
        self.make_room_for_schema(&mut self.lock(), bytes)?;
        session.add(bytes);
        Ok(())
    }

    /// Evicts instances known only from the archive until `bytes` bytes fit.
    pub(super) fn make_room_for_schema(&self, inner: &mut Inner, bytes: usize) -> Result<(), Failure> {
        let of_sessions = self.session_schemas.used();
        while inner.schema_bytes.saturating_add(of_sessions).saturating_add(bytes) > self.max_schema_bytes {
            if !inner.evict_oldest_instance() {
                let message = format!(
                    "schema memory limit reached: {} bytes are in use (channel.max_schema_bytes, memory_bytes)",
                    inner.schema_bytes + of_sessions
                );
                return Err(Failure::new("too_much_schema", message));
            }
        }
        Ok(())
    }
}
