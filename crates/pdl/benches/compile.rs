//! Costs of a large PDL file: to compile, with every name looked up, and to lay out.
//!
//! The throughput that criterion prints is in bytes of PDL. `tests/integration/growth.rs` holds memory and hard shapes to their bounds.

#![allow(clippy::expect_used, reason = "a bench may end when its own data is wrong")]

#[path = "data/plant.rs"]
mod plant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use oasis_pdl::{compile, format};
use plant::plant;
use std::{collections::HashMap, hint::black_box, path::PathBuf};

const PROBES: [usize; 3] = [100, 1_000, 10_000];

fn compiling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group.sample_size(20);
    for probes in PROBES {
        let files = HashMap::from([(PathBuf::from("plant.pdl"), plant(probes))]);
        let bytes: usize = files.values().map(String::len).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter(probes), |bencher| {
            bencher.iter(|| {
                let report = compile(&["plant.pdl".into()], &[], black_box(&files));
                assert!(report.is_ok() && report.model.probes.len() >= probes);
                report
            });
        });
    }
}

fn formatting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("format");
    group.sample_size(20);
    for probes in PROBES {
        let text = plant(probes);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(probes), |bencher| {
            bencher.iter(|| format("plant.pdl".as_ref(), black_box(&text)).expect("a file that is right"));
        });
    }
}

criterion_group!(benches, compiling, formatting);
criterion_main!(benches);
