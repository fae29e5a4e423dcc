//! A DAC with its archive. Its ledger and its rule about connections are the real ones; log, archive and sessions are restated.

use super::{hashed::Hashed, planted::Planted};
use oasis_channel::Drops;
use oasis_dac::{Ledger, Standing, Verdict};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Nanos, Offset, PortablePosition, Position, TopicId},
    stored::StoredRun,
};
use uuid::Uuid;

pub const RUN: Uuid = Uuid::from_u128(7);
/// The model has no clock.
const NOW: Nanos = Nanos(0);

/// Sequence numbers below 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Numbers(u64);

impl Numbers {
    pub fn insert(&mut self, number: u64) -> bool {
        let is_new = !self.has(number);
        self.0 |= 1 << number;
        is_new
    }

    pub fn has(self, number: u64) -> bool {
        self.0 & 1 << number != 0
    }

    /// The least number that others do not contain.
    pub fn first_not_in(self, others: Self) -> Option<u64> {
        let rest = self.0 & !others.0;
        (rest != 0).then(|| u64::from(rest.trailing_zeros()))
    }

    pub fn last(self) -> Option<u64> {
        (self.0 != 0).then(|| u64::from(63 - self.0.leading_zeros()))
    }
}

/// Counters of one instance that a node reports (`channel::Counters`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeCounters {
    pub taken: u64,
    pub sent: u64,
    pub ring_full: u64,
}

#[derive(Debug, Clone, Hash)]
pub struct HomeDac {
    at: u8,
    /// Starts of its process.
    life: u8,
    pub ledger: Hashed<Ledger>,
    /// Sequence numbers by offset. A replaced topic continues here: its followers read both (`dac::registry::following`).
    pub log: Vec<u64>,
    /// The archive has the log up to here.
    archived: usize,
    /// Causes of losses up to this number are in the archive.
    listed: u64,
    pub stored: Numbers,
    /// Numbers that the archive declares dropped by the node.
    pub declared: Numbers,
    pub known: Option<Standing>,
    /// The connection that has the node, by its number.
    session: Option<u64>,
    /// The latest connection that this life has accepted, or has known elsewhere.
    latest: u64,
    pub is_draining: bool,
}

impl HomeDac {
    pub fn new(at: usize) -> Self {
        let (log, stored, declared) = Default::default();
        Self {
            at: u8::try_from(at).unwrap(),
            life: 0,
            ledger: Hashed::new(Ledger::default()),
            log,
            archived: 0,
            listed: 0,
            stored,
            declared,
            known: None,
            session: None,
            latest: 0,
            is_draining: false,
        }
    }

    pub fn epoch(&self) -> Epoch {
        Epoch(u64::from(self.life) * 2 + u64::from(self.at) + 1)
    }

    pub fn topic(&self) -> TopicId {
        TopicId(u32::from(self.at) + 10)
    }

    /// Whether its end would be more than that of a DAC that knows of the node from others.
    pub fn has_something_to_lose(&self) -> bool {
        self.session.is_some() || !self.log.is_empty()
    }

    /// A new process begins with what the archive has (`dac::registry::restore`).
    pub fn restart(&mut self) {
        let restored = Self {
            life: self.life + 1,
            stored: self.stored,
            declared: self.declared,
            ..Self::new(self.at.into())
        };
        *self = restored;
        let Some(last_sequence) = self.stored.last() else { return };
        self.ledger.change(|ledger| ledger.restore_runs(&[StoredRun { run: RUN, last_sequence, taken: 0 }]));
        // `Node::remembered`: the archive does not know the number of the connection.
        self.known =
            Some(Standing { run: RUN, attach: None, is_online: false, since: NOW, upstream: None, hops: 0 });
    }

    /// Hello and register (`NodeSession::hello`, `Registry::connect`). Returns false if it is refused.
    pub fn accept(&mut self, attach: u64, planted: Option<Planted>) -> Result<bool, String> {
        let told = Some(attach).filter(|_| planted != Some(Planted::AttachIgnored));
        if self.is_draining || self.known.is_some_and(|known| known.refuses(RUN, told)) {
            return Ok(false);
        }
        if attach <= self.latest {
            return Err(format!("connection {attach} replaces the later one {}", self.latest));
        }
        self.latest = attach;
        self.session = Some(attach);
        let since = Nanos(attach);
        self.known =
            Some(Standing { run: RUN, attach: told, is_online: true, since, upstream: None, hops: 0 });
        self.ledger.change(|ledger| ledger.registered(RUN, NOW));
        Ok(true)
    }

    /// The end of a connection (`NodeSession::close`).
    pub fn close(&mut self, attach: u64) {
        if self.session == Some(attach) {
            self.session = None;
            self.known.iter_mut().for_each(|known| known.is_online = false);
        }
    }

    /// `NodeSession::counters`.
    pub fn counters(&mut self, told: NodeCounters, is_first: bool) {
        let dropped = Drops { ring_full: told.ring_full, ..Drops::default() };
        self.ledger.change(|ledger| {
            if is_first {
                ledger.connected(told.sent, dropped, NOW);
            }
            ledger.counters(told.taken, told.sent, dropped);
            // For reports only: states that differ in it are one state.
            ledger.node.sent = 0;
        });
    }

    /// `session::samples::append`.
    pub fn batch(&mut self, first: u64, dropped_before: u64) -> Result<(), String> {
        let verdict = self.ledger.change(|ledger| {
            let verdict = ledger.batch(first, 1, dropped_before, NOW);
            // For reports only, too.
            ledger.duplicates = 0;
            verdict
        });
        match verdict {
            Verdict::New => self.log.push(first),
            Verdict::Duplicate => {}
            other => return Err(format!("{other:?} of {first}")),
        }
        Ok(())
    }

    pub fn has_news_for_the_archive(&self) -> bool {
        (self.archived, self.listed) != (self.log.len(), self.ledger.last_sequence)
    }

    /// A commit of the archive (`handlers/archive`): what is in the log is stored and synced.
    pub fn commit(&mut self, planted: Option<Planted>) -> Result<(), String> {
        let is_planted = planted == Some(Planted::StoredBeforeTheArchive);
        for number in &self.log[self.archived..] {
            if !is_planted && !self.stored.insert(*number) {
                return Err(format!("{number} is stored twice in an archive"));
            }
        }
        self.archived = if is_planted { self.archived } else { self.log.len() };
        let dropped = self.ledger.gaps.iter().filter(|gap| gap.cause == Cause::RingFull);
        for number in dropped.flat_map(|gap| gap.from_sequence..=gap.to_sequence) {
            self.declared.insert(number);
        }
        self.listed = self.ledger.last_sequence;
        let (offset, last) = (Offset(self.log.len() as u64), self.log.last().map(|number| (RUN, *number)));
        self.ledger.change(|ledger| {
            ledger.note_stored(offset, last, false);
            let (run, sequence) = (ledger.run(), ledger.last_sequence);
            ledger.note_listed(run, sequence);
        });
        Ok(())
    }

    /// Up to which number samples are safe (`dac::keeping`).
    pub fn safe(&self) -> u64 {
        self.ledger.stored(Offset(self.log.len() as u64), 0).0
    }

    /// The node as this DAC lists it for others; none if another DAC has it.
    pub fn listed(&self) -> Option<Standing> {
        let relayed = Standing { upstream: Some(self.at.into()), hops: 1, ..self.known? };
        self.known.filter(|known| known.upstream.is_none()).map(|_| relayed)
    }

    /// Learns of the node from another DAC (`Registry::relay_node`).
    pub fn learn(&mut self, relayed: Standing) {
        if let Some(known) = replaced(self.known, relayed) {
            self.known = Some(known);
            self.session = None;
            self.latest = self.latest.max(relayed.attach.unwrap_or(0));
        }
    }

    /// An upstream is gone (`Registry::lose_upstream`).
    pub fn lose(&mut self, upstream: usize) {
        lose(&mut self.known, upstream);
    }

    /// Returns the position where a subscription begins (`doors`, `StartAt::offset_in`).
    pub fn start(&self, resume: Option<&str>) -> usize {
        let Some(resume) = resume else { return self.log.len().saturating_sub(1) };
        let mut position = None;
        for word in resume.split(' ') {
            if let Ok(at) = word.parse::<PortablePosition>() {
                let Some(offset) = self.find(at) else { continue };
                return position.unwrap_or(offset);
            }
            let at: Position = word.parse().unwrap();
            if at.epoch == self.epoch() {
                position = Some(usize::try_from(at.offset.0).unwrap().min(self.log.len()));
            }
        }
        position.unwrap_or(0)
    }

    /// `TopicLog::find`.
    fn find(&self, at: PortablePosition) -> Option<usize> {
        if self.log.is_empty() || at.run != RUN {
            return None;
        }
        let found = self.log.iter().position(|number| *number >= at.sequence);
        Some(found.unwrap_or(self.log.len()))
    }

    /// Checks ledger and archive. `exists` returns whether an archive has a number, or the node has dropped it.
    pub fn check(&self, exists: impl Fn(u64) -> bool, dropped: Numbers) -> Result<(), String> {
        if let Some(number) = (1..=self.safe()).find(|number| !exists(*number)) {
            return Err(format!("{number} is called stored by DAC {}, and no archive has it", self.at));
        }
        let ledger = &self.ledger;
        if ledger.received + ledger.missing != ledger.accounted() || ledger.unexplained > 0 {
            return Err(format!("the account of DAC {} is wrong: {ledger:?}", self.at));
        }
        match self.declared.first_not_in(dropped) {
            Some(number) => Err(format!("DAC {} declares {number} dropped, which was not", self.at)),
            None => Ok(()),
        }
    }
}

/// Returns what is known of a node after an upstream has listed it; none if it is known better (`Registry::relay_node`).
pub fn replaced(known: Option<Standing>, relayed: Standing) -> Option<Standing> {
    let Some(known) = known else { return Some(relayed) };
    known.yields_to(&relayed).then(|| Standing { attach: known.attach_of(&relayed), ..relayed })
}

/// Marks a relayed node as offline, if it is known from this upstream.
pub fn lose(known: &mut Option<Standing>, upstream: usize) {
    let of_it = known.iter_mut().filter(|known| known.upstream == Some(upstream as u64));
    of_it.for_each(|known| known.is_online = false);
}
