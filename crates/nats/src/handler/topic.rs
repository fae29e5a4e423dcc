//! The copy of one topic: what is read, what is sent, and how far JetStream has acknowledged all of it.

use crate::{Copy, Head, InstanceId, Lost};
use bytes::Bytes;
use oasis_dac::{DurableStore, Gap, Instance, Segment, Wake};
use oasis_wire::{
    batch::Header,
    loss::Cause,
    quantity::{Offset, TopicId},
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};
use uuid::Uuid;

/// Segments read at once.
const MAX_READ_SEGMENTS: usize = 64;

/// A message for JetStream.
#[derive(Debug)]
pub struct Message {
    /// Its topic and its number there.
    pub place: (TopicId, u64),
    pub subject: String,
    /// Recognized by the server for two minutes; not relied upon.
    pub id: String,
    pub payload: Bytes,
}

/// Facts once a message and all before it are acknowledged.
#[derive(Debug, Default)]
struct Effect {
    number: u64,
    is_done: bool,
    /// The topic is copied up to here.
    offset: Offset,
    last: Option<(Uuid, u64)>,
    has_loss: bool,
    /// Causes of losses are in the copy up to this number of a run.
    listed: Option<(Option<Uuid>, u64)>,
    samples: u64,
}

/// Samples that are not in the copy.
#[derive(Debug, PartialEq, Eq)]
pub struct NotCopied {
    pub cause: Cause,
    pub samples: u64,
    pub detail: String,
}

/// The copy of one topic. While it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Topic {
    pub instance: Arc<Instance>,
    /// The schema's key in the bucket of schemas.
    pub schema: Arc<str>,
    /// Whether the bucket has the schema, or will never take it.
    pub has_schema: bool,
    /// Whether the schema is longer than a message of the server, so that nothing of the topic can be copied.
    pub is_refused: bool,
    id: InstanceId,
    next: Offset,
    /// Run and sequence number of the last sample that was read.
    last: Option<(Uuid, u64)>,
    /// Gaps of the ledger that are in the copy, or sent.
    gaps_sent: u64,
    /// Whether samples before the next segment are lost.
    has_lost: bool,
    numbers: u64,
    sent: VecDeque<Effect>,
    wake: Arc<dyn Wake>,
}

impl Topic {
    /// Begins at the first sample that the log has.
    pub fn new(instance: Arc<Instance>, wake: Arc<dyn Wake>) -> Self {
        instance.log.add_reader(wake.clone());
        let gaps_sent = instance.ledger().gaps_before();
        Self {
            id: InstanceId::of(&instance.node, &instance.name),
            schema: instance.schema_hash.to_string().into(),
            has_schema: false,
            is_refused: false,
            next: instance.log.start(),
            last: None,
            gaps_sent,
            has_lost: false,
            numbers: 0,
            sent: VecDeque::new(),
            wake,
            instance,
        }
    }

    /// Returns the number of unread samples in the log.
    pub fn behind(&self) -> u64 {
        self.instance.log.next().0.saturating_sub(self.next.0)
    }

    /// Returns whether the topic is retired, and all of it is acknowledged.
    pub fn is_over(&self) -> bool {
        self.instance.is_retired() && self.behind() == 0 && self.sent.is_empty()
    }

    /// Reads the next samples and losses. Returns whether there were any.
    pub fn read(&mut self, max_message: usize, out: &mut Vec<Message>, lost: &mut Vec<NotCopied>) -> bool {
        let before = out.len();
        // In this order: the losses before a batch are in the ledger when the batch is in the log.
        let wanted = self.instance.log.next();
        self.send_account(out);
        let read = self.instance.log.read(self.next, MAX_READ_SEGMENTS);
        if let Some((from, to)) = read.missed {
            let (samples, node, instance) = (to.0 - from.0, &self.instance.node, &self.instance.name);
            let detail = format!("the log of {node}/{instance} evicted {samples} before they were copied");
            lost.push(NotCopied { cause: Cause::CopyLag, samples, detail });
            self.has_lost = true;
            self.next = to;
            if read.segments.is_empty() {
                self.settle(Effect { offset: to, has_loss: true, ..Effect::default() });
            }
        }
        let mut has_any = false;
        for segment in read.segments.iter().take_while(|segment| segment.first() < wanted) {
            has_any = true;
            self.send_segment(segment, max_message, out, lost);
        }
        has_any || out.len() > before
    }

    /// Notes that JetStream has acknowledged a message. Returns the samples that are copied now.
    pub fn acknowledge(&mut self, number: u64) -> u64 {
        if let Some(effect) = self.sent.iter_mut().find(|effect| effect.number == number) {
            effect.is_done = true;
        }
        self.advance()
    }

    /// Notes that JetStream will never take a message. Returns the samples that are copied now, and those that are lost, which another message declares.
    pub fn refuse(&mut self, number: u64, out: &mut Vec<Message>) -> (u64, u64) {
        let (mut refused, mut last) = (0, None);
        if let Some(effect) = self.sent.iter_mut().find(|effect| effect.number == number) {
            effect.is_done = true;
            effect.has_loss = true;
            // Absent causes are not listed.
            effect.listed = None;
            refused = std::mem::take(&mut effect.samples);
            last = effect.last;
        }
        if let Some((run, last)) = last.filter(|_| refused > 0) {
            self.declare(run, Lost(last + 1 - refused, last, Cause::CopyRefused), out);
        }
        (self.advance(), refused)
    }

    fn advance(&mut self) -> u64 {
        let mut samples = 0;
        let mut ledger = self.instance.ledger();
        while self.sent.front().is_some_and(|effect| effect.is_done) {
            let Some(effect) = self.sent.pop_front() else { break };
            ledger.note_kept(DurableStore::Copy, effect.offset, effect.last, effect.has_loss);
            if let Some((run, sequence)) = effect.listed {
                ledger.note_listed_by(DurableStore::Copy, run, sequence);
            }
            samples += effect.samples;
        }
        samples
    }

    /// Adds what needs no acknowledgement of its own.
    fn settle(&mut self, effect: Effect) {
        self.numbers += 1;
        self.sent.push_back(Effect { number: self.numbers, is_done: true, ..effect });
        self.advance();
    }

    fn send(&mut self, copy: &Copy, id: String, effect: Effect, out: &mut Vec<Message>) {
        self.numbers += 1;
        self.sent.push_back(Effect { number: self.numbers, ..effect });
        let place = (self.instance.topic, self.numbers);
        out.push(Message { place, subject: self.id.subject(), id, payload: copy.encode() });
    }

    fn copy(&self, run: Uuid, lost: Vec<Lost>, batch: Bytes) -> Copy {
        let Instance { node, name, kind, .. } = &*self.instance;
        let (node, instance) = (node.as_ref().into(), name.as_ref().into());
        Copy { head: Head { node, instance, kind: *kind, run, schema: self.schema.clone(), lost }, batch }
    }

    /// Sends the gaps that the ledger noted since the last time.
    fn send_account(&mut self, out: &mut Vec<Message>) {
        let ledger = self.instance.ledger();
        let count = ledger.gaps_forgotten + ledger.gaps.len() as u64;
        let (run, last_sequence) = (ledger.run(), ledger.last_sequence);
        let new = usize::try_from(count.saturating_sub(self.gaps_sent)).unwrap_or(usize::MAX);
        let gaps: Vec<Gap> = ledger.gaps.range(ledger.gaps.len().saturating_sub(new)..).cloned().collect();
        drop(ledger);
        if gaps.is_empty() {
            return;
        }
        let first = self.gaps_sent;
        self.gaps_sent = count;
        let mut by_run: BTreeMap<Uuid, Vec<Lost>> = BTreeMap::new();
        for gap in gaps {
            by_run.entry(gap.run).or_default().push(Lost(gap.from_sequence, gap.to_sequence, gap.cause));
        }
        for (of, lost) in by_run {
            for (part, lost) in lost.chunks(Copy::MAX_LOST).enumerate() {
                let listed = (Some(of) == run).then_some((run, last_sequence));
                let effect = Effect { listed, offset: self.next, ..Effect::default() };
                let id = format!("{of}/{}/lost/{}/{first}/{part}", self.id, self.instance.log.epoch());
                self.send(&self.copy(of, lost.to_vec(), Bytes::new()), id, effect, out);
            }
        }
    }

    /// Declares samples of a run that are not in the copy.
    fn declare(&mut self, run: Uuid, lost: Lost, out: &mut Vec<Message>) {
        let Lost(first, last, cause) = lost;
        let id =
            format!("{run}/{}/lost/{}/{first}-{last}/{}", self.id, self.instance.log.epoch(), cause.word());
        let effect = Effect { offset: Offset(0), ..Effect::default() };
        self.send(&self.copy(run, vec![lost], Bytes::new()), id, effect, out);
    }

    fn send_segment(
        &mut self,
        segment: &Segment,
        max_message: usize,
        out: &mut Vec<Message>,
        not_copied: &mut Vec<NotCopied>,
    ) {
        let (run, samples) = (segment.run(), u64::from(segment.count()));
        self.next = segment.end();
        let Ok(Header { first_sequence: first, .. }) = Header::parse(segment.batch()) else {
            // The session has checked it.
            let detail = "a batch has no header".into();
            not_copied.push(NotCopied { cause: Cause::CopyRefused, samples, detail });
            self.settle(Effect { offset: segment.end(), has_loss: true, ..Effect::default() });
            return;
        };
        let last = first.saturating_add(samples.saturating_sub(1));
        let has_lost = std::mem::take(&mut self.has_lost);
        if has_lost {
            let before = self.last.filter(|(of, _)| *of == run).map_or(0, |(_, sequence)| sequence);
            if before + 1 < first {
                self.declare(run, Lost(before + 1, first - 1, Cause::CopyLag), out);
            }
        }
        self.last = Some((run, last));
        let copy = self.copy(run, Vec::new(), segment.batch().clone());
        let effect = Effect {
            offset: segment.end(),
            last: Some((run, last)),
            has_loss: has_lost,
            samples,
            ..Effect::default()
        };
        let length = copy.encode().len();
        if length > max_message || self.is_refused {
            let (node, instance) = (&self.instance.node, &self.instance.name);
            let what = if self.is_refused {
                "its schema is too long for a message, and a batch is one"
            } else {
                "a batch is a message"
            };
            let detail = format!(
                "{node}/{instance}: {what} of {length} bytes, NATS takes {max_message}: raise max_payload of nats-server"
            );
            not_copied.push(NotCopied { cause: Cause::CopyRefused, samples, detail });
            self.declare(run, Lost(first, last, Cause::CopyRefused), out);
            self.settle(Effect { has_loss: true, samples: 0, ..effect });
            return;
        }
        let id = format!("{run}/{}/{first}/{samples}", self.id);
        self.send(&copy, id, effect, out);
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        self.instance.log.remove_reader(&self.wake);
    }
}

#[cfg(test)]
mod tests;
