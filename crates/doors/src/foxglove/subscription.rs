//! Samples of an instance for a viewer.

use super::messages::write_data;
use oasis_dac::{Cursor, Instance, Segment, SkippedRange};
use oasis_format::{
    Gap, MessageEncoding,
    mcap::{encode, lost},
};
use oasis_wire::{batch::Batch, loss::Cause, quantity::Offset};
use std::{ops::RangeInclusive, sync::Arc};
use uuid::Uuid;

/// A subscription of a viewer.
#[derive(Debug)]
pub struct Subscription {
    /// The number that the viewer has chosen.
    pub id: u32,
    /// The channel.
    pub channel: u32,
    source: Arc<Instance>,
    cursor: Cursor,
    /// Time of the newest sample that was sent, nanoseconds since 1970.
    last_time: u64,
}

/// The destination of messages, with their encoding.
#[derive(Debug)]
pub struct Sink<'a> {
    pub encoding: MessageEncoding,
    /// Subscriptions to the channel of gaps.
    pub gap_readers: &'a [u32],
    /// Bytes after which a subscription stops.
    pub full: usize,
    pub out: &'a mut Vec<u8>,
    /// Used again for each message.
    pub message: &'a mut Vec<u8>,
}

impl Subscription {
    pub fn new(id: u32, source: Arc<Instance>, cursor: Cursor) -> Self {
        let channel = source.topic.0;
        Self { id, channel, source, cursor, last_time: 0 }
    }

    /// Returns the instance that it reads.
    pub fn source(&self) -> &Instance {
        &self.source
    }

    /// Whether there are samples to send.
    pub fn has_unread(&self) -> bool {
        self.cursor.has_unread()
    }

    /// Sends samples until there are none or the sink is full.
    pub fn send(&mut self, sink: &mut Sink<'_>) {
        while sink.out.len() < sink.full && self.cursor.has_unread() {
            let turn = self.cursor.turn(1);
            if let Some(skipped) = turn.skipped {
                self.send_skipped(&skipped, sink);
            }
            let Some(segment) = turn.segments.first() else { continue };
            if turn.wanted <= segment.first_held() {
                self.send_gaps_before(segment, sink);
            }
            self.send_samples(segment, turn.wanted, sink);
        }
    }

    /// Sends the samples of a segment from an offset on. If the sink is full, the cursor continues in the segment.
    fn send_samples(&mut self, segment: &Segment, wanted: Offset, sink: &mut Sink<'_>) {
        let Ok(batch) = Batch::parse(segment.batch(), &self.source.probe_type) else {
            return self.send_malformed(segment, sink);
        };
        let state = batch.header().state;
        for sample in batch.samples().filter(|sample| sample.offset >= wanted.0) {
            let encoded = encode(sink.encoding, &self.source.probe_type, state, &sample.values, sink.message);
            if encoded.is_ok() {
                self.last_time = sample.time;
                write_data(self.id, sample.time, sink.message, sink.out);
            } else {
                let number = sample.sequence;
                self.send_gap((segment.run(), 1, Some(number..=number), Cause::Unreadable), sink);
            }
            // After a sample at least, so that the gaps before the segment are sent once.
            if sink.out.len() >= sink.full {
                return self.cursor.seek(Offset(sample.offset + 1));
            }
        }
    }

    /// Sends what never reached the DAC.
    fn send_gaps_before(&self, segment: &Segment, sink: &mut Sink<'_>) {
        for gap in segment.gaps_before().into_iter().flat_map(|gaps| gaps.iter()) {
            let numbers = gap.from_sequence..=gap.to_sequence;
            self.send_gap((gap.run, gap.count, Some(numbers), gap.cause), sink);
        }
    }

    /// Sends that the samples of a batch with malformed columns are missing: the DAC checks only its header.
    fn send_malformed(&self, segment: &Segment, sink: &mut Sink<'_>) {
        let count = segment.count().into();
        self.send_gap((segment.run(), count, None, Cause::Unreadable), sink);
    }

    /// Sends what the log no longer has.
    fn send_skipped(&self, skipped: &SkippedRange, sink: &mut Sink<'_>) {
        self.send_gap((Uuid::nil(), skipped.count(), None, skipped.cause), sink);
    }

    fn send_gap(
        &self,
        (run, count, numbers, cause): (Uuid, u64, Option<RangeInclusive<u64>>, Cause),
        sink: &mut Sink<'_>,
    ) {
        let (node, instance) = (&*self.source.node, &*self.source.name);
        let gap = Gap { node, instance, run, count, numbers, cause, time: self.last_time };
        match lost::message(&gap) {
            Ok(message) => {
                for reader in sink.gap_readers {
                    write_data(*reader, gap.time, &message, sink.out);
                }
            }
            Err(error) => tracing::error!(%error, "a gap cannot be encoded for a viewer"),
        }
    }
}
