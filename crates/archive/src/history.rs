//! What is stored, to be read: by the DAC that stores it, or by anybody who opens the archive when it has ended.

use crate::{
    past::Past,
    store::{ReadError, Store},
};
use oasis_wire::quantity::Position;
use std::sync::Arc;

/// An archive's readers' side.
#[derive(Debug, Clone)]
pub struct History(pub(crate) Arc<Store>);

impl History {
    /// An instance's past from the first sample on that is not older than `time`, up to the first that is not older than `until`, nanoseconds on the
    /// node's clock. None if nothing that recent is stored. Reads files: not for a thread that must not wait.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_from(
        &self,
        node: &str,
        instance: &str,
        time: u64,
        until: Option<u64>,
    ) -> Result<Option<Past>, ReadError> {
        Past::from_time(&self.0, node, instance, time, until)
    }

    /// An instance's past from a position on. None if nothing of its epoch is stored. Reads files: not for a thread that must not wait.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn past_at(
        &self,
        node: &str,
        instance: &str,
        at: Position,
        until: Option<u64>,
    ) -> Result<Option<Past>, ReadError> {
        Past::at_position(&self.0, node, instance, at, until)
    }
}
