//! An instance's recording, sample by sample, with what is missing between them. One part of it is in memory at a time.

use super::error::ReplayError;
use oasis_format::visible::Visible;
use oasis_history::{SampleOrMissing, Samples};
use oasis_store::{History, Missing, Series};
use oasis_wire::{batch::Sample, value};
use std::{ops::Range, sync::Arc};

/// Bytes of batches read at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// A recorded sample, and what is missing ahead of it.
pub struct RecordedSample {
    /// Names, type and run of its node.
    pub series: Arc<Series>,
    /// State of the probe.
    pub state: u16,
    /// Its number in the run.
    pub sequence: u64,
    /// When it was taken, on its node's clock.
    pub time: u64,
    /// Its metrics, packed.
    pub row: Vec<u8>,
    /// Losses at the end of the previous run, then losses before this sample in its own run.
    pub missing: Vec<Missing>,
}

/// A place in an instance's recording.
pub struct Track {
    node: String,
    instance: String,
    history: History,
    span: Range<u64>,
    samples: Samples,
    next: Option<RecordedSample>,
    /// Losses after the last sample, once it was read.
    after_last: Vec<Missing>,
}

impl Track {
    /// Opens the recording of an instance between two times; `None` if it contains no samples.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn open(
        history: &History,
        node: &str,
        instance: &str,
        span: Range<u64>,
    ) -> Result<Option<Self>, ReplayError> {
        let mut track = Self {
            node: node.into(),
            instance: instance.into(),
            history: history.clone(),
            samples: samples(history, (node, instance), &span),
            span,
            next: None,
            after_last: Vec::new(),
        };
        track.next = track.read()?;
        Ok(track.next.is_some().then_some(track))
    }

    /// Begins again.
    pub fn rewind(&mut self) -> Result<(), ReplayError> {
        self.samples = samples(&self.history, (&self.node, &self.instance), &self.span);
        self.after_last.clear();
        self.next = self.read()?;
        Ok(())
    }

    /// The next sample; none at the end.
    pub fn peek(&self) -> Option<&RecordedSample> {
        self.next.as_ref()
    }

    /// Returns the losses after the last sample taken, if known: at the end of a run and of the recording.
    pub fn after_last(&self) -> &[Missing] {
        self.next.as_ref().map_or(&self.after_last, |next| &next.missing)
    }

    /// Takes the next sample, and reads the one that follows.
    pub fn take(&mut self) -> Result<Option<RecordedSample>, ReplayError> {
        let next = self.read().map_err(|error| {
            let instance = format!("{}/{}", Visible(&self.node), Visible(&self.instance));
            ReplayError::ReadOn { instance, error: Box::new(error) }
        })?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn read(&mut self) -> Result<Option<RecordedSample>, ReplayError> {
        let mut missing = Vec::new();
        loop {
            match self.samples.next()? {
                Some(SampleOrMissing::Missing(some)) => missing.push(some),
                Some(SampleOrMissing::Sample(series, state, sample)) => {
                    return Ok(Some(recorded(series, state, sample, missing)));
                }
                None => {
                    self.after_last = missing;
                    return Ok(None);
                }
            }
        }
    }
}

fn samples(history: &History, names: (&str, &str), span: &Range<u64>) -> Samples {
    Samples::new(history, names, span.start, Some(span.end), READ_CHUNK_BYTES)
}

fn recorded(series: Arc<Series>, state: u16, sample: Sample, missing: Vec<Missing>) -> RecordedSample {
    let mut row = Vec::new();
    value::write_row(&series.probe_type, &sample.values, &mut row);
    let Sample { sequence, time, .. } = sample;
    RecordedSample { series, state, sequence, time, row, missing }
}
