//! The samples of simulated probes: each says which it is, and has values that only it can have.

use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::{RowWriter, Value},
};
use uuid::Uuid;

/// Values besides the number.
const NOISE: usize = 6;

/// Returns the type of all simulated probes.
pub fn probe_type() -> ProbeType {
    let names = std::iter::once("number".to_owned()).chain((0..NOISE).map(|at| format!("noise{at}")));
    ProbeType {
        name: "Simulation::Numbered".into(),
        uuid: Uuid::from_u128(0x6f1b_7c1e_3a55_4d5e_8c57_2f6e_4f1f_9d02),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: names.map(|name| Metric::new(name, MetricType::Uint64)).collect(),
    }
}

/// Returns the packed row of a sample.
pub fn row(run: Uuid, instance: usize, sequence: u64) -> Vec<u8> {
    let mut row = Vec::new();
    let mut writer = RowWriter::new(&mut row);
    writer.u64(sequence);
    noise(run, instance, sequence).for_each(|value| writer.u64(value));
    row
}

/// Returns whether a sample has the values of its number.
pub fn is_genuine(run: Uuid, instance: usize, sequence: u64, values: &[Value]) -> bool {
    let wanted = std::iter::once(sequence).chain(noise(run, instance, sequence)).map(Value::Uint);
    values.iter().eq(wanted.collect::<Vec<_>>().iter())
}

fn noise(run: Uuid, instance: usize, sequence: u64) -> impl Iterator<Item = u64> {
    let seed = run.as_u64_pair().0 ^ ((instance as u64) << 56) ^ sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(move || random.u64(..)).take(NOISE)
}
