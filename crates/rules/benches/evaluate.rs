//! Speed of rules over batches of 1,000 samples.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]
#![allow(missing_docs, reason = "criterion_group declares a function")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use oasis_rules::{Engine, Rows, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use std::sync::Arc;

const SAMPLES: usize = 1_000;

/// Fills the longest window.
const BATCHES_BEFORE: u64 = 100;

const RULES: [(&str, &str); 7] = [
    ("threshold", "alarm A { raise p.x > 95 for 2s; clear p.x < 90; }"),
    ("two_conditions", "alarm A { raise p.x > 95 and p.y < 3; }"),
    ("mean_of_100", "alarm A { raise mean(p.x, last 100) > 95; }"),
    ("rate", "alarm A { raise rate(p.x, 1s at most 1000 samples) > 95; }"),
    ("mean_of_10s", "alarm A { raise mean(p.x, 10s at most 11000 samples) > 95; }"),
    ("min_of_100000", "alarm A { raise min(p.x, last 100000) > 95; }"),
    ("count_of_60000", "alarm A { raise count(p.x > 50, last 60000) > 55000; }"),
];

fn probe_type() -> Arc<ProbeType> {
    let metrics = ["x", "y"].map(|name| Metric::new(name, MetricType::Real64)).to_vec();
    let uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap();
    Arc::new(ProbeType { name: "P".into(), uuid, version: "1.0".into(), doc: None, rate: None, metrics })
}

/// The samples of a second at 1 kHz.
fn batch(number: u64) -> Rows {
    let sequences = || (0..SAMPLES as u64).map(|at| number * SAMPLES as u64 + at);
    let values = || sequences().map(|at| (at % 89) as f64).collect();
    Rows {
        times: sequences().map(|at| at * 1_000_000).collect(),
        sequences: sequences().collect(),
        missing: vec![0; SAMPLES],
        columns: vec![values(), values()],
        origins: (0..SAMPLES).collect(),
    }
}

fn evaluate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(SAMPLES as u64)).sample_size(20);
    for (name, rule) in RULES {
        let text = format!("input p = \"*/p\" : P;\n{rule}");
        let mut engine = Engine::new(compile("a.rules".as_ref(), &text, &[probe_type()]).program);
        let id = engine.add(0).unwrap();
        for number in 0..BATCHES_BEFORE {
            engine.batch(id, number * 1_000_000_000, batch(number), &mut |_, _| {});
        }
        let mut number = BATCHES_BEFORE;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                number += 1;
                let mut events = 0;
                engine.batch(id, number * 1_000_000_000, batch(number), &mut |_, _| events += 1);
                events
            });
        });
    }
    group.finish();
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
