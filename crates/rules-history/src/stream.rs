//! The stored samples of one instance, batch by batch, in columns.

use crate::past::{Past, Span};
use oasis_history::{Batch, HistoryPart, NextStep, Reader};
use oasis_rules::{Binding, RESTART, Rows, program::Input};
use oasis_store::{ReadError, Series};
use oasis_wire::{
    batch::{self, Header},
    quantity::{Epoch, Offset},
};
use std::{collections::VecDeque, sync::Arc};
use uuid::Uuid;

/// Most notes of an instance: further ones tell the same.
const MAX_NOTES: usize = 8;

/// Samples that came in one batch, and their place in the order of all batches. They are decoded in their turn: many instances wait for theirs.
#[derive(Debug)]
pub struct Arrival {
    /// The life of the DAC that it came in.
    pub epoch: Epoch,
    pub dac_time: u64,
    pub topic: u32,
    /// The node's run.
    pub run: Uuid,
    /// The sequence number of the first one that is wanted.
    pub sequence: u64,
    batch: Batch,
}

/// The batches of one instance.
#[derive(Debug)]
pub struct Stream {
    reader: Reader,
    bytes: usize,
    input: Input,
    pieces: VecDeque<HistoryPart>,
    is_over: bool,
    binding: Option<(Arc<Series>, Binding)>,
    /// The run of the last sample, and the sequence number after it.
    next: Option<(Uuid, u64)>,
    /// Notes about its samples.
    pub notes: Vec<String>,
}

impl Stream {
    /// Reads the samples from a time on, up to the first one that is not older than `until`. Keeps about `bytes` of batches in memory.
    pub fn new(past: &Past, names: (&str, &str), input: &Input, span: Span, bytes: usize) -> Self {
        let reader = past.reader(names, span);
        let (pieces, notes) = (VecDeque::new(), Vec::new());
        Self { reader, bytes, input: input.clone(), pieces, is_over: false, binding: None, next: None, notes }
    }

    /// Returns the next batch; nothing at the end.
    pub fn next(&mut self, past: &Past) -> Result<Option<Arrival>, ReadError> {
        loop {
            match self.pieces.pop_front() {
                Some(HistoryPart::Samples(batch)) => {
                    if let Some(arrival) = self.arrival(batch) {
                        return Ok(Some(arrival));
                    }
                }
                // The sequence numbers say how many samples are missing.
                Some(HistoryPart::Gap { .. } | HistoryPart::Epoch | HistoryPart::Type(_)) => {}
                None if self.is_over => return Ok(None),
                None => {
                    let read = self.reader.read(self.bytes)?;
                    match read.then {
                        NextStep::Flush => past.flush(),
                        NextStep::TimeEnd | NextStep::ArchiveEnd | NextStep::Log { .. } => {
                            self.is_over = read.pieces.is_empty();
                        }
                        NextStep::More => {}
                    }
                    self.pieces.extend(read.pieces.into_iter().map(|(piece, _)| piece));
                }
            }
        }
    }

    /// The place of a batch, if it is of the input's type.
    fn arrival(&mut self, batch: Batch) -> Option<Arrival> {
        if !self.input.reads(&batch.series.probe_type) {
            return None;
        }
        match Header::parse(&batch.bytes) {
            Ok(Header { dac_time, topic, first_sequence, .. }) => {
                let skipped = batch.wanted.start.0.saturating_sub(batch.offsets.start.0);
                let (epoch, sequence) = (batch.series.epoch, first_sequence.saturating_add(skipped));
                Some(Arrival { epoch, dac_time, topic, run: batch.series.run, sequence, batch })
            }
            Err(error) => {
                self.note(format!("a batch is damaged: {error}"));
                None
            }
        }
    }

    /// Decodes samples. A batch that does not fit its schema is noted; its samples are missing before the next one.
    pub fn rows(&mut self, Arrival { sequence, batch, .. }: Arrival) -> Rows {
        let Batch { series, bytes, offsets, wanted, .. } = batch;
        let decoded = match batch::Batch::parse(&bytes, &series.probe_type) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.note(format!("a batch does not fit its schema: {error}"));
                return Rows::default();
            }
        };
        let index = |offset: Offset| offset.0.saturating_sub(offsets.start.0) as usize;
        let range = index(wanted.start)..index(wanted.end);
        let missing = self.missing(series.run, sequence, range.len() as u64);
        self.binding(&series).rows(&decoded, range, missing)
    }

    /// The samples that are missing before these.
    fn missing(&mut self, run: Uuid, sequence: u64, count: u64) -> u64 {
        let before = self.next.replace((run, sequence.saturating_add(count)));
        before
            .filter(|(last, _)| *last == run)
            .and_then(|(_, next)| sequence.checked_sub(next))
            .unwrap_or(RESTART)
    }

    fn binding(&mut self, series: &Arc<Series>) -> &Binding {
        let known = self.binding.take().filter(|(known, _)| Arc::ptr_eq(known, series));
        let bound = known.unwrap_or_else(|| {
            let binding = Binding::new(&self.input, &series.probe_type);
            for metric in binding.lacking() {
                self.note(format!(
                    "version {} of its type has another {metric}: unknown",
                    series.probe_type.version
                ));
            }
            (series.clone(), binding)
        });
        &self.binding.insert(bound).1
    }

    /// Notes something once.
    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
