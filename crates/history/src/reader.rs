//! A position in the history of an instance, and the switch from the archive to the topic log.
//!
//! The seam is an offset: the reader switches to the log once the log contains the next sample. If neither contains it, the archive stores what it has received
//! ([`NextStep::Flush`]) and is read again. Only then is the sample missing.

use crate::{
    gaps_before::GapsBefore,
    log::{self, Log, LogEnd},
    newest::{self, HeldNewest},
    piece::{Batch, HistoryPart, NextStep, Read},
};
use oasis_store::{History, Newest, Past, ReadError, Series};
use oasis_wire::{
    batch::Header,
    gap::Gap,
    loss::Cause,
    quantity::{Epoch, Offset, PortablePosition, Position},
    schema::ProbeType,
};
use std::{fmt, sync::Arc};

/// Batches read from a topic log at once.
const BATCHES: usize = 64;

/// The start of a reader.
#[derive(Debug, Clone)]
pub enum Start {
    /// At this position.
    Position(Position),
    /// At this position. If there is none, or nothing of its epoch is stored: where the sample of the portable one is.
    Resumed(Option<Position>, PortablePosition),
    /// At the first sample that is not older, and older than the end if there is one: nanoseconds since 1970 on the node's clock.
    Time(u64),
    /// At the oldest of the newest samples of a time.
    Newest(Newest),
}

/// A place in the history of an instance.
pub struct Reader {
    node: Arc<str>,
    instance: Arc<str>,
    archive: Option<History>,
    log: Option<Arc<dyn Log>>,
    /// The least and the end of the wanted times.
    from: u64,
    until: Option<u64>,
    place: ReadPosition,
    /// The end of the wanted times in the log.
    log_end: LogEnd,
    /// The type that the caller decodes with, if changes of the type are reported.
    probe_type: Option<Arc<ProbeType>>,
    /// Offset of the oldest sample in the log when the archive was flushed, if it was since the last piece.
    flushed: Option<Offset>,
    /// The archive does not contain the sample at this offset of the log.
    missing: Option<Offset>,
    /// Whether small batches that were grouped are read as one batch.
    takes_groups: bool,
    /// Samples that were read, to find the gaps after them.
    gaps: GapsBefore,
}

#[derive(Debug)]
enum ReadPosition {
    Start(Start),
    Archive(Box<Past>),
    Log(Offset),
    /// The end of the time range.
    End(Position),
}

impl Reader {
    /// Creates a reader of an instance that has neither archive nor log yet.
    pub fn new(node: &str, instance: &str, start: Start) -> Self {
        Self {
            node: node.into(),
            instance: instance.into(),
            archive: None,
            log: None,
            from: 0,
            until: None,
            place: ReadPosition::Start(start),
            log_end: LogEnd::default(),
            probe_type: None,
            flushed: None,
            missing: None,
            takes_groups: false,
            gaps: GapsBefore::default(),
        }
    }

    /// Reads from this archive.
    pub fn with_archive(self, archive: impl Into<Option<History>>) -> Self {
        Self { archive: archive.into(), ..self }
    }

    /// Reads small batches that the archive has grouped as one batch, for callers that need no DAC times.
    pub fn with_groups(self) -> Self {
        Self { takes_groups: true, ..self }
    }

    /// Continues with this topic log.
    pub fn with_log(self, log: Arc<dyn Log>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// Ends after the last sample that is older than this, nanoseconds since 1970 on the node's clock: of those that are there when the reader comes to the
    /// first one that is not. Samples are read in the order in which they were received: where a clock was set back, some of other times are between them.
    pub fn until(self, until: impl Into<Option<u64>>) -> Self {
        Self { until: until.into(), ..self }
    }

    /// Yields a [`HistoryPart::Type`] where the type of samples differs from this one, or from the one before.
    pub fn with_type(self, probe_type: Arc<ProbeType>) -> Self {
        Self { probe_type: Some(probe_type), ..self }
    }

    /// Moves to a position.
    pub fn seek(&mut self, at: Position) {
        self.gaps.forget();
        self.go_to(at);
    }

    fn go_to(&mut self, at: Position) {
        self.place = ReadPosition::Start(Start::Position(at));
        self.flushed = None;
    }

    /// Reads the next pieces, about `bytes` of batches, from the archive and then from the log. No pieces and [`NextStep::Log`] mean that all was
    /// read.
    ///
    /// # Errors
    /// If the archive cannot be read. The place stays.
    pub fn read(&mut self, bytes: usize) -> Result<Read, ReadError> {
        if let (ReadPosition::Log(at), Some(log)) = (&self.place, self.log.clone()) {
            return self.read_log(&*log, *at, bytes);
        }
        let read = self.read_archive(bytes)?;
        match (read.then, &self.log) {
            (NextStep::Log { at, .. }, Some(log)) if read.pieces.is_empty() => {
                let log = log.clone();
                self.read_log(&*log, at.offset, bytes)
            }
            (NextStep::Log { .. }, _) => Ok(Read { then: NextStep::More, ..read }),
            _ => Ok(read),
        }
    }

    /// Reads the next pieces, about `bytes` of batches, up to the offset where the log continues.
    ///
    /// # Errors
    /// If the archive cannot be read. The position is unchanged.
    pub fn read_archive(&mut self, bytes: usize) -> Result<Read, ReadError> {
        match &self.place {
            ReadPosition::Start(start) => {
                let start = start.clone();
                self.find(start, bytes)
            }
            ReadPosition::Archive(_) => self.read_on(bytes),
            ReadPosition::Log(at) => {
                let at = Position { epoch: self.epoch(), offset: *at };
                Ok(Read { begin: at, pieces: Vec::new(), then: NextStep::Log { at, is_missing: false } })
            }
            ReadPosition::End(at) => Ok(Read { begin: *at, pieces: Vec::new(), then: NextStep::TimeEnd }),
        }
    }

    /// The epoch in which the log counts.
    fn epoch(&self) -> Epoch {
        self.log.as_ref().map_or(Epoch(0), |log| log.epoch())
    }

    fn log_holds(&self, at: Position) -> bool {
        self.log.as_ref().is_some_and(|log| at.epoch == log.epoch() && at.offset >= log.first())
    }

    /// Looks for the start: in the archive, and in the log if that does not have it.
    fn find(&mut self, start: Start, bytes: usize) -> Result<Read, ReadError> {
        let held = match (&start, &self.log) {
            (Start::Position(at) | Start::Resumed(Some(at), _), _) if self.log_holds(*at) => {
                return Ok(self.join(*at, Vec::new(), false));
            }
            (Start::Newest(newest), Some(log)) => Some(newest::in_log(&**log, newest)),
            _ => None,
        };
        let is_settled = held.as_ref().is_some_and(|held| held.rest.is_found());
        if matches!(start, Start::Newest(_)) && !is_settled && self.must_flush() {
            return Ok(self.flush(self.log_begin()));
        }
        if let Start::Time(from) = start {
            self.from = from;
        }
        if let Some(past) = if is_settled { None } else { self.find_stored(&start, held.as_ref())? } {
            let past = if self.takes_groups { past.with_groups() } else { past };
            self.place = ReadPosition::Archive(Box::new(past));
            self.flushed = None;
            return self.read_on(bytes);
        }
        if !is_settled && self.must_flush() {
            return Ok(self.flush(self.log_begin()));
        }
        Ok(match (start, self.log.clone()) {
            (_, None) => archive_end(Position { epoch: Epoch(0), offset: Offset(0) }),
            (Start::Position(at), Some(log)) => self.lacks(&*log, Some(at)),
            (Start::Resumed(at, _), Some(log)) => self.lacks(&*log, at),
            (Start::Time(time), Some(log)) => {
                let offset = log::first_since(&*log, time);
                self.join(Position { epoch: log.epoch(), offset }, Vec::new(), false)
            }
            (Start::Newest(_), Some(log)) => {
                let offset = held.map_or_else(|| log.next(), |held| held.begin);
                self.join(Position { epoch: log.epoch(), offset }, Vec::new(), false)
            }
        })
    }

    fn find_stored(&self, start: &Start, held: Option<&HeldNewest>) -> Result<Option<Past>, ReadError> {
        let Some(archive) = &self.archive else { return Ok(None) };
        let (node, instance, until) = (&self.node, &self.instance, self.until);
        match start {
            Start::Position(at) => archive.past_at(node, instance, *at, until),
            Start::Resumed(at, portable) => {
                let past = at.map(|at| archive.past_at(node, instance, at, until)).transpose()?.flatten();
                if past.is_some() {
                    return Ok(past);
                }
                archive.past_at_portable(node, instance, *portable, until)
            }
            Start::Time(time) => archive.past_from(node, instance, *time, until),
            Start::Newest(newest) => {
                let before = held.map_or(Offset(u64::MAX), |held| held.first);
                let before = Position { epoch: self.epoch(), offset: before };
                let mut rest = held.map_or_else(|| newest.clone(), |held| held.rest.clone());
                archive.past_newest(node, instance, &mut rest, before)
            }
        }
    }

    /// Continues in the archive, or switches to the log.
    fn read_on(&mut self, bytes: usize) -> Result<Read, ReadError> {
        let ReadPosition::Archive(past) = &mut self.place else { return self.read_archive(bytes) };
        let begin = past.position();
        if self.log.as_ref().is_some_and(|log| begin.epoch == log.epoch() && begin.offset >= log.first()) {
            let pieces = self.type_change(begin);
            return Ok(self.join(begin, pieces, false));
        }
        if let (Some(until), Some(log)) = (self.until, &self.log) {
            let end = past.stored_end()?.filter(|end| end.epoch == log.epoch());
            let not_stored = end.map_or(log.first(), |end| end.offset);
            past.set_more_follow(log::has_some(&**log, not_stored, &(self.from..until)));
        }
        let stored = past.read(bytes)?;
        let (is_over, at) = (past.is_over(), past.position());
        if !stored.is_empty() {
            self.flushed = None;
        }
        if is_over && !self.must_flush() {
            let pieces = self.take(stored);
            self.place = ReadPosition::End(at);
            return Ok(Read { begin, pieces, then: NextStep::TimeEnd });
        }
        if !stored.is_empty() {
            return Ok(Read { begin, pieces: self.take(stored), then: NextStep::More });
        }
        match self.log.clone() {
            None => Ok(archive_end(begin)),
            Some(log) => Ok(match self.flushed {
                None => self.flush(begin),
                Some(oldest) => self.leave(&*log, begin, oldest),
            }),
        }
    }

    /// Everything stored was read, and the log does not contain the next sample. It is missing only if the log had evicted it before the archive was flushed:
    /// otherwise the archive may contain it later. `oldest` is the offset of the oldest sample in the log at that time.
    fn leave(&mut self, log: &dyn Log, begin: Position, oldest: Offset) -> Read {
        let (mut at, mut pieces) = (begin, self.type_change(begin));
        if at.epoch != log.epoch() {
            at = Position { epoch: log.epoch(), offset: log.start() };
            pieces.push((HistoryPart::Epoch, at));
        }
        // If the log does not have it either, the log reports the gap.
        Read { begin, ..self.join(at, pieces, at.offset < oldest) }
    }

    /// The archive has nothing of the epoch of `at`.
    fn lacks(&mut self, log: &dyn Log, at: Option<Position>) -> Read {
        if let Some(at) = at.filter(|at| at.epoch == log.epoch()) {
            // The log reports the gap.
            return self.join(at, Vec::new(), true);
        }
        // The losses of that epoch are unknown. Losses of the present one are all known.
        let start = Position { epoch: log.epoch(), offset: log.start() };
        self.go_to(start);
        Read {
            begin: start,
            pieces: vec![(HistoryPart::Gap { offsets: None, cause: Cause::EpochChanged, run: None }, start)],
            then: NextStep::More,
        }
    }

    /// Position of the oldest sample in the log.
    fn log_begin(&self) -> Position {
        let offset = self.log.as_ref().map_or(Offset(0), |log| log.first());
        Position { epoch: self.epoch(), offset }
    }

    fn type_change(&mut self, at: Position) -> Vec<(HistoryPart, Position)> {
        let Some(log) = &self.log else { return Vec::new() };
        let probe_type = log.probe_type().clone();
        self.change_type(&probe_type, at).into_iter().collect()
    }

    /// Yields a piece if changes of the type are reported and this is another type.
    fn change_type(&mut self, probe_type: &Arc<ProbeType>, at: Position) -> Option<(HistoryPart, Position)> {
        let before = self.probe_type.as_mut()?;
        if Arc::ptr_eq(before, probe_type) || before == probe_type {
            return None;
        }
        *before = probe_type.clone();
        Some((HistoryPart::Type(probe_type.clone()), at))
    }

    fn take(&mut self, stored: Vec<oasis_store::PastItem>) -> Vec<(HistoryPart, Position)> {
        let mut pieces = Vec::with_capacity(stored.len());
        for piece in stored {
            match piece {
                oasis_store::PastItem::Epoch(series) => {
                    pieces.push((HistoryPart::Epoch, Position { epoch: series.epoch, offset: Offset(0) }));
                }
                oasis_store::PastItem::Gap { epoch, offsets, cause, run } => {
                    let after = Position { epoch, offset: offsets.end };
                    pieces.push((HistoryPart::Gap { offsets: Some(offsets), cause, run }, after));
                }
                oasis_store::PastItem::Samples { series, batch, offsets, wanted } => {
                    let epoch = series.epoch;
                    let start = Position { epoch, offset: wanted.start };
                    pieces.extend(self.change_type(&series.probe_type, start));
                    let after = Position { epoch, offset: wanted.end };
                    let gaps_before = self.gaps_before(&series, &batch, wanted.start == offsets.start);
                    let batch = Batch { series, bytes: batch, offsets, wanted, gaps_before };
                    pieces.push((HistoryPart::Samples(batch), after));
                }
            }
        }
        pieces
    }

    /// Returns the gaps before a batch of the archive, unless the reader begins in the middle of it.
    fn gaps_before(&mut self, series: &Series, batch: &[u8], is_whole: bool) -> Option<Arc<[Gap]>> {
        let header = Header::parse(batch).ok()?;
        let archive = self.archive.as_ref().filter(|_| is_whole);
        let gaps = archive.and_then(|archive| self.gaps.of(archive, series, &header));
        self.gaps.pass(series.run, header.last_sequence());
        gaps
    }

    /// Reads from the log; goes back to the archive if the log has evicted the next sample.
    fn read_log(&mut self, log: &dyn Log, from: Offset, bytes: usize) -> Result<Read, ReadError> {
        let epoch = log.epoch();
        let begin = Position { epoch, offset: from };
        let read = log.read(from, BATCHES);
        if read.evicted.is_some() && self.archive.is_some() && self.missing != Some(from) {
            // Only once: either the archive has something, or this offset is missing in both.
            self.go_to(begin);
            return self.read(bytes);
        }
        let end = self.until.and_then(|until| self.log_end.find(log, from, self.from..until));
        let (mut at, mut pieces) = (from, Vec::new());
        if let Some(evicted) = read.evicted {
            at = evicted.end;
            let gap = HistoryPart::Gap { offsets: Some(evicted), cause: Cause::LogRetention, run: None };
            pieces.push((gap, Position { epoch, offset: at }));
        }
        for held in read.batches {
            if end.is_some_and(|end| at >= end) {
                break;
            }
            let start = at.max(held.offsets.start);
            at = end.map_or(held.offsets.end, |end| end.min(held.offsets.end));
            if at > start {
                if let Ok(header) = Header::parse(&held.batch) {
                    self.gaps.pass(held.series.run, header.last_sequence());
                }
                let batch = Batch {
                    series: held.series,
                    bytes: held.batch,
                    gaps_before: held.gaps_before.filter(|_| start == held.offsets.start),
                    offsets: held.offsets,
                    wanted: start..at,
                };
                pieces.push((HistoryPart::Samples(batch), Position { epoch, offset: at }));
            }
        }
        if end.is_some_and(|end| at >= end) {
            self.place = ReadPosition::End(Position { epoch, offset: at });
            return Ok(Read { begin, pieces, then: NextStep::TimeEnd });
        }
        self.place = ReadPosition::Log(at);
        let at = Position { epoch, offset: at };
        Ok(Read { begin, pieces, then: NextStep::Log { at, is_missing: false } })
    }

    /// Switches to the log.
    fn join(&mut self, at: Position, pieces: Vec<(HistoryPart, Position)>, is_missing: bool) -> Read {
        self.place = ReadPosition::Log(at.offset);
        self.missing = is_missing.then_some(at.offset);
        Read { begin: at, pieces, then: NextStep::Log { at, is_missing } }
    }

    /// Whether the archive should store what it has received before it is asked again.
    fn must_flush(&self) -> bool {
        let (Some(log), Some(archive)) = (&self.log, &self.archive) else { return false };
        self.flushed.is_none() && log::is_ahead_of(&**log, archive)
    }

    fn flush(&mut self, begin: Position) -> Read {
        self.flushed = self.log.as_ref().map(|log| log.first());
        self.log_end = LogEnd::default();
        Read { begin, pieces: Vec::new(), then: NextStep::Flush }
    }
}

fn archive_end(begin: Position) -> Read {
    Read { begin, pieces: Vec::new(), then: NextStep::ArchiveEnd }
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, instance, place, .. } = self;
        write!(formatter, "Reader({node}/{instance} at {place:?})")
    }
}
