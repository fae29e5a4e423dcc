//! Any bytes are a native batch or refused; a batch has as many samples as it says, and each of them can be packed again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::{chosen, row_of};
use oasis_wire::batch::{Batch, Encoder};

fuzz_target!(|input: &[u8]| {
    let Some((probe_type, bytes)) = chosen(input) else { return };
    let Ok(batch) = Batch::parse(bytes, probe_type) else { return };
    let mut encoder = Encoder::new(probe_type).expect("a type of ours");
    let mut samples = 0;
    for sample in batch.samples() {
        encoder.push(sample.time, &row_of(probe_type, &sample.values)).expect("a row of that type");
        samples += 1;
    }
    assert_eq!(samples, usize::from(batch.header().count));
});
