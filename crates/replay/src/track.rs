//! An instance's recording, sample by sample, with what is missing between them. One stretch of it is in memory at a time.

use crate::error::ReplayError;
use oasis_format::visible::Visible;
use oasis_store::{History, Holes, Missing, Past, Piece, Series};
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    quantity::Offset,
    value,
};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Bytes of batches read at once.
const READ: usize = 64 * 1024;

/// A recorded sample, and what is missing ahead of it.
pub struct Recorded {
    /// Whose, of which type, in which run of its node.
    pub series: Arc<Series>,
    /// State of the probe.
    pub state: u16,
    /// Its number in the run.
    pub sequence: u64,
    /// When it was taken, on its node's clock.
    pub time: u64,
    /// Its metrics, packed.
    pub row: Vec<u8>,
    /// What is missing at the end of the run before, and then ahead of it in its own.
    pub missing: Vec<Missing>,
}

/// A place in an instance's recording.
pub struct Track {
    node: String,
    instance: String,
    history: History,
    span: Range<u64>,
    past: Option<Past>,
    holes: Holes,
    pieces: VecDeque<Piece>,
    batch: Option<Open>,
    next: Option<Recorded>,
    /// What is missing behind the last sample, once it was read.
    behind: Vec<Missing>,
}

/// A batch, decoded, and how far it was read.
struct Open {
    series: Arc<Series>,
    batch: Batch,
    samples: Range<usize>,
}

impl Track {
    /// The recording of an instance between two times; none if nothing is there.
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
            past: None,
            holes: Holes::new(history, span.start),
            span,
            pieces: VecDeque::new(),
            batch: None,
            next: None,
            behind: Vec::new(),
        };
        track.rewind()?;
        Ok(track.next.is_some().then_some(track))
    }

    /// Begins again.
    pub fn rewind(&mut self) -> Result<(), ReplayError> {
        self.past =
            self.history.past_from(&self.node, &self.instance, self.span.start, Some(self.span.end))?;
        self.holes = Holes::new(&self.history, self.span.start);
        self.pieces.clear();
        self.behind.clear();
        self.batch = None;
        self.next = self.read()?;
        Ok(())
    }

    /// The next sample; none at the end.
    pub fn peek(&self) -> Option<&Recorded> {
        self.next.as_ref()
    }

    /// What is missing behind the sample taken last, if it is known: at the end of a run and of the recording.
    pub fn behind(&self) -> &[Missing] {
        self.next.as_ref().map_or(&self.behind, |next| &next.missing)
    }

    /// Takes the next sample, and reads the one that follows.
    pub fn take(&mut self) -> Result<Option<Recorded>, ReplayError> {
        let next = self.read().map_err(|error| {
            let instance = format!("{}/{}", Visible(&self.node), Visible(&self.instance));
            ReplayError::ReadOn { instance, error: Box::new(error) }
        })?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn read(&mut self) -> Result<Option<Recorded>, ReplayError> {
        loop {
            if let Some(open) = &mut self.batch {
                let sample = open.samples.next().and_then(|at| open.batch.get(at));
                let (series, state) = (open.series.clone(), open.batch.header().state);
                if let Some(sample) = sample {
                    return self.recorded(series, state, sample).map(Some);
                }
            }
            self.batch = None;
            match self.pieces.pop_front() {
                Some(piece) => self.open_piece(piece),
                None => {
                    let read = self.past.as_mut().map_or(Ok(Vec::new()), |past| past.read(READ))?;
                    if read.is_empty() {
                        let more_follow = self.past.as_ref().is_some_and(Past::is_over);
                        self.behind = self.holes.behind(&self.node, &self.instance, more_follow)?;
                        return Ok(None);
                    }
                    self.pieces = read.into();
                }
            }
        }
    }

    fn open_piece(&mut self, piece: Piece) {
        match piece {
            Piece::Epoch(_) => {}
            Piece::Gap { offsets, cause, .. } => self.holes.skip(offsets.end.0 - offsets.start.0, cause),
            Piece::Samples { series, batch, offsets, wanted } => {
                match Batch::parse(&batch, &series.probe_type) {
                    Ok(batch) => {
                        let index = |offset: Offset| (offset.0 - offsets.start.0) as usize;
                        let samples = index(wanted.start)..index(wanted.end);
                        self.batch = Some(Open { series, batch, samples });
                    }
                    Err(_) => self.holes.skip(wanted.end.0 - wanted.start.0, Cause::Damaged),
                }
            }
        }
    }

    fn recorded(&mut self, series: Arc<Series>, state: u16, sample: Sample) -> Result<Recorded, ReplayError> {
        let missing = self.holes.before(&series, sample.sequence)?;
        let mut row = Vec::new();
        value::write_row(&series.probe_type, &sample.values, &mut row);
        let Sample { sequence, time, .. } = sample;
        Ok(Recorded { series, state, sequence, time, row, missing })
    }
}
