//! A topic on a shard: its readers there, and the bytes that they share.

use super::{
    inbox::TopicWaker,
    messages::{Answer, put_gaps_before, put_samples},
    packets,
};
use crate::past::times::end_of_times;
use bytes::Bytes;
use oasis_dac::{Instance, Options, Segment, Wake};
use oasis_websocket::{Opcode, frame};
use oasis_wire::{loss::Cause, quantity::Offset};
use std::{ops::Range, sync::Arc};

/// Upper bound of the segments that are read for one burst.
const MAX_SEGMENTS: usize = 256;

/// Bursts kept for other readers in a round. Readers that lag more are mostly at different positions, so their bursts are not kept.
const MAX_SHARED_BURSTS: usize = 8;

/// Encoding of a subscriber's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One native batch in each message.
    Native,
    /// The same, and before a batch that something is missing before a message about that.
    NativeWithGaps,
    /// One EISA packet in each message.
    Eisa,
    /// All EISA packets of a burst in one message.
    PackedEisa,
}

impl Format {
    /// Whether it is that of `oasis.v1`.
    pub fn is_native(self) -> bool {
        matches!(self, Self::Native | Self::NativeWithGaps)
    }
}

/// Whole messages for all readers that want the same samples in the same format.
#[derive(Debug, Clone)]
pub struct Burst {
    format: Format,
    options: Options,
    from: Offset,
    /// Offset after the last sample in it.
    pub end: Offset,
    /// As they go to the socket.
    pub bytes: Bytes,
    /// The log has evicted the first wanted sample.
    pub is_late: bool,
    /// Why the subscription ends here, if it does.
    pub over: Option<&'static str>,
    /// Whether samples that the reader had from elsewhere do not count any more.
    pub is_past_after: bool,
}

/// A topic that clients of this shard read.
#[derive(Debug)]
pub struct Topic {
    /// The instance.
    pub instance: Arc<Instance>,
    /// Keys of the connections that read it, in no order.
    pub readers: Vec<usize>,
    waker: Arc<TopicWaker>,
    /// Bursts of this round: readers are mostly at the same position, so each burst is made once.
    bursts: Vec<Burst>,
    /// The same of a batch ahead of its turn, with its version.
    ahead: Option<(u64, Bytes)>,
}

impl Topic {
    /// Creates a topic without readers. The shard receives each append from now on.
    pub fn new(instance: Arc<Instance>, waker: TopicWaker) -> Self {
        let waker = Arc::new(waker);
        instance.log.add_reader(waker.clone());
        Self { instance, readers: Vec::new(), waker, bursts: Vec::new(), ahead: None }
    }

    /// Lowers the flag of new samples. To be called before the log is read: later appends are reported again.
    pub fn lower_waker(&self) {
        self.waker.lower();
    }

    /// Returns messages from `from` on, up to about `most` bytes, and at least one segment if there is one. Excludes samples of the time `until` and all after
    /// the first of those.
    pub fn burst(
        &mut self,
        format: Format,
        options: Options,
        (from, until): (Offset, Option<u64>),
        most: usize,
    ) -> Burst {
        if until.is_some() {
            return self.made(format, options, (from, until), most);
        }
        let shared = |burst: &&Burst| {
            (burst.from, burst.format, burst.options) == (from, format, options) && burst.bytes.len() <= most
        };
        if let Some(burst) = self.bursts.iter().find(shared) {
            return burst.clone();
        }
        let burst = self.made(format, options, (from, None), most);
        if self.bursts.len() < MAX_SHARED_BURSTS {
            self.bursts.push(burst.clone());
        }
        burst
    }

    /// Whether no reader was served in this round.
    pub fn is_fresh(&self) -> bool {
        self.bursts.is_empty()
    }

    /// Returns the batch that is shown ahead of its turn as a message, and its version, unless the reader has seen it.
    pub fn ahead(&mut self, seen: u64) -> Option<(u64, Bytes)> {
        let (version, batch) = self.instance.ahead.newer_than(seen)?;
        if self.ahead.as_ref().is_none_or(|(made, _)| *made != version) {
            let mut message = Vec::new();
            frame::write_message(Opcode::Binary, &batch, &mut message);
            self.ahead = Some((version, message.into()));
        }
        self.ahead.clone()
    }

    /// Ends a round: drops the shared bursts.
    pub fn forget_bursts(&mut self) {
        self.bursts.clear();
        self.ahead = None;
    }

    fn made(
        &self,
        format: Format,
        options: Options,
        (from, until): (Offset, Option<u64>),
        most: usize,
    ) -> Burst {
        let turn = self.instance.turn(from, options, MAX_SEGMENTS);
        let (mut bytes, mut packed, mut end) = (Vec::new(), Vec::new(), turn.wanted);
        let (mut over, is_past_after) = (turn.is_over.then_some("overflow"), turn.is_past_after);
        let is_late = turn.skipped.is_some_and(|skipped| skipped.cause == Cause::LogRetention);
        if let Some(skipped) = turn.skipped.filter(|_| format.is_native()) {
            // In the format of 2012 a gap has no message: the sequence numbers show it.
            Answer::skipped(self.instance.topic, &skipped).put(&mut bytes);
        }
        for segment in turn.segments {
            let length = bytes.len() + packed.len();
            if length > 0 && length + segment.batch().len() > most {
                break;
            }
            let last = until
                .and_then(|until| end_of_times(&self.instance, &segment, end.max(segment.first()), until));
            let wanted = end..last.unwrap_or(segment.end());
            end = wanted.end;
            match format {
                Format::Native => self.put_samples(&segment, &wanted, &mut bytes),
                Format::NativeWithGaps => {
                    put_gaps_before(self.instance.topic, &segment, &wanted, &mut bytes);
                    self.put_samples(&segment, &wanted, &mut bytes);
                }
                Format::Eisa => packets::put(&self.instance, &segment, &mut bytes),
                Format::PackedEisa => packets::append(&self.instance, &segment, &mut packed),
            }
            if last.is_some() {
                over = Some("to");
                break;
            }
        }
        if !packed.is_empty() {
            frame::write_message(Opcode::Binary, &packed, &mut bytes);
        }
        Burst { format, options, from, end, bytes: bytes.into(), is_late, over, is_past_after }
    }

    fn put_samples(&self, segment: &Segment, wanted: &Range<Offset>, out: &mut Vec<u8>) {
        put_samples(self.instance.topic, &self.instance.probe_type, segment, wanted, out);
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        let waker: Arc<dyn Wake> = self.waker.clone();
        self.instance.log.remove_reader(&waker);
    }
}
