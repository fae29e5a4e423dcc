//! Samples of one probe type as an Arrow stream or a Parquet file.

use super::{Parquet, Stream, gaps::WrittenGap};
use crate::{Gap, SampleWriter, Source, WriteError, input::bounds::MAX_LOST};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{io::Write, sync::Arc};

/// Writes a table. Its first sample determines the columns.
pub struct TableWriter<W: Write + Send> {
    /// Until the first sample.
    out: Option<W>,
    is_parquet: bool,
    table: Option<(Arc<ProbeType>, Table<W>)>,
    /// As many as an import takes.
    gaps: Vec<WrittenGap>,
}

enum Table<W: Write + Send> {
    Stream(Box<Stream<W>>),
    Parquet(Box<Parquet<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// An Arrow IPC stream.
    pub fn stream(out: W) -> Self {
        Self { out: Some(out), is_parquet: false, table: None, gaps: Vec::new() }
    }

    /// A Parquet file.
    pub fn parquet(out: W) -> Self {
        Self { is_parquet: true, ..Self::stream(out) }
    }
}

impl<W: Write + Send> SampleWriter for TableWriter<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        let probe_type = &source.probe_type;
        if let Some(out) = self.out.take() {
            let table = match self.is_parquet {
                true => Table::Parquet(Box::new(Parquet::new(out, probe_type)?)),
                false => Table::Stream(Box::new(Stream::new(out, probe_type)?)),
            };
            self.table = Some((probe_type.clone(), table));
        }
        let Some((known, table)) = &mut self.table else { return Err(WriteError::NoSamples) };
        WriteError::check_type(known, probe_type)?;
        match table {
            Table::Stream(stream) => stream.push(source, state, sample),
            Table::Parquet(file) => file.push(source, state, sample),
        }
    }

    fn gap(&mut self, gap: &Gap<'_>) -> Result<(), WriteError> {
        // A stream has no place for it: the sequence numbers show the gap, without its cause.
        if self.is_parquet && self.gaps.len() < MAX_LOST {
            self.gaps.push(WrittenGap::new(gap));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        match self.table.take() {
            Some((_, Table::Stream(stream))) => stream.finish().map(drop),
            Some((_, Table::Parquet(file))) => file.finish_with(&self.gaps).map(drop),
            None => Err(WriteError::NoSamples),
        }
    }
}
