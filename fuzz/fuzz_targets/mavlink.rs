//! Any bytes of vehicles are frames or skipped, and the DAC takes every sample that is made of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_dac::{Config, Dac};
use oasis_mavlink::{MavlinkConfig, Receiver, Way, encode};

const SECOND_NANOS: u64 = 1_000_000_000;

fuzz_target!(|input: &[u8]| {
    // The first byte chooses between a serial line and datagrams; each further chunk has a length and the seconds before it.
    let Some((choice, mut rest)) = input.split_first() else { return };
    let peer = (choice & 1 == 1).then(|| ([127, 0, 0, 1], 14_550).into());
    let way = Way { link: 0, peer };
    let config = MavlinkConfig { max_nodes: 3, max_series: 20, ..MavlinkConfig::default() };
    let mut receiver = Receiver::new(&config, Dac::new(Config::default()));
    let mut now = SECOND_NANOS;
    while let [length, pause, after @ ..] = rest {
        let (chunk, others) = after.split_at(after.len().min(usize::from(*length)));
        now += u64::from(pause % 8) * SECOND_NANOS / 2;
        // A checksum is hardly found by chance: some chunks are the payloads of whole frames.
        match chunk {
            [system, sequence, message, payload @ ..] if pause & 8 == 8 => {
                let message = u32::from(*message);
                let frame = encode((*system % 4, 1), *sequence, message, payload, crc_extra(message));
                receiver.receive(way, &frame, now);
            }
            chunk => receiver.receive(way, chunk, now),
        }
        receiver.poll(now, 5 * SECOND_NANOS);
        rest = others;
    }
    receiver.end();
    assert_eq!(receiver.counters().lost_samples, 0, "{:?}", receiver.counters());
});

/// Returns the `CRC_EXTRA` of HEARTBEAT, SYSTEM_TIME, ATTITUDE and STATUSTEXT.
fn crc_extra(message: u32) -> u8 {
    match message {
        0 => 50,
        2 => 137,
        30 => 39,
        253 => 83,
        _ => 0,
    }
}
