//! An archive with samples of every type, made without a DAC.

use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, Series};
use oasis_wire::{
    batch::{Encoder, Fields},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::ProbeType,
    value::{self, Value},
};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// A sample that was put into it.
#[derive(Debug, Clone)]
pub struct Put {
    pub sequence: u64,
    pub time: u64,
    pub state: u16,
    pub values: Vec<Value>,
    pub probe_type: Arc<ProbeType>,
}

/// The archive, and its samples by node and instance.
pub struct Plant {
    pub archive: PathBuf,
    pub samples: BTreeMap<(String, String), Vec<Put>>,
}

/// As every door and format writes it in JSON.
pub fn json_of(put: &Put) -> Json {
    let mut metrics = value::to_json(&put.probe_type, &put.values);
    if put.state != 0 {
        metrics.insert("oasis.state".into(), put.state.into());
    }
    metrics.into()
}

/// The same with the names of enums, as tables have them.
#[cfg(feature = "arrow")]
pub fn named(put: &Put) -> Json {
    let mut metrics = value::to_json(&put.probe_type, &put.values);
    let name = |value: &mut Json| {
        *value = match value.as_i64().unwrap() {
            0 => "IDLE".into(),
            5 => "RUN".into(),
            -3 => "BACK".into(),
            other => other.to_string().into(),
        };
    };
    metrics.get_mut("mode").map(name);
    metrics.get_mut("modes").into_iter().flat_map(|modes| modes.as_array_mut().unwrap()).for_each(name);
    metrics.into()
}

fn tank() -> ProbeType {
    let member = |name: &str, kind: Json| json!({"name": name, "type": kind});
    let point = json!({"struct": {"name": "Point", "members": [member("x", json!("real32")), member("y", json!("real64"))]}});
    let deep = json!({"struct": {"name": "Deep", "members": [member("at", point.clone()), member("list", json!({"vector": "int16"}))]}});
    let mode = json!({"name": "Mode", "values": [{"name": "IDLE", "value": 0}, {"name": "RUN", "value": 5}, {"name": "BACK", "value": -3}]});
    serde_json::from_value(json!({
        "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.2", "doc": "A tank.",
        "metrics": [
            {"name": "level", "type": "real64", "unit": "m", "doc": "How full."},
            {"name": "flow", "type": "real32"},
            {"name": "total", "type": "uint64"},
            {"name": "least", "type": "int64"},
            {"name": "mode", "type": "int8", "enum": mode},
            {"name": "open", "type": "boolean"},
            {"name": "said", "type": "string"},
            {"name": "deep", "type": deep},
            {"name": "path", "type": {"vector": point}},
            {"name": "modes", "type": {"vector": "int8"}, "enum": mode},
            {"name": "small", "type": "uint8"}, {"name": "middle", "type": "uint16"}, {"name": "wide", "type": "uint32"},
            {"name": "short", "type": "int16"}, {"name": "long", "type": "int32"},
        ],
    }))
    .unwrap()
}

fn tank_values(number: u64) -> Vec<Value> {
    let odd = number % 2 == 1;
    let level = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, -0.0][number as usize % 5];
    let point = |x: f32| Value::Struct(vec![Value::Real32(x), Value::Real64(f64::from(x) / 3.0)]);
    let texts = ["=1+1", "plain, \"quoted\"\nline", "\u{202e}right to left", "<script>alert(1)</script>", ""];
    vec![
        Value::Real64(level),
        Value::Real32(0.1 * number as f32),
        Value::Uint(u64::MAX - number),
        Value::Int(i64::MIN + number as i64),
        Value::Int([0, 5, -3, 77][number as usize % 4]),
        Value::Boolean(odd),
        Value::String(texts[number as usize % texts.len()].into()),
        Value::Struct(vec![point(number as f32), Value::Vector(vec![Value::Int(-1); number as usize % 3])]),
        Value::Vector((0..number % 4).map(|x| point(x as f32)).collect()),
        Value::Vector(vec![Value::Int(5), Value::Int(9)]),
        Value::Uint(number % 256),
        Value::Uint(65_535),
        Value::Uint(4_294_967_295),
        Value::Int(-32_768),
        Value::Int(-2_147_483_648),
    ]
}

fn flag() -> ProbeType {
    serde_json::from_value(json!({
        "name": "Plant::\"Flag\"", "uuid": "6c3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0",
        "metrics": [{"name": "=on, \"off\"", "type": "boolean"}, {"name": "time", "type": "uint32"}],
    }))
    .unwrap()
}

/// Makes it: a tank with every type in two runs and with gaps, and one whose names are meant to hurt.
pub fn plant(folder: &Path) -> Plant {
    let archive = folder.join("archive");
    let mut import = begin(&archive);
    let mut samples = BTreeMap::new();
    let tank = Arc::new(tank());
    let second = 1_000_000_000;
    let tank_runs = [
        // Numbers 11 to 13 and 15 are missing, the last one without a known cause; the second run begins anew, and beyond 32 bits.
        (1_u128, vec![(1..11, 0), (14..15, 7), (16..21, 0)]),
        (2, vec![(u64::from(u32::MAX) - 3..u64::from(u32::MAX) + 5, 0)]),
    ];
    let mut put = Vec::new();
    for (run, batches) in tank_runs {
        for (numbers, state) in batches {
            let of: Vec<_> = numbers
                .map(|sequence| Put {
                    sequence,
                    time: (put.len() as u64 + sequence % 1_000) * second / 10 + run as u64 * 200 * second,
                    state,
                    values: tank_values(sequence),
                    probe_type: tank.clone(),
                })
                .collect();
            add(&mut import, ("plant", "tank"), run, &of);
            put.extend(of);
        }
    }
    let lose = |import: &mut Import, numbers, cause| {
        import.lose(("plant".into(), "tank".into()), Uuid::from_u128(1), numbers, cause);
    };
    lose(&mut import, 11..=12, Cause::BeforeEpoch);
    lose(&mut import, 13..=13, Cause::RingFull);
    lose(&mut import, 21..=27, Cause::NodeRestart);
    samples.insert(("plant".to_owned(), "tank".to_owned()), put);

    let hostile = ("<b>\"=1+1\u{202e}".to_owned(), "a/b'; DROP TABLE x; --".to_owned());
    let flag = Arc::new(flag());
    let of: Vec<_> = (1..200).map(|sequence| flagged(sequence, &flag)).collect();
    of.chunks(60).for_each(|batch| add(&mut import, (&hostile.0, &hostile.1), 9, batch));
    samples.insert(hostile, of);
    import.finish().unwrap();
    Plant { archive, samples }
}

/// An archive with numbers 11 to 20 of a flag, of which it is known why 3 to 10 are missing.
pub fn late(folder: &Path) -> PathBuf {
    let archive = folder.join("archive");
    let mut import = begin(&archive);
    let flag = Arc::new(flag());
    let of: Vec<_> = (11..21).map(|sequence| flagged(sequence, &flag)).collect();
    add(&mut import, ("plant", "flag"), 1, &of);
    import.lose(("plant".into(), "flag".into()), Uuid::from_u128(1), 3..=10, Cause::BeforeEpoch);
    import.finish().unwrap();
    archive
}

fn begin(archive: &Path) -> Import {
    let directory = archive.to_str().unwrap().to_owned();
    let opened = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap();
    Import::begin(opened).unwrap()
}

fn flagged(sequence: u64, flag: &Arc<ProbeType>) -> Put {
    Put {
        sequence,
        time: sequence * 1_000_000_000 / 7,
        state: 0,
        values: vec![Value::Boolean(sequence.is_multiple_of(3)), Value::Uint(sequence)],
        probe_type: flag.clone(),
    }
}

fn add(import: &mut Import, (node, instance): (&str, &str), run: u128, samples: &[Put]) {
    let probe_type = samples[0].probe_type.clone();
    let series = Series {
        node: node.into(),
        instance: instance.into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(run),
        epoch: Epoch(0),
        probe_type: probe_type.clone(),
    };
    let mut encoder = Encoder::new(&probe_type).unwrap();
    let mut row = Vec::new();
    for sample in samples {
        value::write_row(&probe_type, &sample.values, &mut row);
        encoder.push(sample.time, &row).unwrap();
    }
    let fields = Fields { first_sequence: samples[0].sequence, state: samples[0].state, ..Fields::default() };
    let mut batch = Vec::new();
    encoder.finish(fields, &mut batch);
    import.add(&series, &batch).unwrap();
}
