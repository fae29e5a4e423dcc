//! Whatever rows are pushed, the batch of them has them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::{chosen, next_row, row_of};
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    reader::Reader,
};
use std::iter;

/// Upper bound of samples; more add no coverage.
const MAX_SAMPLES: usize = 300;

fuzz_target!(|input: &[u8]| {
    let Some((probe_type, rest)) = chosen(input) else { return };
    let mut from = Reader::new(rest, 0);
    let mut samples = Vec::new();
    while samples.len() < MAX_SAMPLES {
        let Ok(time) = from.array().map(u64::from_le_bytes) else { break };
        let Some(values) = next_row(probe_type, &mut from) else { break };
        samples.push((time, row_of(probe_type, &values)));
    }
    let mut encoder = Encoder::new(probe_type).expect("a type of ours");
    samples.iter().for_each(|(time, row)| encoder.push(*time, row).expect("a row of that type"));
    let mut bytes = Vec::new();
    let fields = Fields { topic: 1, state: 2, first_sequence: 3, node_time: 4, dropped_before: 5 };
    encoder.finish(fields, &mut bytes);
    if samples.is_empty() {
        return assert!(bytes.is_empty());
    }
    let batch = Batch::parse(&bytes, probe_type).expect("our own batch");
    assert_eq!(batch.samples().len(), samples.len());
    for (read, (time, row)) in iter::zip(batch.samples(), &samples) {
        assert_eq!((read.time, row_of(probe_type, &read.values)), (*time, row.clone()));
    }
});
