//! The size targets, on a recording of `/proc/stat` at 1 kHz.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    schema::{Metric, MetricType, ProbeType},
};

const RECORDING: &str = include_str!("../benches/data/proc_stat_1khz.txt");

fn processor_probe() -> ProbeType {
    let names =
        ["idle_time", "system_time", "user_time", "nice_time", "iowait_time", "irq_time", "soft_irq_time"];
    let metric = |name: &str| Metric {
        name: name.into(),
        kind: MetricType::Uint64,
        doc: None,
        unit: None,
        behaviour: None,
        label: None,
    };
    ProbeType {
        name: "OASIS::System::LinuxProcessorProbe".into(),
        uuid: uuid::uuid!("b049990b-17aa-4ca2-8806-e89329963788"),
        version: "1.1".into(),
        doc: None,
        metrics: names.map(metric).into(),
    }
}

/// Bytes a sample, header and all, in batches of `size`.
fn bytes_a_sample(size: usize) -> f64 {
    let mut encoder = Encoder::new(&processor_probe()).unwrap();
    let (mut samples, mut bytes) = (0, 0);
    let rows: Vec<Vec<u64>> = RECORDING
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    for batch in rows.chunks_exact(size) {
        for row in batch {
            let packed: Vec<u8> = row[1..].iter().flat_map(|value| value.to_le_bytes()).collect();
            encoder.push(row[0], &packed).unwrap();
        }
        let fields =
            Fields { node_time: batch[size - 1][0] + 50_000, first_sequence: 1, ..Fields::default() };
        let mut out = Vec::new();
        encoder.finish(fields, &mut out);
        let decoded = Batch::parse(&out, &processor_probe()).unwrap();
        assert!(decoded.samples().zip(batch).all(|(sample, row)| sample.time == row[0]));
        samples += size;
        bytes += out.len();
    }
    bytes as f64 / samples as f64
}

#[test]
fn a_processor_sample_takes_few_bytes() {
    let (at_64, at_1024) = (bytes_a_sample(64), bytes_a_sample(1_024));
    println!(
        "bytes a sample: {at_64:.2} in batches of 64, {at_1024:.2} in batches of 1,024; 136 as EISA packet"
    );
    assert!(at_64 <= 3.2, "{at_64}");
    assert!(at_1024 <= 2.7, "{at_1024}");
}
