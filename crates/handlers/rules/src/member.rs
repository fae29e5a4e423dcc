//! The samples of one instance for a rule that reads several.

use oasis_dac::{Delivery, DemandGuard, Instance};
use oasis_handler::{InstanceLog, StoredSamples};
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_rules::{Binding, Rows, program::Input};
use oasis_rules_history::LastSample;
use oasis_store::ReadError;
use oasis_wire::{
    batch::{self, Header},
    quantity::{Nanos, Offset, Position},
    schema::ProbeType,
};
use std::{collections::VecDeque, sync::Arc};
use uuid::Uuid;

/// Bytes read at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// Most topics of one instance that wait until the one before was read.
const MAX_COMING: usize = 64;

/// The place of a batch in the order: DAC time, topic, sequence number.
pub type BatchKey = (u64, u32, u64);

/// Role of an instance in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One of the input of this number.
    Input(usize),
    /// The measurements of the clock of this number.
    Clock(usize),
}

/// An instance, also before it is there.
pub struct Member {
    pub role: Role,
    pub node: String,
    pub name: String,
    following: Option<Following>,
    /// Archived samples of a life of the DAC before, in which there is no topic yet.
    stored: Option<Reader>,
    /// Topics after this one.
    coming: VecDeque<Arc<Instance>>,
    /// Position of the next sample to evaluate, once there is one.
    pub at: Option<Position>,
    pub last: LastSample,
    /// Pieces that were read and not evaluated, with the position after each.
    pieces: VecDeque<(HistoryPart, Position)>,
    binding: Option<(Arc<ProbeType>, Binding)>,
    archive: Option<Arc<dyn StoredSamples>>,
}

struct Following {
    instance: Arc<Instance>,
    reader: Reader,
    /// Samples of another DAC come only while they have a reader.
    _demand: Option<DemandGuard>,
    /// Up to where it was read.
    read: Position,
}

/// The samples of a batch.
pub struct Came {
    pub dac_time: u64,
    pub run: Uuid,
    pub rows: Rows,
}

/// A batch that does not fit its schema.
#[derive(Debug, Clone, Copy)]
pub struct Damaged;

impl Member {
    /// From a position on, if it is known.
    pub fn new(
        role: Role,
        (node, name): (String, String),
        kept: Option<(Position, LastSample)>,
        archive: Option<&Arc<dyn StoredSamples>>,
    ) -> Self {
        let history = archive.map(|archive| archive.history());
        let stored = kept
            .filter(|_| history.is_some())
            .map(|(at, _)| Reader::new(&node, &name, Start::Position(at)).with_archive(history));
        Self {
            role,
            node,
            name,
            following: None,
            stored,
            coming: VecDeque::new(),
            at: kept.map(|(at, _)| at),
            last: kept.map(|(_, last)| last).unwrap_or_default(),
            pieces: VecDeque::new(),
            binding: None,
            archive: archive.cloned(),
        }
    }

    /// Follows a topic, after the ones before it.
    pub fn offer(&mut self, instance: &Arc<Instance>, is_from_next: bool) {
        let topic = instance.topic;
        let is_known = self.following.iter().map(|following| &following.instance).chain(&self.coming);
        if is_known.into_iter().any(|known| known.topic == topic) || self.coming.len() >= MAX_COMING {
            return;
        }
        if self.following.is_some() {
            return self.coming.push_back(instance.clone());
        }
        self.follow(instance.clone(), is_from_next);
    }

    fn follow(&mut self, instance: Arc<Instance>, is_from_next: bool) {
        let log = &instance.log;
        let offset = if is_from_next { log.next() } else { log.start() };
        let first = Position { epoch: log.epoch(), offset };
        let at = *self.at.get_or_insert(first);
        // Pieces that were read of the archive alone are read again.
        self.pieces.clear();
        self.stored = None;
        let reader = Reader::new(&self.node, &self.name, Start::Position(at))
            .with_archive(self.archive.as_ref().map(|archive| archive.history()))
            .with_log(Arc::new(InstanceLog(instance.clone())));
        let demand = instance.is_relayed().then(|| instance.register_demand(Delivery::Every));
        self.following = Some(Following { instance, reader, _demand: demand, read: at });
    }

    /// The topic that is read now.
    pub fn instance(&self) -> Option<&Arc<Instance>> {
        self.following.as_ref().map(|following| &following.instance)
    }

    /// Whether there may be samples that were not evaluated.
    pub fn has_news(&self) -> bool {
        let is_new = |Following { instance, read, .. }: &Following| {
            read.epoch != instance.log.epoch() || instance.log.next() > read.offset
        };
        self.stored.is_some()
            || !self.pieces.is_empty()
            || !self.coming.is_empty()
            || self.following.as_ref().is_some_and(is_new)
    }

    /// Whether it has not read all of a topic that another one has replaced.
    pub fn has_rest(&self) -> bool {
        self.following.as_ref().is_some_and(|Following { instance, read, .. }| {
            let is_read = read.epoch == instance.log.epoch() && read.offset >= instance.log.next();
            instance.is_retired() && !(is_read && self.pieces.is_empty())
        })
    }

    /// Declares a DAC time complete: no sample of before can come.
    pub fn complete(&self, dac_time: u64) {
        let topics = self.following.iter().map(|following| &following.instance).chain(&self.coming);
        topics.for_each(|instance| instance.ledger().complete(Nanos(dac_time)));
    }

    /// Reads until there is a batch, or the end. Returns the place of the batch.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn next(&mut self, flush: &dyn Fn()) -> Result<Option<BatchKey>, ReadError> {
        loop {
            while let Some((piece, after)) = self.pieces.front() {
                if let Some(place) = place(piece) {
                    return Ok(Some(place));
                }
                // The sequence numbers say how many samples are missing.
                self.at = Some(*after);
                self.pieces.pop_front();
            }
            let following = self.following.as_mut().map(|following| &mut following.reader);
            let Some(reader) = following.or(self.stored.as_mut()) else { return Ok(None) };
            let mut read = reader.read(READ_CHUNK_BYTES)?;
            while read.then == NextStep::Flush {
                flush();
                read = reader.read(READ_CHUNK_BYTES)?;
            }
            self.at = Some(read.begin);
            if let Some(following) = &mut self.following {
                following.read = read.pieces.last().map_or(read.begin, |(_, after)| *after);
            }
            let is_end = read.pieces.is_empty() && !matches!(read.then, NextStep::More);
            self.pieces.extend(read.pieces);
            if is_end {
                self.stored = None;
                if !self.move_on() {
                    return Ok(None);
                }
            }
        }
    }

    /// Begins with the topic that has replaced one that was read to its end.
    fn move_on(&mut self) -> bool {
        let Some(Following { instance, read, .. }) = &self.following else { return false };
        let is_over =
            instance.is_retired() && read.epoch == instance.log.epoch() && read.offset >= instance.log.next();
        let Some(next) = is_over.then(|| self.coming.pop_front()).flatten() else { return false };
        if let Some(at) = &mut self.at {
            at.offset = at.offset.max(next.log.start());
        }
        self.follow(next, false);
        true
    }

    /// Takes the batch that [`next`](Self::next) has found: its samples, unless they are of another type.
    pub fn take(&mut self, input: &Input) -> Result<Option<Came>, Damaged> {
        let Some((piece, after)) = self.pieces.pop_front() else { return Ok(None) };
        self.at = Some(after);
        let HistoryPart::Samples(Batch { series, bytes, offsets, wanted, .. }) = piece else {
            return Ok(None);
        };
        if !input.reads(&series.probe_type) {
            return Ok(None);
        }
        let decoded = batch::Batch::parse(&bytes, &series.probe_type).map_err(|_| Damaged)?;
        let index = |offset: Offset| offset.0.saturating_sub(offsets.start.0) as usize;
        let header = decoded.header();
        let (dac_time, run) = (header.dac_time, series.run);
        // After a crash of the DAC a node sends again what was not stored, but evaluated.
        let seen =
            self.last.0.filter(|(last, ..)| *last == run).map_or(0, |(_, last, _)| last.saturating_add(1));
        let again = usize::try_from(seen.saturating_sub(header.first_sequence)).unwrap_or(usize::MAX);
        let end = index(wanted.end);
        let range = index(wanted.start).max(again).min(end)..end;
        let missing = self.last.missing(run, header.first_sequence.saturating_add(range.start as u64));
        let known = self.binding.take().filter(|(known, _)| Arc::ptr_eq(known, &series.probe_type));
        let bound =
            known.unwrap_or_else(|| (series.probe_type.clone(), Binding::new(input, &series.probe_type)));
        let rows = self.binding.insert(bound).1.rows(&decoded, range, missing);
        self.last.follow(run, &rows);
        Ok(Some(Came { dac_time, run, rows }))
    }
}

/// The place of a batch that can be read.
fn place(piece: &HistoryPart) -> Option<BatchKey> {
    let HistoryPart::Samples(batch) = piece else { return None };
    let header = Header::parse(&batch.bytes).ok()?;
    let skipped = batch.wanted.start.0.saturating_sub(batch.offsets.start.0);
    Some((header.dac_time, header.topic, header.first_sequence.saturating_add(skipped)))
}
