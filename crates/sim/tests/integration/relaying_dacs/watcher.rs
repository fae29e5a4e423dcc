//! Readers of topics, which check what they receive.

use super::{
    host::{INSTANCES, NODE, RUN, name},
    line::start,
};
use oasis_dac::{Cursor, Dac, Options, Signal, StartAt};
use oasis_wire::{
    batch::Header,
    quantity::{PortablePosition, Position},
};
use std::{collections::BTreeSet, fmt, sync::Arc};

/// Samples that readers have received.
#[derive(Debug, Default, Clone, Copy)]
pub struct Watched {
    pub samples: u64,
    /// Missing samples that a gap has announced.
    pub announced: u64,
    /// Topics that ended under a reader.
    pub reopened: u64,
}

impl Watched {
    pub fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.announced += other.announced;
        self.reopened += other.reopened;
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, announced, reopened } = self;
        write!(
            f,
            "{samples} samples read, 0 again, 0 out of order, 0 missing without a gap; {announced} announced as missing, {reopened} topics ended under a reader"
        )
    }
}

/// A reader of an instance. It checks what it receives.
pub struct Watcher {
    at: usize,
    cursor: Option<Cursor>,
    next: Option<Position>,
    last: u64,
    /// Samples that gaps have announced since the last one.
    announced: u64,
    /// The reader has resumed where the log does not know: the door continues after the last sample, from the archive.
    skips_old: bool,
}

impl Watcher {
    pub fn new(at: usize) -> Self {
        Self { at, cursor: None, next: None, last: 0, announced: 0, skips_old: false }
    }

    /// The last number that it has received.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Its DAC has ended: it continues at the next life of it.
    pub fn lose(&mut self) {
        self.cursor = None;
    }

    /// Its node is not listed any more: it begins with what comes.
    pub fn begin_again(&mut self) {
        *self = Self::new(self.at);
    }

    /// Opens a cursor where it continues.
    fn open(&mut self, dac: &Dac) -> Option<()> {
        let instance = dac.registry.find(NODE, &name(self.at))?;
        let portable = PortablePosition { run: RUN, sequence: self.last + 1 };
        let start = match self.next {
            Some(next) if self.last > 0 => start(&format!("{next} {portable}"), &instance),
            Some(next) => StartAt::Position(next),
            None => StartAt::Now,
        };
        let signal = Arc::<Signal>::default();
        let options = Options { after: Some(portable).filter(|_| self.last > 0), ..Options::default() };
        let (cursor, is_unknown) = Cursor::open(dac, &instance, start, options, &signal).unwrap();
        if is_unknown {
            // A gap without a count: any samples may be missing.
            (self.announced, self.skips_old) = (u64::MAX, self.last > 0);
        }
        self.cursor = Some(cursor);
        Some(())
    }

    pub fn read(&mut self, dac: &Dac, dropped: &[BTreeSet<u64>; INSTANCES], watched: &mut Watched) {
        let dropped = &dropped[self.at];
        let is_over =
            self.cursor.as_ref().is_some_and(|cursor| cursor.instance().is_retired() && !cursor.has_unread());
        if is_over {
            watched.reopened += 1;
            self.cursor = None;
        }
        if self.cursor.is_none() && self.open(dac).is_none() {
            return;
        }
        let Some(cursor) = &mut self.cursor else { return };
        while cursor.has_unread() {
            let turn = cursor.turn(4);
            let skipped = turn.skipped.map_or(0, |skipped| skipped.count());
            self.announced = self.announced.saturating_add(skipped);
            for segment in turn.segments {
                let header = Header::parse(segment.batch()).unwrap();
                let old = turn.wanted.0.saturating_sub(segment.first_held().0);
                let (first, count) = (header.first_sequence + old, u64::from(header.count) - old);
                let end = first + count - 1;
                let (at, last) = (self.at, self.last);
                if self.skips_old && end <= last {
                    continue;
                }
                let first = if self.skips_old { first.max(last + 1) } else { first };
                self.skips_old = false;
                assert!(
                    first > last,
                    "a reader receives {first} of {at} again, or out of order, after {last}"
                );
                let is_dropped = |number: &u64| dropped.contains(number);
                let missing = (last + 1..first).filter(|number| !is_dropped(number)).count() as u64;
                let is_announced = last == 0 || missing <= self.announced;
                let announced = self.announced;
                assert!(is_announced, "{missing} of {at} missing before {first}, {announced} announced");
                watched.samples += count;
                watched.announced += if last == 0 { 0 } else { missing };
                (self.last, self.announced) = (end, 0);
            }
            let (epoch, offset) = (dac.epoch(), cursor.next());
            self.next = Some(Position { epoch, offset });
        }
    }
}
