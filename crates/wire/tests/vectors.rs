//! `vectors/native-batch.json`: made by our encoder, reviewed, read by every language's tests. This test fails when the encoder no
//! longer makes the same bytes; `OASIS_UPDATE_VECTORS=1` writes the file anew.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_wire::{
    batch::{Batch, BatchError, Choice, Encoder, Encoding, Fields, HEADER, stamp},
    reader::Malformed,
    schema::{Metric, MetricType, ProbeType, StructType},
    value::{RowWriter, Value},
};
use serde_json::{Value as Json, json};
use std::{fs, path::PathBuf};

const NODE_TIME: u64 = 1_763_683_200_000_000_000;

struct Case {
    name: &'static str,
    metrics: Vec<(&'static str, MetricType)>,
    /// Time and values.
    samples: Vec<(u64, Vec<Value>)>,
    choice: Choice,
    /// What the encoder must choose, so that each encoding is covered on purpose.
    encodings: &'static str,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/native-batch.json")
}

fn metric(name: &str, kind: MetricType) -> Metric {
    Metric { name: name.into(), kind, doc: None, unit: None, behaviour: None, label: None }
}

fn structure(name: &str, members: &[(&str, MetricType)]) -> MetricType {
    let members = members.iter().map(|(name, kind)| metric(name, kind.clone())).collect();
    MetricType::Struct(StructType { name: name.into(), members })
}

fn probe_type(case: &Case) -> ProbeType {
    ProbeType {
        name: "Vectors::Probe".into(),
        uuid: uuid::uuid!("3f0f7d9e-6f0f-4f0c-9a55-0a1c4a0b7d11"),
        version: "1.0".into(),
        doc: None,
        metrics: case.metrics.iter().map(|(name, kind)| metric(name, kind.clone())).collect(),
    }
}

/// Samples a millisecond apart, up to 100 us late.
fn each_ms(rows: Vec<Vec<Value>>) -> Vec<(u64, Vec<Value>)> {
    let last = rows.len() as u64;
    let time = |index: u64| NODE_TIME - (last - index) * 1_000_000 + index * index * 7919 % 100_000;
    rows.into_iter().enumerate().map(|(index, row)| (time(index as u64), row)).collect()
}

fn column(values: impl IntoIterator<Item = Value>) -> Vec<(u64, Vec<Value>)> {
    each_ms(values.into_iter().map(|value| vec![value]).collect())
}

fn cases() -> Vec<Case> {
    use MetricType::{
        Boolean, Int8, Int16, Int32, Int64, Real32, Real64, String as Text, Uint8, Uint16, Uint32, Uint64,
        Vector,
    };
    use Value::{Int, Uint};
    let smallest = |name, metrics, samples, encodings| Case {
        name,
        metrics,
        samples,
        choice: Choice::Smallest,
        encodings,
    };
    let one = |name, kind, values: Vec<Value>, encodings| {
        smallest(name, vec![("value", kind)], column(values), encodings)
    };
    let text = |text: &str| Value::String(text.into());
    let port = structure("Vectors::Port", &[("name", Text), ("bytes", Uint64), ("up", Boolean)]);
    let port_value = |name: &str, bytes, up| Value::Struct(vec![text(name), Uint(bytes), Value::Boolean(up)]);
    let all_fixed = || {
        let kinds = [
            ("int8", Int8),
            ("int64", Int64),
            ("uint8", Uint8),
            ("int16", Int16),
            ("real64", Real64),
            ("uint16", Uint16),
            ("int32", Int32),
            ("boolean", Boolean),
            ("uint32", Uint32),
            ("real32", Real32),
            ("uint64", Uint64),
        ];
        let low = vec![
            Int(-128),
            Int(i64::MIN),
            Uint(0),
            Int(-32_768),
            Value::Real64(-0.0),
            Uint(0),
            Int(i32::MIN.into()),
            Value::Boolean(false),
            Uint(0),
            Value::Real32(f32::NEG_INFINITY),
            Uint(0),
        ];
        let high = vec![
            Int(127),
            Int(i64::MAX),
            Uint(255),
            Int(32_767),
            Value::Real64(f64::INFINITY),
            Uint(65_535),
            Int(i32::MAX.into()),
            Value::Boolean(true),
            Uint(u32::MAX.into()),
            Value::Real32(f32::MAX),
            Uint(u64::MAX),
        ];
        (kinds.to_vec(), each_ms(vec![low.clone(), high, low]))
    };
    vec![
        smallest("a probe without metrics", vec![], each_ms(vec![vec![]; 5]), "rice"),
        smallest("one sample", vec![("value", Uint64)], column([Uint(8_011_350)]), "constant constant"),
        one("a counter that stands still", Uint64, vec![Uint(28); 70], "rice constant"),
        one(
            "a counter that moves now and then",
            Uint64,
            (0..64).map(|i| Uint(1000 + i / 10 + i / 25 * 2)).collect(),
            "rice delta",
        ),
        one(
            "a counter that resets",
            Uint64,
            (0..40).map(|i| Uint(if i < 20 { u64::MAX } else { i / 8 })).collect(),
            "rice delta",
        ),
        one(
            "steps of one, two and minus one",
            Int32,
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2].map(Int).into(),
            "rice delta",
        ),
        one(
            "a value that moves a little",
            Int32,
            (0..50).map(|i| Int(500 + i * 20 + i * i % 7)).collect(),
            "rice rice",
        ),
        one(
            "a rice residual beyond its quotient",
            Uint64,
            (0..200).map(|i| Uint(i * 1000 + i * i % 401 + u64::from(i == 120) * (1 << 20))).collect(),
            "rice rice",
        ),
        one(
            "integers without a pattern",
            Uint8,
            (0..16_u64).map(|i| Uint(i * i * i * 37 % 251)).collect(),
            "rice plain",
        ),
        one(
            "extremes of 64 bits",
            Int64,
            vec![Int(i64::MIN), Int(i64::MAX), Int(-1), Int(0), Int(i64::MIN)],
            "rice delta",
        ),
        one("numbers beyond 2^53", Uint64, (0..20).map(|i| Uint((1 << 60) + i / 7)).collect(), "rice delta"),
        one("reals that stay", Real64, vec![Value::Real64(21.5); 30], "rice xor"),
        one(
            "reals with few digits",
            Real64,
            (0..20).map(|i| Value::Real64(f64::from(i / 3) * 0.5)).collect(),
            "rice xor",
        ),
        one(
            "reals without a pattern",
            Real64,
            (1..9).map(|i| Value::Real64(1.0 / f64::from(i * i + 1))).collect(),
            "rice plain",
        ),
        one(
            "special reals",
            Real64,
            [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX]
                .map(Value::Real64)
                .into(),
            "rice xor",
        ),
        one(
            "special short reals",
            Real32,
            [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, 0.1, f32::MAX]
                .map(Value::Real32)
                .into(),
            "rice xor",
        ),
        one("booleans", Boolean, (0..30).map(|i| Value::Boolean(i / 12 == 1)).collect(), "rice delta"),
        one(
            "texts",
            Text,
            ["", "ready", "Grüße, 東京 🚀", "line\nfeed \"and\" quotes\\", "\0"].map(text).into(),
            "rice rows",
        ),
        one(
            "vectors",
            Vector(Box::new(Int16)),
            vec![Value::Vector(vec![]), Value::Vector([1, -2, 300].map(Int).into())],
            "delta rows",
        ),
        one(
            "structs in vectors in vectors",
            Vector(Box::new(Vector(Box::new(port.clone())))),
            vec![
                Value::Vector(vec![]),
                Value::Vector(vec![
                    Value::Vector(vec![]),
                    Value::Vector(vec![port_value("eth0", 3193, true), port_value("", u64::MAX, false)]),
                ]),
            ],
            "delta rows",
        ),
        smallest(
            "columns of all shapes together",
            vec![("count", Uint32), ("port", port), ("ratio", Real32)],
            each_ms(
                (0..6)
                    .map(|i| vec![Uint(i * 5), port_value("p", i, i % 2 == 0), Value::Real32(i as f32 / 4.0)])
                    .collect(),
            ),
            "rice rice rows xor",
        ),
        {
            let (metrics, samples) = all_fixed();
            Case {
                name: "plain, each width aligned",
                metrics,
                samples,
                choice: Choice::Plain,
                encodings: "plain plain plain plain plain plain plain plain plain plain plain plain",
            }
        },
        {
            let (metrics, samples) = all_fixed();
            smallest("each type from its least to its greatest value", metrics, samples, "*")
        },
        smallest(
            "times that go back",
            vec![],
            vec![
                (NODE_TIME, vec![]),
                (NODE_TIME - 5_000_000_000, vec![]),
                (0, vec![]),
                (u64::MAX >> 1, vec![]),
            ],
            "*",
        ),
    ]
}

fn row(values: &[Value]) -> Vec<u8> {
    fn put(value: &Value, kind: &MetricType, to: &mut RowWriter<'_>) {
        match (value, kind) {
            (Value::Int(v), MetricType::Int8) => to.i8(*v as i8),
            (Value::Int(v), MetricType::Int16) => to.i16(*v as i16),
            (Value::Int(v), MetricType::Int32) => to.i32(*v as i32),
            (Value::Int(v), _) => to.i64(*v),
            (Value::Uint(v), MetricType::Uint8) => to.u8(*v as u8),
            (Value::Uint(v), MetricType::Uint16) => to.u16(*v as u16),
            (Value::Uint(v), MetricType::Uint32) => to.u32(*v as u32),
            (Value::Uint(v), _) => to.u64(*v),
            (Value::Real32(v), _) => to.f32(*v),
            (Value::Real64(v), _) => to.f64(*v),
            (Value::Boolean(v), _) => to.boolean(*v),
            (Value::String(v), _) => to.string(v),
            (Value::Vector(elements), MetricType::Vector(kind)) => {
                to.vector(elements.len());
                elements.iter().for_each(|element| put(element, kind, to));
            }
            (Value::Struct(members), MetricType::Struct(of)) => {
                members.iter().zip(&of.members).for_each(|(value, member)| put(value, &member.kind, to));
            }
            _ => panic!("{value:?} is no {kind:?}"),
        }
    }
    let mut bytes = Vec::new();
    KINDS.with_borrow(|kinds| {
        values.iter().zip(kinds).for_each(|(value, kind)| put(value, kind, &mut RowWriter::new(&mut bytes)))
    });
    bytes
}

thread_local! {
    /// Types of the case at hand.
    static KINDS: std::cell::RefCell<Vec<MetricType>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn encode(case: &Case) -> Vec<u8> {
    KINDS.set(case.metrics.iter().map(|(_, kind)| kind.clone()).collect());
    let mut encoder = Encoder::new(&probe_type(case)).unwrap().with_choice(case.choice);
    case.samples.iter().for_each(|(time, values)| encoder.push(*time, &row(values)).unwrap());
    let fields = Fields { topic: 3, state: 2, first_sequence: 41, node_time: NODE_TIME, dropped_before: 5 };
    let mut bytes = Vec::new();
    encoder.finish(fields, &mut bytes);
    stamp(&mut bytes, 1_000, NODE_TIME + 250_000);
    bytes
}

/// Numbers of 64 bits as text, reals as the hexadecimal digits of their bits: no language's JSON may round them.
fn exact(value: &Value) -> Json {
    match value {
        Value::Int(value) => json!(value.to_string()),
        Value::Uint(value) => json!(value.to_string()),
        Value::Real32(value) => json!({"bits": format!("{:08x}", value.to_bits())}),
        Value::Real64(value) => json!({"bits": format!("{:016x}", value.to_bits())}),
        Value::Boolean(value) => json!(value),
        Value::String(text) => json!({"text": text}),
        Value::Vector(values) | Value::Struct(values) => values.iter().map(exact).collect(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encodings(bytes: &[u8], columns: usize) -> Vec<&'static str> {
    let names =
        [Encoding::Plain, Encoding::Delta, Encoding::Rice, Encoding::Xor, Encoding::Rows, Encoding::Constant];
    let name = |code: &u8| match names.iter().find(|encoding| **encoding as u8 == *code).unwrap() {
        Encoding::Plain => "plain",
        Encoding::Delta => "delta",
        Encoding::Rice => "rice",
        Encoding::Xor => "xor",
        Encoding::Rows => "rows",
        Encoding::Constant => "constant",
    };
    bytes[HEADER..HEADER + columns].iter().map(name).collect()
}

fn case_to_json(case: &Case) -> Json {
    let bytes = encode(case);
    let sample = |(time, values): &(u64, Vec<Value>)| json!({"time": time.to_string(), "values": values.iter().map(exact).collect::<Vec<_>>()});
    json!({
        "name": case.name,
        "schema": probe_type(case),
        "header": {"state": 2, "topic": 3, "first_sequence": "41", "offset": "1000", "node_time": NODE_TIME.to_string(),
            "dac_time": (NODE_TIME + 250_000).to_string(), "dropped_before": 5, "count": case.samples.len(), "columns": case.metrics.len() + 1},
        "encodings": encodings(&bytes, case.metrics.len() + 1),
        "samples": case.samples.iter().map(sample).collect::<Vec<_>>(),
        "bytes": hex(&bytes),
    })
}

/// Bytes that must be refused, against the schema of one `uint8` metric.
fn invalid() -> Vec<(&'static str, Vec<u8>)> {
    let value = |encodings: [u8; 2], columns: &[u8]| {
        let mut bytes = vec![0; HEADER];
        (bytes[0], bytes[1], bytes[4], bytes[44], bytes[46]) = (1, 1, 3, 4, 2);
        bytes.extend_from_slice(&encodings);
        bytes.extend_from_slice(columns);
        bytes
    };
    let good = value([5, 5], &[0, 2]);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    vec![
        ("empty", vec![]),
        ("header cut", good[..47].to_vec()),
        ("directory cut", good[..49].to_vec()),
        ("column cut", good[..51].to_vec()),
        ("bytes left over", [&good[..], &[0]].concat()),
        ("another kind", with(0, 2)),
        ("another version", with(1, 2)),
        ("no samples", with(44, 0)),
        ("too many columns", with(46, 3)),
        ("unknown encoding", with(49, 6)),
        ("encoding of another type", with(49, 3)),
        ("time as rows", with(48, 4)),
        ("value beyond its type", value([5, 5], &[0, 0x80, 4])),
        ("negative value of an unsigned type", value([5, 5], &[0, 1])),
        (
            "varint of eleven bytes",
            value([5, 5], &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]),
        ),
        (
            "varint of more than 64 bits",
            value([5, 5], &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
        ),
        ("delta run past the end", value([5, 1], &[0, 2, 16])),
        ("delta run to the end with a step behind it", value([5, 1], &[0, 2, 13])),
        ("rice parameter over 56", value([5, 2], &[0, 2, 0, 57, 0, 0])),
        ("rice bits cut", value([5, 2], &[0, 2, 0, 9, 0xff])),
        ("rice bits left over", value([5, 2], &[0, 2, 0, 0, 0x80])),
        ("plain padding cut", value([5, 0], &[0, 1, 2, 3])),
    ]
}

#[test]
fn the_encoder_makes_the_vectors() {
    let valid: Vec<Json> = cases().iter().map(case_to_json).collect();
    let refused: Vec<Json> =
        invalid().iter().map(|(name, bytes)| json!({"name": name, "bytes": hex(bytes)})).collect();
    let file = json!({"valid": valid, "invalid": {"schema": {"metrics": [{"name": "value", "type": "uint8"}]}, "cases": refused}});
    let made = serde_json::to_string_pretty(&file).unwrap() + "\n";
    if std::env::var_os("OASIS_UPDATE_VECTORS").is_some() {
        fs::write(path(), &made).unwrap();
    }
    let kept = fs::read_to_string(path()).unwrap_or_default();
    assert!(
        kept == made,
        "vectors/native-batch.json differs from what the encoder makes: OASIS_UPDATE_VECTORS=1, and review the change"
    );
}

#[test]
fn each_vector_has_the_encodings_it_is_there_for() {
    let chosen = |case: &Case| encodings(&encode(case), case.metrics.len() + 1).join(" ");
    let other: Vec<_> = cases()
        .iter()
        .filter(|case| case.encodings != "*" && chosen(case) != case.encodings)
        .map(|case| format!("{}: {}", case.name, chosen(case)))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn every_vector_decodes_to_its_samples() {
    for case in cases() {
        let batch = Batch::parse(&encode(&case), &probe_type(&case)).unwrap();
        let header = batch.header();
        assert_eq!((header.topic, header.state, header.first_sequence, header.offset), (3, 2, 41, 1_000));
        assert_eq!(batch.samples().len(), case.samples.len());
        for (index, (sample, (time, values))) in batch.samples().zip(&case.samples).enumerate() {
            assert_eq!(
                (sample.time, sample.sequence, sample.offset),
                (*time, 41 + index as u64, 1_000 + index as u64),
                "{}",
                case.name
            );
            // As bits: NaN is not equal to itself.
            assert_eq!(
                sample.values.iter().map(exact).collect::<Vec<_>>(),
                values.iter().map(exact).collect::<Vec<_>>(),
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn every_invalid_vector_is_refused() {
    let schema = ProbeType { metrics: vec![metric("value", MetricType::Uint8)], ..probe_type(&cases()[0]) };
    for (name, bytes) in invalid() {
        assert!(Batch::parse(&bytes, &schema).is_err(), "{name}");
    }
    let refusal = |name: &str| {
        let (_, bytes) = invalid().into_iter().find(|(known, _)| *known == name).unwrap();
        Batch::parse(&bytes, &schema).unwrap_err()
    };
    assert_eq!(refusal("bytes left over"), BatchError::Leftover(1));
    assert_eq!(refusal("another version"), BatchError::Version(2));
    assert_eq!(refusal("delta run past the end"), BatchError::Malformed(Malformed::Run { at: 52 }));
}
