//! Samples as EISA packets, the format of 2012: one packet in each message, or several one after another.

use bytes::Bytes;
use oasis_dac::{Instance, Pieces, Segment};
use oasis_websocket::{Opcode, frame};
use oasis_wire::{batch::Batch, eisa};
use std::mem;

/// Appends a segment's packets, a message each.
pub fn put(instance: &Instance, segment: &Segment, out: &mut Vec<u8>) {
    let packets = instance.log.pieces(segment, |batch| packets(instance, batch));
    packets.iter().for_each(|packet| frame::write_message(Opcode::Binary, packet, out));
}

/// Appends a segment's packets alone.
pub fn append(instance: &Instance, segment: &Segment, out: &mut Vec<u8>) {
    let packets = instance.log.pieces(segment, |batch| packets(instance, batch));
    packets.iter().for_each(|packet| out.extend_from_slice(packet));
}

/// Returns a batch as EISA packets, in one allocation; `None` for a batch with malformed columns.
fn packets(instance: &Instance, batch: &[u8]) -> Pieces {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    if let Ok(batch) = Batch::parse(batch, &instance.probe_type) {
        for sample in batch.samples() {
            let state = batch.header().state;
            eisa::write_sample(&instance.probe_type, &instance.name, state, &sample, &mut bytes);
            ends.push(bytes.len());
        }
    }
    let bytes = Bytes::from(bytes);
    let mut start = 0;
    ends.into_iter().map(|end| bytes.slice(mem::replace(&mut start, end)..end)).collect()
}
