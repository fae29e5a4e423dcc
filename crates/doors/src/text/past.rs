//! A topic's past: read from the archive until the topic log has what comes next, and never a sample twice or not at all.
//!
//! Both hold the same batches at the same offsets, so the seam is a number: a reader goes over to the log once the log holds the next
//! sample that it wants. If neither has it, the archive is asked to store what it has, and looked at again: only then is it missing.

use super::{
    json,
    reader::{Message, Reader},
    whose::Whose,
};
use oasis_archive::{Archive, History, Past, Piece, ReadError, Series};
use oasis_dac::{Instance, Segment};
use oasis_wire::{
    batch,
    quantity::{Offset, Position},
    schema::ProbeType,
};
use std::sync::Arc;

/// Bytes of batches fetched at once.
const FETCH: usize = 256 * 1024;

/// Where a topic's next message comes from.
#[derive(Debug)]
pub enum Source {
    /// The topic log.
    Live,
    /// The archive, which was not asked yet for the first sample that is no older than this, nanoseconds.
    Since(u64),
    /// Archive and log, which were not asked yet for all from this time on, in so many points.
    Points(u64, u32),
    /// The archive, which was not asked yet for what begins here.
    From(Position),
    /// The archive.
    Past(Box<Place>),
}

/// A place in the archive, and the type of the samples before it.
#[derive(Debug)]
pub struct Place {
    past: Past,
    probe_type: Option<Arc<ProbeType>>,
}

impl Reader {
    /// Fetches what comes next of one topic that is not at its log, if there is one and nothing else waits.
    pub async fn fetch(&mut self) {
        if !self.waiting.is_empty() || self.is_over() {
            return;
        }
        let is_past = |source: &Source| !matches!(source, Source::Live);
        let found = self.topics.iter().position(|topic| is_past(&topic.source) && !topic.is_over);
        if let Some(index) = found
            && let Err(error) = self.fetch_topic(index).await
        {
            tracing::error!(%error, "the archive cannot be read");
            self.fail(index);
        }
    }

    async fn fetch_topic(&mut self, index: usize) -> Result<(), ReadError> {
        let source = std::mem::replace(&mut self.topics[index].source, Source::Live);
        let instance = self.topics[index].cursor.instance().clone();
        match source {
            Source::Live => Ok(()),
            Source::Since(time) => match self.look_up(&instance, Wanted::Since(time)).await? {
                Some(place) => self.read(index, place).await,
                None => {
                    let offset = blocking(move || Ok(first_since(&instance, time))).await?;
                    self.join(index, Position { epoch: self.epoch(), offset });
                    Ok(())
                }
            },
            Source::Points(from, most) => self.fetch_points(index, from, most).await,
            Source::From(at) => match self.look_up(&instance, Wanted::At(at)).await? {
                Some(place) => self.read(index, place).await,
                None => {
                    self.lack(index, at, &instance);
                    Ok(())
                }
            },
            Source::Past(place) => self.read(index, *place).await,
        }
    }

    async fn look_up(&self, instance: &Arc<Instance>, wanted: Wanted) -> Result<Option<Place>, ReadError> {
        let Some(archive) = self.doors.archive.clone() else { return Ok(None) };
        let until = self.request.until;
        let (node, name) = (instance.node.clone(), instance.name.clone());
        let history = archive.history();
        let ask = move |history: &History| match wanted {
            Wanted::Since(time) => history.past_from(&node, &name, time, until),
            Wanted::At(at) => history.past_at(&node, &name, at, until),
        };
        let ask = Arc::new(ask);
        let (first, again) = (ask.clone(), ask);
        let _turn = self.doors.archive_turn().await;
        let mut past = blocking(move || first(&history)).await?;
        if past.is_none() && lags(&archive, instance) {
            // What it could not store it will not find either.
            let _ = archive.flush().await;
            let history = archive.history();
            past = blocking(move || again(&history)).await?;
        }
        Ok(past.map(|past| Place { past, probe_type: None }))
    }

    /// Reads on, or goes over to the log.
    async fn read(&mut self, index: usize, mut place: Place) -> Result<(), ReadError> {
        let Some(archive) = self.doors.archive.clone() else { return Ok(()) };
        let mut has_flushed = false;
        loop {
            let at = place.past.position();
            let log = &self.topics[index].cursor.instance().log;
            if at.epoch == self.epoch() && at.offset >= log.state().first_offset {
                self.change_type(index, &place);
                self.join(index, at);
                return Ok(());
            }
            let turn = self.doors.archive_turn().await;
            let (back, pieces) = blocking(move || {
                let pieces = place.past.read(FETCH)?;
                Ok((place, pieces))
            })
            .await?;
            drop(turn);
            place = back;
            if !pieces.is_empty() {
                self.take(index, &mut place, pieces);
                self.topics[index].is_over = place.past.is_over();
                self.topics[index].source = Source::Past(Box::new(place));
                return Ok(());
            }
            if place.past.is_over() {
                self.topics[index].is_over = true;
                return Ok(());
            }
            if has_flushed {
                self.change_type(index, &place);
                self.leave(index, place.past.position());
                return Ok(());
            }
            // What is neither there nor in the log may be on its way.
            let _ = archive.flush().await;
            has_flushed = true;
        }
    }

    fn take(&mut self, index: usize, place: &mut Place, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Epoch(series) => {
                    let behind = Position { epoch: series.epoch, offset: Offset(0) };
                    let epoch = json::epoch(&Whose::Past(series), behind.epoch);
                    self.waiting.push_back((index, Message::Event("epoch", epoch), behind));
                }
                Piece::Gap { series, offsets, cause } => {
                    let behind = Position { epoch: series.epoch, offset: offsets.end };
                    let gap = json::gap(&Whose::Past(series), Some((offsets.start, offsets.end)), cause);
                    self.waiting.push_back((index, Message::Event("gap", gap), behind));
                }
                Piece::Samples { series, batch, offsets, wanted } => {
                    let behind = Position { epoch: series.epoch, offset: wanted.end };
                    self.note_type(index, place, &series, wanted.start);
                    let count = u16::try_from(offsets.end.0 - offsets.start.0).unwrap_or(u16::MAX);
                    let segment = Arc::new(Segment::new(batch, offsets.start, count));
                    let samples = Message::Samples(Whose::Past(series), segment, wanted);
                    self.waiting.push_back((index, samples, behind));
                }
            }
        }
    }

    /// Says so if metrics differ from here on.
    fn note_type(&mut self, index: usize, place: &mut Place, series: &Arc<Series>, at: Offset) {
        let before = place.probe_type.replace(series.probe_type.clone());
        if before.is_some_and(|before| before != series.probe_type) {
            let behind = Position { epoch: series.epoch, offset: at };
            let changed = json::type_changed(&Whose::Past(series.clone()));
            self.waiting.push_back((index, Message::Event("type_changed", changed), behind));
        }
    }

    fn change_type(&mut self, index: usize, place: &Place) {
        let instance = self.topics[index].cursor.instance().clone();
        let at = place.past.position();
        if place.probe_type.as_ref().is_some_and(|before| *before != instance.probe_type) {
            let changed = json::type_changed(&Whose::Live(instance));
            self.waiting.push_back((index, Message::Event("type_changed", changed), at));
        }
    }

    /// The archive has nothing of the epoch in which `at` counts.
    fn lack(&mut self, index: usize, at: Position, instance: &Arc<Instance>) {
        self.topics[index].lacks = Some(at.offset);
        if at.epoch == self.epoch() {
            // The log tells the gap.
            self.join(index, at);
            return;
        }
        let start = Position { epoch: self.epoch(), offset: instance.log.state().first_offset };
        let gap = Message::Event("gap", json::epoch_changed(instance));
        self.waiting.push_back((index, gap, start));
        self.join(index, start);
    }

    /// All that is stored was read, and the log has not what comes next.
    fn leave(&mut self, index: usize, at: Position) {
        let mut at = at;
        if at.epoch != self.epoch() {
            let instance = self.topics[index].cursor.instance().clone();
            at = Position { epoch: self.epoch(), offset: instance.log.start() };
            let epoch = json::epoch(&Whose::Live(instance), at.epoch);
            self.waiting.push_back((index, Message::Event("epoch", epoch), at));
        }
        // If the log does not have it either, it tells the gap.
        self.topics[index].lacks = Some(at.offset);
        self.join(index, at);
    }

    /// Goes on with the topic log.
    pub fn join(&mut self, index: usize, at: Position) {
        let topic = &mut self.topics[index];
        topic.cursor.seek(at.offset);
        topic.source = Source::Live;
    }
}

#[derive(Debug, Clone, Copy)]
enum Wanted {
    Since(u64),
    At(Position),
}

/// Whether the log has let go of samples that the archive may not have stored yet.
pub fn lags(archive: &Archive, instance: &Instance) -> bool {
    let stored = archive.account(instance.topic).map(|account| account.stored_offset);
    instance.log.state().first_offset > stored.unwrap_or(instance.log.start())
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

/// Runs what reads files where it keeps nobody waiting.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ReadError::Io(std::io::Error::other(error))))
}
