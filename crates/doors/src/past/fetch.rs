//! From the archive to the topic log, a bounded piece at a time.

use super::{Asker, Fetched, Place, Source, Then, Told, Whose, archived::blocking};
use oasis_dac::{Instance, Segment};
use oasis_store::{History, Past, Piece, ReadError, Series};
use oasis_wire::{
    batch,
    loss::Cause,
    quantity::{Epoch, Offset, Position},
};
use std::sync::Arc;

/// Bytes of batches fetched at once.
const FETCH: usize = 256 * 1024;

impl Asker {
    /// What comes next. Waits for disks, and for others who read them.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub async fn fetch(&self, source: Source) -> Result<Fetched, ReadError> {
        match source {
            Source::Since(time) => match self.look_up(Wanted::Since(time)).await? {
                Some(place) => self.read(place).await,
                None => {
                    let instance = self.instance.clone();
                    let offset = blocking(move || Ok(first_since(&instance, time))).await?;
                    Ok(log_goes_on(Position { epoch: self.epoch(), offset }, Vec::new(), false))
                }
            },
            Source::Newest(newest) => self.fetch_newest(newest).await,
            Source::Points(from, most) => self.fetch_points(from, most).await,
            Source::From(at) => match self.look_up(Wanted::At(at)).await? {
                Some(place) => self.read(place).await,
                None => Ok(self.lack(at)),
            },
            Source::Past(place) => self.read(*place).await,
        }
    }

    /// The life of the DAC that live offsets count in.
    pub(super) fn epoch(&self) -> Epoch {
        self.instance.log.epoch()
    }

    fn live(&self) -> Whose {
        Whose::Live(self.instance.clone())
    }

    async fn look_up(&self, wanted: Wanted) -> Result<Option<Place>, ReadError> {
        let Some(archive) = &self.archived.archive else { return Ok(None) };
        let (node, name, until) = (self.instance.node.clone(), self.instance.name.clone(), self.until);
        let ask = move |history: &History| match wanted {
            Wanted::Since(time) => history.past_from(&node, &name, time, until),
            Wanted::At(at) => history.past_at(&node, &name, at, until),
        };
        let mut past = self.archived.read(archive, ask.clone()).await?;
        if past.is_none() && self.archived.lags(&self.instance) {
            // What it could not store it will not find either.
            let _ = archive.flush().await;
            past = self.archived.read(archive, ask).await?;
        }
        Ok(past.map(|past| self.place(past)))
    }

    pub(super) fn place(&self, past: Past) -> Place {
        Place { past, probe_type: self.has_type.then(|| self.instance.probe_type.clone()) }
    }

    /// Reads on, or goes over to the log.
    pub(super) async fn read(&self, mut place: Place) -> Result<Fetched, ReadError> {
        let Some(archive) = &self.archived.archive else { return Ok(self.lack(place.past.position())) };
        let mut has_flushed = false;
        loop {
            let at = place.past.position();
            if at.epoch == self.epoch() && at.offset >= self.instance.log.state().first_offset {
                return Ok(log_goes_on(at, self.type_change(&place, at), false));
            }
            let read = move |_: &History| {
                let pieces = place.past.read(FETCH)?;
                Ok((place, pieces))
            };
            let (back, pieces) = self.archived.read(archive, read).await?;
            place = back;
            if !pieces.is_empty() || place.past.is_over() {
                let told = tell(&mut place, pieces);
                let is_over = place.past.is_over();
                let then = if is_over { Then::Over } else { Then::Past(Source::Past(Box::new(place))) };
                return Ok(Fetched { begin: at, told, then });
            }
            if has_flushed {
                return Ok(self.leave(&place));
            }
            // What is neither there nor in the log may be on its way.
            let _ = archive.flush().await;
            has_flushed = true;
        }
    }

    fn type_change(&self, place: &Place, at: Position) -> Vec<(Told, Position)> {
        let before = place.probe_type.as_ref();
        let is_other = before.is_some_and(|before| *before != self.instance.probe_type);
        if is_other { vec![(Told::TypeChanged(self.live()), at)] } else { Vec::new() }
    }

    /// The archive has nothing of the epoch in which `at` counts.
    fn lack(&self, at: Position) -> Fetched {
        if at.epoch == self.epoch() {
            // The log tells the gap.
            return log_goes_on(at, Vec::new(), true);
        }
        let start = Position { epoch: self.epoch(), offset: self.instance.log.state().first_offset };
        log_goes_on(start, vec![(Told::Gap(self.live(), None, Cause::EpochChanged), start)], false)
    }

    /// All that is stored was read, and the log has not what comes next.
    fn leave(&self, place: &Place) -> Fetched {
        let begin = place.past.position();
        let (mut at, mut told) = (begin, self.type_change(place, begin));
        if at.epoch != self.epoch() {
            at = Position { epoch: self.epoch(), offset: self.instance.log.start() };
            told.push((Told::Epoch(self.live(), at.epoch), at));
        }
        // If the log does not have it either, it tells the gap.
        Fetched { begin, told, then: Then::Log { at, is_lacking: true } }
    }
}

#[derive(Debug, Clone, Copy)]
enum Wanted {
    Since(u64),
    At(Position),
}

pub(super) fn log_goes_on(at: Position, told: Vec<(Told, Position)>, is_lacking: bool) -> Fetched {
    Fetched { begin: at, told, then: Then::Log { at, is_lacking } }
}

fn tell(place: &mut Place, pieces: Vec<Piece>) -> Vec<(Told, Position)> {
    let mut told = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Epoch(series) => {
                let behind = Position { epoch: series.epoch, offset: Offset(0) };
                told.push((Told::Epoch(Whose::Past(series), behind.epoch), behind));
            }
            Piece::Gap { series, offsets, cause } => {
                let behind = Position { epoch: series.epoch, offset: offsets.end };
                told.push((Told::Gap(Whose::Past(series), Some(offsets), cause), behind));
            }
            Piece::Samples { series, batch, offsets, wanted } => {
                let behind = Position { epoch: series.epoch, offset: wanted.end };
                told.extend(changed_type(place, &series, wanted.start));
                let count = u16::try_from(offsets.end.0 - offsets.start.0).unwrap_or(u16::MAX);
                let segment = Arc::new(Segment::new(batch, offsets.start, count));
                told.push((Told::Samples(series, segment, wanted), behind));
            }
        }
    }
    told
}

/// Says so if metrics differ from here on.
fn changed_type(place: &mut Place, series: &Arc<Series>, at: Offset) -> Option<(Told, Position)> {
    let before = place.probe_type.replace(series.probe_type.clone())?;
    let behind = Position { epoch: series.epoch, offset: at };
    (before != series.probe_type).then(|| (Told::TypeChanged(Whose::Past(series.clone())), behind))
}

/// The first sample in the topic log that is no older than `time`, or where the next one will be.
fn first_since(instance: &Instance, time: u64) -> Offset {
    let log = &instance.log;
    let read = log.read(log.state().first_offset, usize::MAX);
    for segment in &read.segments {
        let is_recent = batch::time_range(segment.batch()).is_ok_and(|(_, greatest)| greatest >= time);
        let times = if is_recent { batch::times(segment.batch()).unwrap_or_default() } else { Vec::new() };
        if let Some(index) = times.iter().position(|&sample| sample >= time) {
            return Offset(segment.first_held().0 + index as u64);
        }
    }
    read.segments.last().map_or(log.next(), |last| last.end())
}

/// Where a segment's samples reach a time, if one of those from `wanted` on does.
pub fn end_before(segment: &Segment, wanted: Offset, until: u64) -> Option<Offset> {
    let (_, greatest) = batch::time_range(segment.batch()).ok()?;
    if greatest < until {
        return None;
    }
    let first = segment.first_held();
    let seen = usize::try_from(wanted.0.saturating_sub(first.0)).ok()?;
    let times = batch::times(segment.batch()).ok()?;
    let place = times.iter().enumerate().skip(seen).find(|(_, time)| **time >= until)?.0;
    Some(Offset(first.0 + place as u64))
}
