//! Any bytes are samples of an exporter in Protocol Buffers or refused, within the bounds of a histogram.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_prometheus::{ExposedValue, each_sample};

/// Most buckets of a sign.
const MAX_BUCKETS: usize = 10_000;

fuzz_target!(|input: &[u8]| {
    let _ = each_sample(input, &mut |_, _, value, _| {
        if let ExposedValue::Histogram(histogram) = value {
            let buckets = [&histogram.positive, &histogram.negative];
            assert!(buckets.iter().all(|of| of.counts.len() <= MAX_BUCKETS));
        }
    });
});
