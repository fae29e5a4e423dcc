//! Cost of a sample in the node (encode), in the DAC (check, stamp), in its archive (range of times) and where single samples are needed (decode, EISA packet).
//!
//! Times are for the whole recording; the throughput that criterion prints beside them is in samples.

#![allow(clippy::expect_used, reason = "a bench may end when its own data is wrong")]

#[path = "data/recording.rs"]
mod recording;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use oasis_wire::{
    batch::{Batch, Choice, Encoder, check, stamp, time_range},
    eisa,
};
use recording::{encode, processor_probe, samples};
use std::hint::black_box;

const SIZES: [usize; 3] = [1, 64, 1_024];

fn encoding(criterion: &mut Criterion) {
    let samples = samples();
    for (name, choice) in [("encode", Choice::Smallest), ("encode_plain", Choice::Plain)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(samples.len() as u64));
        for size in SIZES {
            let mut encoder =
                Encoder::new(&processor_probe()).expect("a valid probe type").with_choice(choice);
            let mut out = Vec::new();
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| {
                    for batch in samples.chunks_exact(size) {
                        out.clear();
                        encode(black_box(batch), &mut encoder, &mut out);
                        black_box(&out);
                    }
                });
            });
        }
    }
}

fn reading(criterion: &mut Criterion) {
    let samples = samples();
    let probe_type = processor_probe();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(samples.len() as u64));
    for size in SIZES {
        let mut encoder = Encoder::new(&probe_type).expect("a valid probe type");
        let mut batches: Vec<Vec<u8>> = samples
            .chunks_exact(size)
            .map(|batch| {
                let mut out = Vec::new();
                encode(batch, &mut encoder, &mut out);
                out
            })
            .collect();
        group.bench_function(BenchmarkId::new("check_and_stamp", size), |bencher| {
            bencher.iter(|| {
                for batch in &mut batches {
                    check(batch, &probe_type).expect("a good batch");
                    stamp(batch, 1_000, 2_000);
                }
            });
        });
        group.bench_function(BenchmarkId::new("time_range", size), |bencher| {
            bencher.iter(|| {
                for batch in &batches {
                    black_box(time_range(batch).expect("a good batch"));
                }
            });
        });
        group.bench_function(BenchmarkId::new("decode", size), |bencher| {
            bencher.iter(|| {
                for batch in &batches {
                    black_box(Batch::parse(batch, &probe_type).expect("a good batch"));
                }
            });
        });
        group.bench_function(BenchmarkId::new("eisa_packets", size), |bencher| {
            let mut out = Vec::new();
            bencher.iter(|| {
                for batch in &batches {
                    for sample in Batch::parse(batch, &probe_type).expect("a good batch").samples() {
                        out.clear();
                        eisa::write_sample(&probe_type, "processor", 0, &sample, &mut out);
                        black_box(&out);
                    }
                }
            });
        });
    }
}

criterion_group!(benches, encoding, reading);
criterion_main!(benches);
