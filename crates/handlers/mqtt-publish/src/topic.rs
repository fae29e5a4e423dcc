//! One instance that is published: its items in order, and what the broker has acknowledged.

use crate::{
    feed::{Archive, Feed, FeedBatch, FeedPart},
    missing::Missing,
    positions::{InstanceName, Mark, position},
};
use oasis_dac::Instance;
use oasis_format::table::Table;
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    quantity::{Offset, Position},
    schema::ProbeType,
};
use std::{collections::VecDeque, sync::Arc};
use uuid::Uuid;

/// Most declarations of refused samples that wait.
const MAX_DECLARATIONS: usize = 16;

/// An instance that is published.
#[derive(Debug)]
pub struct Topic {
    /// The instance.
    pub instance: Arc<Instance>,
    /// Its level or levels in topics.
    pub name: String,
    feed: Feed,
    parts: VecDeque<FeedPart>,
    items: VecDeque<Item>,
    /// The newest item that was read.
    read: Mark,
    /// Samples that were skipped before the next one.
    skipped: Option<Missing>,
    /// All before this is acknowledged.
    acknowledged: Mark,
    sent: VecDeque<Sent>,
    numbers: u64,
    declarations: VecDeque<Missing>,
    described: Option<Arc<Described>>,
}

/// A message that is not acknowledged, or not the first such.
#[derive(Debug)]
struct Sent {
    number: u64,
    is_done: bool,
    mark: Mark,
    /// The sample in it.
    sample: Option<(Uuid, u64)>,
    /// The refused samples that it declares, which reading again does not find.
    declaration: Option<Missing>,
}

/// A sample or a gap, and the mark after it.
#[derive(Debug)]
pub struct Item {
    /// Its content.
    pub content: Content,
    /// The mark once it is published.
    pub mark: Mark,
    /// Whether it declares refused samples.
    pub is_declaration: bool,
}

impl Item {
    /// Creates an item that is read again after a broken connection.
    fn new(content: Content, mark: Mark) -> Self {
        Self { content, mark, is_declaration: false }
    }
}

/// The content of a message.
#[derive(Debug)]
pub enum Content {
    /// A sample.
    Sample(Box<PublishedSample>),
    /// Missing samples.
    Missing(Missing),
}

/// A sample with what it needs to be read alone.
#[derive(Debug)]
pub struct PublishedSample {
    /// The run of its node; nil in a thinned stream.
    pub run: Uuid,
    /// The state of the probe.
    pub state: u16,
    /// When the DAC received it, nanoseconds since 1970.
    pub received: u64,
    /// Its type.
    pub described: Arc<Described>,
    /// The sample.
    pub sample: Sample,
}

/// A type with its columns.
#[derive(Debug)]
pub struct Described {
    /// The type.
    pub probe_type: Arc<ProbeType>,
    /// Its columns.
    pub table: Table,
}

/// Outcome of a message that the broker has answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Samples that are published now.
    pub published: u64,
    /// Samples that the broker refuses.
    pub refused: u64,
}

impl Topic {
    /// Continues after a mark.
    pub fn new(instance: Arc<Instance>, name: String, feed: Feed, last: Option<(Uuid, u64)>) -> Self {
        let mark = Mark { at: feed.position(), last };
        Self {
            instance,
            name,
            feed,
            parts: VecDeque::new(),
            items: VecDeque::new(),
            read: mark,
            skipped: None,
            acknowledged: mark,
            sent: VecDeque::new(),
            numbers: 0,
            declarations: VecDeque::new(),
            described: None,
        }
    }

    /// Node and instance.
    pub fn instance_name(&self) -> InstanceName {
        (self.instance.node.clone(), self.instance.name.clone())
    }

    /// The mark before which all is acknowledged.
    pub fn acknowledged(&self) -> Mark {
        self.acknowledged
    }

    /// The number of samples in the log that are not read.
    pub fn unread(&self) -> u64 {
        self.feed.unread()
    }

    /// Whether there is something to publish.
    pub fn has_items(&self) -> bool {
        self.is_begun() || !self.declarations.is_empty() || self.feed.has_unread()
    }

    /// Whether a part of what was read is not published yet.
    pub fn is_begun(&self) -> bool {
        !self.items.is_empty() || !self.parts.is_empty()
    }

    /// Whether all of it is published.
    pub fn is_settled(&self) -> bool {
        !self.has_items() && self.sent.is_empty()
    }

    /// Whether it is retired, and all of it is published.
    pub fn is_over(&self) -> bool {
        self.instance.is_retired() && self.is_settled()
    }

    /// Returns the newest type, as samples to come have it.
    pub fn described(&mut self) -> Arc<Described> {
        let probe_type = self.feed.probe_type().clone();
        self.describe(&probe_type)
    }

    fn describe(&mut self, probe_type: &Arc<ProbeType>) -> Arc<Described> {
        if let Some(known) = self
            .described
            .as_ref()
            .filter(|known| Arc::ptr_eq(&known.probe_type, probe_type) || known.probe_type == *probe_type)
        {
            return known.clone();
        }
        let table = Table::new(probe_type);
        self.described.insert(Arc::new(Described { probe_type: probe_type.clone(), table })).clone()
    }

    /// Returns the next item. One chunk is read at once, and no more before it is published.
    pub fn next_item(&mut self, archive: &Archive<'_>) -> Option<Item> {
        if let Some(missing) = self.declarations.pop_front() {
            return Some(Item { is_declaration: true, ..Item::new(Content::Missing(missing), self.read) });
        }
        let mut has_read = false;
        loop {
            if let Some(item) = self.items.pop_front() {
                self.read = item.mark;
                return Some(item);
            }
            match self.parts.pop_front() {
                Some(FeedPart::Batch(batch)) => self.take_batch(&batch),
                Some(FeedPart::Missing(missing, after)) => self.skip(missing, after),
                None if has_read || !self.feed.has_unread() => return None,
                None => {
                    self.parts = self.feed.read(archive).into();
                    has_read = true;
                }
            }
        }
    }

    /// Keeps missing samples until the next sample tells their numbers.
    fn skip(&mut self, missing: Missing, after: Position) {
        self.read.at = after;
        match &mut self.skipped {
            Some(known) if known.cause == missing.cause => {
                known.samples = known.samples.zip(missing.samples).map(|(a, b)| a.saturating_add(b));
            }
            _ => {
                let mark = self.read;
                let before = self.skipped.replace(missing).map(Content::Missing);
                self.items.extend(before.map(|content| Item::new(content, mark)));
            }
        }
    }

    fn take_batch(&mut self, batch: &FeedBatch) {
        let described = self.describe(&batch.probe_type);
        let after = Mark { at: position(batch.epoch, batch.wanted.end.0), ..self.read };
        let Ok(parsed) = Batch::parse(&batch.bytes, &batch.probe_type) else {
            // Only its header was checked when it arrived.
            let samples = Some(batch.wanted.end.0.saturating_sub(batch.wanted.start.0));
            let missing = Missing { run: Some(batch.run), samples, numbers: None, cause: Cause::Unreadable };
            return self.skip(missing, after.at);
        };
        let (state, received) = (parsed.header().state, parsed.header().dac_time);
        let mut last = self.read.last;
        let mut gaps = batch.gaps_before.as_deref().unwrap_or_default();
        let wanted = parsed.samples().filter(|sample| batch.wanted.contains(&Offset(sample.offset)));
        for sample in wanted {
            let number = (batch.run, sample.sequence);
            if self.feed.is_complete() {
                // A node sends again what an earlier run of the DAC had published, but not stored.
                let is_known =
                    last.is_some_and(|(run, before)| run == batch.run && sample.sequence <= before);
                if is_known {
                    continue;
                }
                let mark = Mark { at: position(batch.epoch, sample.offset), last };
                let missing = Missing::before(number, last, std::mem::take(&mut gaps), self.skipped.take());
                self.items
                    .extend(missing.into_iter().map(|missing| Item::new(Content::Missing(missing), mark)));
            } else {
                let mark = Mark { at: position(batch.epoch, sample.offset), last };
                let skipped = self.skipped.take().map(Content::Missing);
                self.items.extend(skipped.map(|content| Item::new(content, mark)));
            }
            last = Some(number);
            let mark = Mark { at: position(batch.epoch, sample.offset + 1), last };
            let (run, described) = (batch.run, described.clone());
            let content =
                Content::Sample(Box::new(PublishedSample { run, state, received, described, sample }));
            self.items.push_back(Item::new(content, mark));
        }
        if self.items.is_empty() {
            self.read.at = after.at;
        }
    }

    /// Notes that an item was sent. Returns its number.
    pub fn note_sent(&mut self, item: &Item) -> u64 {
        self.numbers += 1;
        let mark = item.mark;
        let (sample, declaration) = match &item.content {
            Content::Sample(published) => (Some((published.run, published.sample.sequence)), None),
            Content::Missing(missing) => (None, Some(missing.clone()).filter(|_| item.is_declaration)),
        };
        self.sent.push_back(Sent { number: self.numbers, is_done: false, mark, sample, declaration });
        self.numbers
    }

    /// Notes that the broker has a message, or refuses it.
    pub fn note_answer(&mut self, number: u64, is_refused: bool) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(sent) = self.sent.iter_mut().find(|sent| sent.number == number) else { return outcome };
        sent.is_done = true;
        let sample = sent.sample;
        match sample {
            Some(sample) if is_refused => {
                outcome.refused = 1;
                self.declare_refused(sample);
            }
            Some(_) => outcome.published = 1,
            None => {}
        }
        while self.sent.front().is_some_and(|first| first.is_done) {
            self.acknowledged = self.sent.pop_front().map_or(self.acknowledged, |first| first.mark);
        }
        outcome
    }

    /// Declares a sample that is not published because the broker does not take it.
    pub fn declare_refused(&mut self, (run, number): (Uuid, u64)) {
        let newest = self.declarations.back_mut().filter(|known| known.run == Some(run));
        let continued = newest.filter(|known| known.numbers.is_some_and(|(_, last)| last + 1 == number));
        if let Some(known) = continued {
            known.numbers = known.numbers.map(|(first, _)| (first, number));
            known.samples = known.samples.map(|samples| samples + 1);
            return;
        }
        if self.declarations.len() < MAX_DECLARATIONS {
            self.declarations.push_back(Missing::of_numbers(run, number, number, Cause::CopyRefused));
        }
    }

    /// Returns to what is acknowledged: the connection has ended. Returns the number of samples that are published again.
    pub fn rewind(&mut self) -> u64 {
        if self.sent.is_empty() && !self.is_begun() {
            return 0;
        }
        let repeated = self.sent.iter().filter(|sent| sent.sample.is_some()).count() as u64;
        let declarations =
            self.sent.drain(..).filter(|sent| !sent.is_done).filter_map(|sent| sent.declaration);
        declarations.for_each(|missing| self.declarations.push_back(missing));
        self.parts.clear();
        self.items.clear();
        self.skipped = None;
        self.read = self.acknowledged;
        self.feed.seek(self.acknowledged.at);
        repeated
    }
}
