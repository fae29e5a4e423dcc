//! The size targets, on a recording of `/proc/stat` at 1 kHz.

#[path = "../../benches/data/recording.rs"]
mod recording;

use oasis_wire::batch::{Batch, Encoder};

/// Bytes a sample, header and all, in batches of `size`.
fn bytes_a_sample(size: usize) -> f64 {
    let probe_type = recording::processor_probe();
    let mut encoder = Encoder::new(&probe_type).unwrap();
    let (mut samples, mut bytes) = (0, 0);
    for batch in recording::samples().chunks_exact(size) {
        let mut out = Vec::new();
        recording::encode(batch, &mut encoder, &mut out);
        let decoded = Batch::parse(&out, &probe_type).unwrap();
        assert!(decoded.samples().zip(batch).all(|(sample, (time, _))| sample.time == *time));
        samples += size;
        bytes += out.len();
    }
    bytes as f64 / samples as f64
}

#[test]
fn a_processor_sample_takes_few_bytes() {
    let (at_1, at_64, at_1024) = (bytes_a_sample(1), bytes_a_sample(64), bytes_a_sample(1_024));
    println!(
        "bytes a sample: {at_1:.1} alone, {at_64:.2} in batches of 64, {at_1024:.2} in batches of 1,024; 136 as EISA packet"
    );
    assert!(at_64 <= 3.2, "{at_64}");
    assert!(at_1024 <= 2.7, "{at_1024}");
}
