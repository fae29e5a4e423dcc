//! What `log` and `span` share: rows of texts, flushed from any thread.

use oasis_probe::{NodeBuilder, NodeError, RowWriter, Sample, SharedProbe};
use std::cell::RefCell;

/// Rows that wait for one another; each takes some kilobytes at most.
const WAITING: usize = 256;

thread_local! {
    static ROW: RefCell<Vec<u8>> = RefCell::default();
}

/// A probe whose rows are written in a buffer of the thread's own.
#[derive(Debug)]
pub struct TextProbe(SharedProbe);

impl TextProbe {
    /// Adds the instance to a node.
    pub fn new<S: Sample>(
        node: &mut NodeBuilder,
        instance: &str,
        ring_bytes: usize,
    ) -> Result<Self, NodeError> {
        let rows = node.pushed::<S>(instance, ring_bytes)?.into_rows();
        Ok(Self(SharedProbe::new(rows, WAITING)))
    }

    /// Whether samples are taken.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    /// Takes a sample.
    pub fn flush(&self, time: u64, write: impl FnOnce(&mut RowWriter<'_>)) {
        // A thread that is ending has no buffer any more.
        let mut row = ROW.try_with(RefCell::take).unwrap_or_default();
        row.clear();
        write(&mut RowWriter::new(&mut row));
        self.0.flush_at(time, &row);
        let _ = ROW.try_with(|kept| kept.replace(row));
    }
}
