//! `vectors/native-batch.json`.

use super::{
    cases::{Case, NODE_TIME, cases, metric, probe_type},
    check_file,
    exact::{exact, hex},
    row::row,
};
use oasis_wire::{
    batch::{Batch, BatchError, Encoder, Encoding, Fields, HEADER, stamp},
    reader::Malformed,
    schema::{MetricType, ProbeType},
    value::Value,
};
use serde_json::{Value as Json, json};

fn encode(case: &Case) -> Vec<u8> {
    let probe_type = probe_type(case);
    let mut encoder = Encoder::new(&probe_type).unwrap().with_choice(case.choice);
    case.samples.iter().for_each(|(time, values)| encoder.push(*time, &row(values, &probe_type)).unwrap());
    let fields = Fields { topic: 3, state: 2, first_sequence: 41, node_time: NODE_TIME, dropped_before: 5 };
    let mut bytes = Vec::new();
    encoder.finish(fields, &mut bytes);
    stamp(&mut bytes, 1_000, NODE_TIME + 250_000);
    bytes
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
    check_file("native-batch.json", &file);
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
