//! The last sample of a batch as a batch of its own, for readers that want only the newest.

use crate::segment::Segment;
use bytes::Bytes;
use oasis_wire::{
    batch::{Batch, Encoder, Fields, stamp},
    quantity::Offset,
    schema::ProbeType,
    value,
};

/// The segment's last sample; the whole segment if its columns break the rules, which is its readers' to find out.
pub(crate) fn of(segment: &Segment, probe_type: &ProbeType) -> Segment {
    let last = Offset(segment.end().0 - 1);
    match encode(segment.batch(), probe_type) {
        Some(batch) => Segment::covering(batch, last, segment.end(), 1),
        None => Segment::covering(segment.batch().clone(), segment.first(), segment.end(), segment.count()),
    }
}

fn encode(bytes: &[u8], probe_type: &ProbeType) -> Option<Bytes> {
    let batch = Batch::parse(bytes, probe_type).ok()?;
    let header = batch.header();
    let sample = batch.samples().next_back()?;
    let mut row = Vec::new();
    value::write_row(probe_type, &sample.values, &mut row);
    let mut encoder = Encoder::new(probe_type).ok()?;
    encoder.push(sample.time, &row).ok()?;
    let mut out = Vec::new();
    // What was dropped before the others was not dropped before this one.
    let fields = Fields {
        topic: header.topic,
        state: header.state,
        first_sequence: sample.sequence,
        node_time: header.node_time,
        dropped_before: 0,
    };
    encoder.finish(fields, &mut out);
    stamp(&mut out, sample.offset, header.dac_time);
    Some(out.into())
}
