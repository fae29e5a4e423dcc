//! MCAP files.

use super::File;
use oasis_format::{Gap, SampleWriter, Source, WriteError, mcap::McapWriter};
use oasis_wire::batch::Sample;
use std::{io::Write, sync::Arc};

/// A file keeps an index of about this part of its bytes.
const INDEX_PART: usize = 64;

impl<W: Write> File for McapWriter<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        SampleWriter::sample(self, source, state, sample)
    }

    fn gap(&mut self, gap: &Gap<'_>) -> Result<(), WriteError> {
        SampleWriter::gap(self, gap)
    }

    fn index_bytes(&self, written: usize) -> usize {
        written / INDEX_PART
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        SampleWriter::finish(&mut *self)
    }
}
