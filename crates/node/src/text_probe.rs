//! A probe of texts that any thread flushes, shared by `log` and `span`.

use oasis_probe::{NodeBuilder, NodeError, RowWriter, Sample, SharedProbe};
use std::cell::RefCell;

/// Rows that can wait for the ring; each takes a few kilobytes at most.
const WAITING_ROWS: usize = 256;

thread_local! {
    static ROW: RefCell<Vec<u8>> = RefCell::default();
}

/// A probe that writes each row in a buffer of the calling thread.
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
        Ok(Self(SharedProbe::new(rows, WAITING_ROWS)))
    }

    /// Whether the instance takes samples.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    /// Returns whether the node runs in another process, of which this one is a child.
    pub fn is_forked(&self) -> bool {
        self.0.is_forked()
    }

    /// Flushes the sample that `write` writes.
    pub fn flush(&self, time: u64, write: impl FnOnce(&mut RowWriter<'_>)) {
        // A thread that ends has already freed its buffer.
        let mut row = ROW.try_with(RefCell::take).unwrap_or_default();
        row.clear();
        write(&mut RowWriter::new(&mut row));
        self.0.flush_at(time, &row);
        let _ = ROW.try_with(|kept| kept.replace(row));
    }
}
