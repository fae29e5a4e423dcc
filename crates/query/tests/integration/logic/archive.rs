//! The archive of the queries in `tests/sql`: the same in each run, but for epochs.

use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, Series, open};
use oasis_wire::{
    batch::{Encoder, Fields},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::ProbeType,
    value::{self, Value},
};
use serde_json::json;
use std::{path::Path, sync::Arc};
use uuid::Uuid;

/// 2026-05-04T12:00:00Z.
pub const NOON: u64 = 1_777_896_000_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Types of samples: with each kind of metric, a changed type of the same name, names that need quotes, absent values, extreme numbers, late times.
const TYPES: [&str; 6] = [
    r#"{"name": "Plant::Pump", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [
        {"name": "value", "type": "uint32"}, {"name": "level", "type": "real64"}, {"name": "ratio", "type": "real32"},
        {"name": "count", "type": "int64"}, {"name": "small", "type": "int8"}, {"name": "flag", "type": "boolean"},
        {"name": "text", "type": "string"},
        {"name": "mode", "type": "uint8", "enum": {"name": "Mode", "values":
            [{"name": "IDLE", "value": 0}, {"name": "RUN", "value": 1}, {"name": "Kühlen", "value": 2}]}},
        {"name": "at", "type": {"struct": {"name": "Point", "members": [{"name": "x", "type": "real64"}, {"name": "y", "type": "int32"}]}}},
        {"name": "list", "type": {"vector": "int32"}}]}"#,
    r#"{"name": "Plant::Pump", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d12", "version": "2.0", "metrics": [
        {"name": "level", "type": "real32"}, {"name": "value", "type": "real64"}, {"name": "text", "type": "int32"}]}"#,
    r#"{"name": "Plant::Valve", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d13", "version": "1.0", "metrics": [
        {"name": "Level", "type": "int32"}, {"name": "level", "type": "int32"}, {"name": "time", "type": "string"},
        {"name": "select", "type": "boolean"}, {"name": "Größe ☃", "type": "real64"}, {"name": "it's", "type": "uint16"},
        {"name": "a\"b", "type": "string"}]}"#,
    r#"{"name": "Plant::Event", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d14", "version": "1.0", "metrics": [
        {"name": "number", "type": "uint32"}, {"name": "note", "type": "string"}, {"name": "on", "type": "boolean"},
        {"name": "oasis.absent", "type": {"vector": "string"}}, {"name": "at", "type": {"struct": {"name": "Point", "members":
            [{"name": "x", "type": "int32"}, {"name": "y", "type": "int32"}]}}}]}"#,
    r#"{"name": "Extremes", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d15", "version": "1.0", "metrics": [
        {"name": "signed", "type": "int64"}, {"name": "most", "type": "uint64"}, {"name": "beyond", "type": "uint64"},
        {"name": "real", "type": "real64"}, {"name": "single", "type": "real32"}]}"#,
    r#"{"name": "Late", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d16", "version": "1.0", "metrics": [
        {"name": "value", "type": "int32"}]}"#,
];

const PUMP: usize = 0;
const CHANGED_PUMP: usize = 1;
const VALVE: usize = 2;
const EVENT: usize = 3;
const EXTREMES: usize = 4;
const LATE_TYPE: usize = 5;
const WIDE: usize = 6;
/// Metrics of the type with many.
const WIDE_METRICS: u64 = 70;

/// Table of samples that Parquet cannot have: their times are beyond those of Arrow.
pub const LATE_TABLE: &str = "late";

/// The types of the archive. The last one has more columns than SQLite tells apart.
pub fn types() -> Vec<Arc<ProbeType>> {
    let metrics: Vec<_> =
        (0..WIDE_METRICS).map(|at| json!({"name": format!("m{at}"), "type": "int32"})).collect();
    let wide = json!({"name": "Wide", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d17", "version": "1.0", "metrics": metrics});
    let types = TYPES.iter().map(|json| serde_json::from_str(json).unwrap());
    types.chain([serde_json::from_value(wide).unwrap()]).map(Arc::new).collect()
}

/// Numbers that look random: the same in each version of every library.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

/// Values of a sample of a type.
fn values(of: usize, at: u64, numbers: &mut Numbers) -> Vec<Value> {
    let text = |text: &str| Value::String(text.to_owned());
    match of {
        PUMP => {
            let level = match numbers.below(16) {
                0 => f64::NAN,
                1 => numbers.of(&[f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0]),
                _ => at as f64 * 0.5 - numbers.below(40) as f64,
            };
            let list = (0..numbers.below(4)).map(|_| Value::Int(numbers.below(9) as i64 - 4)).collect();
            vec![
                Value::Uint(at),
                Value::Real64(level),
                Value::Real32(if numbers.below(9) == 0 { f32::NAN } else { numbers.below(20) as f32 / 10.0 }),
                Value::Int(20 - at as i64),
                Value::Int(numbers.below(5) as i64 - 2),
                Value::Boolean(numbers.below(2) == 0),
                text(
                    numbers.of(&[
                        "a", "A", "b%", "a_b", "äz", "Äz", "", "O'Brien", "5", "10", " 5 ", "1e1", "abc",
                    ]),
                ),
                Value::Uint(numbers.of(&[0, 0, 1, 1, 2, 7])),
                Value::Struct(vec![Value::Real64(numbers.below(100) as f64 / 4.0), Value::Int(-(at as i64))]),
                Value::Vector(list),
            ]
        }
        CHANGED_PUMP => vec![
            Value::Real32(numbers.below(30) as f32 / 4.0),
            Value::Real64(at as f64 + 0.25),
            Value::Int(numbers.below(9) as i64),
        ],
        VALVE => vec![
            Value::Int(at as i64),
            Value::Int(numbers.below(7) as i64),
            text(numbers.of(&["noon", "Noon", "2026-05-04"])),
            Value::Boolean(at.is_multiple_of(3)),
            Value::Real64(numbers.below(8) as f64 / 8.0),
            Value::Uint(numbers.below(3)),
            text(numbers.of(&["\"", "'", "☃"])),
        ],
        EVENT => {
            let absent = ["number", "note", "on", "at", "at.y"].into_iter().filter(|_| numbers.below(3) == 0);
            let absent = absent.map(text).collect();
            vec![
                Value::Uint(at),
                text(numbers.of(&["start", "stop", ""])),
                Value::Boolean(at.is_multiple_of(2)),
                Value::Vector(absent),
                Value::Struct(vec![Value::Int(at as i64), Value::Int(-(at as i64))]),
            ]
        }
        EXTREMES => {
            let at = at as usize % 6;
            vec![
                Value::Int([i64::MIN, i64::MAX, -1, 0, 1, i64::MIN + 1][at]),
                Value::Uint([0, i64::MAX as u64, 1, i64::MAX as u64 - 1, 1 << 53, (1 << 53) + 1][at]),
                Value::Uint([1 << 63, u64::MAX, 5, 6, 7, 8][at]),
                Value::Real64([f64::MAX, f64::MIN, 5e-324, -0.0, f64::INFINITY, 9_007_199_254_740_992.0][at]),
                Value::Real32(
                    [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 0.1, f32::NEG_INFINITY, 16_777_216.0][at],
                ),
            ]
        }
        WIDE => (0..WIDE_METRICS).map(|metric| Value::Int((at * 100 + metric) as i64)).collect(),
        _ => vec![Value::Int(at as i64)],
    }
}

/// A run of an instance.
struct Run {
    node: &'static str,
    instance: &'static str,
    of: usize,
    run: u128,
    /// Time of the first sample, and number of it.
    start: (u64, u64),
    samples: u64,
    /// Nanoseconds between samples.
    step: u64,
}

const fn run(
    names: (&'static str, &'static str),
    of: usize,
    run: u128,
    start: (u64, u64),
    samples: u64,
    step: u64,
) -> Run {
    Run { node: names.0, instance: names.1, of, run, start, samples, step }
}

/// Two imports. Names differ in their case only, are numbers, or need quotes; the third run of `plant/a` has another type.
const IMPORTS: [&[Run]; 2] = [
    &[
        run(("plant", "a"), PUMP, 1, (NOON, 1), 60, NANOS_PER_SECOND),
        run(("plant", "A"), PUMP, 1, (NOON + NANOS_PER_SECOND / 2, 1), 25, NANOS_PER_SECOND * 3),
        run(("PLANT", "a"), PUMP, 2, (NOON - 10 * NANOS_PER_SECOND, 1), 20, NANOS_PER_SECOND),
        run(("O'Brien", "b%_"), PUMP, 3, (1, 1), 30, 1),
        run(("plant", "a"), PUMP, 4, (NOON + 20 * NANOS_PER_SECOND, 1), 20, NANOS_PER_SECOND),
        run(("plant", "a"), CHANGED_PUMP, 5, (NOON + 50 * NANOS_PER_SECOND, 1), 30, NANOS_PER_SECOND),
        run(("plant", "v"), VALVE, 1, (NOON, 1), 40, NANOS_PER_SECOND),
        run(("5", "10"), VALVE, 6, (NOON, 1), 10, NANOS_PER_SECOND * 2),
        run(("plant", "events"), EVENT, 1, (NOON, 1), 30, NANOS_PER_SECOND * 2),
    ],
    &[
        run(("Kühl\"haus", "ä"), PUMP, 7, (NOON, 100), 40, NANOS_PER_SECOND / 3),
        run(("plant", "a"), PUMP, 8, (NOON + 100 * NANOS_PER_SECOND, 1), 15, 1),
        run(("5", "a"), PUMP, 9, (NOON + 3_600 * NANOS_PER_SECOND, 1), 25, NANOS_PER_SECOND * 60),
        run(("plant", "extremes"), EXTREMES, 10, (0, 1), 6, NANOS_PER_SECOND),
        run(("plant", "wide"), WIDE, 10, (NOON, 1), 5, NANOS_PER_SECOND),
        run(("plant", "late"), LATE_TYPE, 10, ((1 << 63) - 2, 1), 6, 1),
    ],
];

/// Creates the archive.
pub fn create(folder: &Path) {
    let (types, mut numbers) = (types(), Numbers(7));
    for runs in IMPORTS {
        let directory = folder.display().to_string();
        let mut import =
            Import::begin(open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap()).unwrap();
        for run in runs {
            add(&mut import, run, &types[run.of], &mut numbers);
        }
        import.finish().unwrap();
    }
}

fn add(import: &mut Import, run: &Run, probe_type: &Arc<ProbeType>, numbers: &mut Numbers) {
    let series = Series {
        node: run.node.into(),
        instance: run.instance.into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(run.run),
        epoch: Epoch(1),
        probe_type: probe_type.clone(),
    };
    let ((start, mut sequence), mut left) = (run.start, run.samples);
    while left > 0 {
        let count = left.min(1 + numbers.below(7));
        let mut encoder = Encoder::new(probe_type).unwrap();
        for at in 0..count {
            let number = run.samples - left + at;
            // The clock of this run is set back in its middle.
            let is_back = run.run == 4 && number >= 10;
            let time = start + number * run.step - if is_back { 15 * NANOS_PER_SECOND } else { 0 };
            let mut row = Vec::new();
            value::write_row(probe_type, &values(run.of, number, numbers), &mut row);
            encoder.push(time, &row).unwrap();
        }
        let state = u16::from(run.of == PUMP && sequence > 15 && sequence < 40);
        let mut batch = Vec::new();
        encoder.finish(Fields { topic: 1, first_sequence: sequence, state, ..Fields::default() }, &mut batch);
        import.add(&series, &batch).unwrap();
        left -= count;
        sequence += count;
        if run.of == PUMP && left > 0 && numbers.below(4) == 0 {
            let names = (run.node.into(), run.instance.into());
            import.lose(names, series.run, sequence..=sequence + 1, Cause::RingFull);
            sequence += 2;
        }
    }
}
