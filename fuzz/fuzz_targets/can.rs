//! Any database of CAN is read or refused with its line, and any datagrams are frames or counted: each sample of a frame reaches the DAC.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_can::{Decoder, Messages};
use oasis_dac::{Config, Dac};
use oasis_format::can::Database;
use oasis_source_node::{SourceLimits, SourceNodes};
use std::sync::Arc;

const SECOND_NANOS: u64 = 1_000_000_000;
/// Bytes of `struct can_frame` and of `struct canfd_frame`.
const FRAME_BYTES: [usize; 2] = [16, 72];

fuzz_target!(|input: &[u8]| {
    // A database, a zero byte, and datagrams: the first byte of each says how long it is, and how many frames were dropped before.
    let end = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    let (database, rest) = input.split_at(end);
    let mut rest = rest.get(1..).unwrap_or_default();
    let mut messages = Messages::default();
    if let Ok(database) = Database::parse(database) {
        messages.add(database);
    }
    let dac = Dac::new(Config::default());
    let mut nodes =
        SourceNodes::new(dac, "a fuzz target", SourceLimits { max_instances: 20, ..SourceLimits::default() });
    let mut decoder = Decoder::new("can".into(), Arc::new(messages), true, (500_000, 2_000_000));
    let mut now = SECOND_NANOS;
    let mut datagrams = 0_u64;
    while let [choice, after @ ..] = rest {
        let length = match choice & 3 {
            0 | 1 => FRAME_BYTES[usize::from(choice & 1)],
            _ => usize::from(choice >> 2),
        };
        let (bytes, others) = after.split_at(after.len().min(length));
        let mut frame = bytes.to_vec();
        // An identifier of a database is hardly found by chance: small ones are standard identifiers.
        if choice & 4 == 4 && frame.len() >= 4 {
            frame[2..4].fill(0);
        }
        decoder.receive(&frame, u32::from(choice >> 6), now, &mut nodes);
        datagrams += 1;
        now += SECOND_NANOS / 4;
        decoder.poll(now, &mut nodes);
        rest = others;
    }
    nodes.flush();
    let counters = &decoder.counters;
    assert_eq!(counters.frames + counters.error_frames + counters.bad_datagrams, datagrams, "{counters:?}");
});
