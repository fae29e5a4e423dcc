//! `/proc/stat` recorded at 1 kHz for four seconds on a machine with two cores and a build running.

use oasis_wire::{
    batch::{Encoder, Fields},
    schema::{Metric, MetricType, ProbeType},
};

/// Time in nanoseconds, then the seven counters: a line a sample.
const RECORDING: &str = include_str!("proc_stat_1khz.txt");

/// The papers' processor probe.
pub fn processor_probe() -> ProbeType {
    let names =
        ["idle_time", "system_time", "user_time", "nice_time", "iowait_time", "irq_time", "soft_irq_time"];
    ProbeType {
        name: "OASIS::System::LinuxProcessorProbe".into(),
        uuid: uuid::uuid!("b049990b-17aa-4ca2-8806-e89329963788"),
        version: "1.1".into(),
        doc: None,
        rate: None,
        metrics: names.map(|name| Metric::new(name, MetricType::Uint64)).into(),
    }
}

/// Times and rows as the probe writes them.
pub fn samples() -> Vec<(u64, Vec<u8>)> {
    let sample = |line: &str| {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>().expect("a recorded number"));
        let time = numbers.next().expect("a recorded time");
        (time, numbers.flat_map(u64::to_le_bytes).collect())
    };
    RECORDING.lines().map(sample).collect()
}

/// Appends samples as one batch.
pub fn encode(samples: &[(u64, Vec<u8>)], encoder: &mut Encoder, out: &mut Vec<u8>) {
    for (time, row) in samples {
        encoder.push(*time, row).expect("a row of its schema");
    }
    let node_time = samples.last().map_or(0, |(time, _)| time + 50_000);
    encoder.finish(Fields { node_time, first_sequence: 1, ..Fields::default() }, out);
}
