//! The same samples as EISA packets of 2012 and as native batches: `/proc/stat` of a machine at work, a thousand times a second.

use crate::{packet::PACKET, servers};
use anyhow::Context;
use oasis_probe::RowWriter;
use oasis_wire::batch::Fields;

/// A line for each sample: nanoseconds since 1970, then seven counters.
const RECORDING: &str = include_str!("../../../crates/wire/benches/data/proc_stat_1khz.txt");

/// Bytes of the first `count` samples in one native batch.
pub fn native_batch(count: usize) -> anyhow::Result<usize> {
    let (mut encoder, _) = servers::greeting()?;
    let (mut row, mut batch) = (Vec::new(), Vec::new());
    for line in RECORDING.lines().take(count) {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u64>);
        let time = numbers.next().context("an empty line in the recording")??;
        row.clear();
        let mut writer = RowWriter::new(&mut row);
        for counter in numbers {
            writer.u64(counter?);
        }
        encoder.push(time, &row)?;
    }
    encoder.finish(Fields { topic: 1, first_sequence: 1, ..Fields::default() }, &mut batch);
    Ok(batch.len())
}

/// Bytes of as many EISA packets.
pub fn packets(count: usize) -> usize {
    count * PACKET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_many_samples_is_a_fraction_of_their_packets() {
        assert!(native_batch(1).unwrap() < packets(1));
        assert!(native_batch(1_000).unwrap() * 20 < packets(1_000), "{}", native_batch(1_000).unwrap());
    }
}
