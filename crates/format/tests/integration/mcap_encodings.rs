//! Exports in CDR and Protocol Buffers come back as they were: values, times, sequence numbers, states and gaps.

use oasis_format::{
    Gap, MessageEncoding, Source, WriteOptions,
    input::{InputFile, InputOptions},
    inputs,
};
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::{MetricType, ProbeType},
    value::{self, Value},
};
use proptest::prelude::*;
use std::{io::Cursor, path::Path, sync::Arc};
use uuid::Uuid;

const BINARY: [MessageEncoding; 2] = [MessageEncoding::Cdr, MessageEncoding::Protobuf];
const RUN: Uuid = Uuid::from_u128(7);

/// Each primitive type, enums, structs with a struct without members, and vectors of all of them.
const METRICS: &str = r#"[
    {"name": "i8", "type": "int8", "enum": {"name": "Mode", "values": [{"name": "run", "value": 5}, {"name": "back", "value": -3}]}},
    {"name": "i16", "type": "int16"}, {"name": "i32", "type": "int32"}, {"name": "i64", "type": "int64"},
    {"name": "u8", "type": "uint8"}, {"name": "u16", "type": "uint16"}, {"name": "u32", "type": "uint32"}, {"name": "u64", "type": "uint64"},
    {"name": "r32", "type": "real32", "unit": "m"}, {"name": "r64", "type": "real64"},
    {"name": "on", "type": "boolean"}, {"name": "said", "type": "string"},
    {"name": "bytes", "type": {"vector": "uint8"}}, {"name": "signed", "type": {"vector": "int8"}},
    {"name": "reals", "type": {"vector": "real64"}}, {"name": "flags", "type": {"vector": "boolean"}},
    {"name": "words", "type": {"vector": "string"}}, {"name": "grid", "type": {"vector": {"vector": {"vector": "int32"}}}},
    {"name": "modes", "type": {"vector": "uint8"}, "enum": {"name": "Other", "values": [{"name": "a", "value": 1}, {"name": "A", "value": 2}]}},
    {"name": "wide", "type": "int64", "enum": {"name": "Wide", "values": [{"name": "far", "value": 99999999999}]}},
    {"name": "nothing", "type": {"struct": {"name": "Nothing", "members": []}}},
    {"name": "path", "type": {"vector": {"struct": {"name": "Point", "members": [
        {"name": "x", "type": "real32"}, {"name": "X", "type": "uint64"}, {"name": "nothing", "type": {"struct": {"name": "Nothing", "members": []}}},
        {"name": "tail", "type": {"vector": {"vector": "uint8"}}}]}}}},
    {"name": "image", "type": {"blob": {"media_type": "image/png", "max_bytes": 20}}},
    {"name": "deep", "type": {"struct": {"name": "Deep", "members": [{"name": "oasis_state", "type": "int8"}, {"name": "said", "type": "string"}]}}}
]"#;

fn probe_type(metrics: &str) -> Arc<ProbeType> {
    let text = format!(
        r#"{{"name": "Plant::Big Hall::tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": {metrics}}}"#
    );
    let probe_type: ProbeType = serde_json::from_str(&text).unwrap();
    probe_type.validate().unwrap();
    Arc::new(probe_type)
}

fn source(probe_type: Arc<ProbeType>) -> Arc<Source> {
    let (node, instance) = ("plant".into(), "tank".into());
    Arc::new(Source { node, instance, kind: ProbeKind::Pushed, run: RUN, epoch: Epoch(1), probe_type })
}

/// Any value of a type.
fn any_value(kind: &MetricType) -> BoxedStrategy<Value> {
    let int = |bits: u32| any::<i64>().prop_map(move |int| Value::Int(int >> (64 - bits)));
    let uint = |bits: u32| any::<u64>().prop_map(move |uint| Value::Uint(uint >> (64 - bits)));
    match kind {
        MetricType::Int8 => int(8).boxed(),
        MetricType::Int16 => int(16).boxed(),
        MetricType::Int32 => int(32).boxed(),
        MetricType::Int64 => int(64).boxed(),
        MetricType::Uint8 => uint(8).boxed(),
        MetricType::Uint16 => uint(16).boxed(),
        MetricType::Uint32 => uint(32).boxed(),
        MetricType::Uint64 => uint(64).boxed(),
        MetricType::Real32 => prop_oneof![any::<f32>(), Just(-0.0)].prop_map(Value::Real32).boxed(),
        MetricType::Real64 => {
            prop_oneof![any::<f64>(), Just(-0.0), Just(f64::NAN)].prop_map(Value::Real64).boxed()
        }
        MetricType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        MetricType::String => "\\PC{0,5}\u{0}?".prop_map(Value::String).boxed(),
        MetricType::Blob(of) => {
            prop::collection::vec(any::<u8>(), 0..=of.max_bytes as usize).prop_map(Value::Blob).boxed()
        }
        MetricType::Vector(element) => {
            prop::collection::vec(any_value(element), 0..4).prop_map(Value::Vector).boxed()
        }
        MetricType::Struct(of) => of
            .members
            .iter()
            .map(|member| any_value(&member.kind))
            .collect::<Vec<_>>()
            .prop_map(Value::Struct)
            .boxed(),
    }
}

fn any_values(probe_type: &ProbeType) -> impl Strategy<Value = Vec<Value>> + use<> {
    probe_type.metrics.iter().map(|metric| any_value(&metric.kind)).collect::<Vec<_>>()
}

/// Sequence number, time, state and row of a sample: rows have all bits of NaN.
type Rows = Vec<(u64, u64, u16, Vec<u8>)>;

fn rows(probe_type: &ProbeType, samples: &[(u16, Sample)]) -> Rows {
    let row = |values: &[Value]| {
        let mut row = Vec::new();
        value::write_row(probe_type, values, &mut row);
        row
    };
    samples.iter().map(|(state, of)| (of.sequence, of.time, *state, row(&of.values))).collect()
}

fn write(encoding: MessageEncoding, probe_type: &Arc<ProbeType>, samples: &[(u16, Sample)]) -> Vec<u8> {
    let format = oasis_format::find("mcap").and_then(|format| format.samples.as_ref()).unwrap();
    let (mut file, source) = (Vec::new(), source(probe_type.clone()));
    let options = WriteOptions { encoding, ..WriteOptions::default() };
    let mut writer = (format.open)(&mut file, &options).unwrap();
    let mut last = 0;
    for (state, sample) in samples {
        if last > 0 && sample.sequence > last + 1 {
            let numbers = last + 1..=sample.sequence - 1;
            let count = numbers.end() - numbers.start() + 1;
            let gap = Gap {
                node: "plant",
                instance: "tank",
                run: RUN,
                count,
                numbers: Some(numbers),
                cause: Cause::RingFull,
                time: sample.time,
            };
            writer.gap(&gap).unwrap();
        }
        last = sample.sequence;
        writer.sample(&source, *state, sample).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    file
}

/// Returns the rows, and the numbers that are missing.
fn read(file: &[u8], probe_type: &ProbeType) -> (Rows, u64) {
    let (mut content, mut found) = (Cursor::new(file), Rows::new());
    let format = inputs::by_name("mcap").unwrap();
    let mut input = InputFile { path: Path::new("a.mcap"), content: &mut content };
    let report = (format.read)(&mut input, &InputOptions::default(), &mut |recorded, batch| {
        assert_eq!(
            (recorded.node.as_deref(), &*recorded.instance, recorded.run),
            (Some("plant"), "tank", RUN)
        );
        assert_eq!(*recorded.probe_type, *probe_type);
        let batch = Batch::parse(batch, probe_type)?;
        let samples: Vec<_> = batch.samples().map(|sample| (batch.header().state, sample)).collect();
        found.extend(rows(probe_type, &samples));
        Ok(())
    })
    .unwrap();
    assert!(report.is_complete(), "{report:?}");
    (found, report.lost.iter().map(|lost| lost.numbers.end() - lost.numbers.start() + 1).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn samples_come_back(
        values in prop::collection::vec(any_values(&probe_type(METRICS)), 1..6),
        sequences in prop::collection::vec((1..4_u64, any::<u64>(), prop_oneof![Just(0), any::<u16>()]), 6),
        start in prop_oneof![Just(0_u64), Just(u64::from(u32::MAX) - 3)],
    ) {
        let probe_type = probe_type(METRICS);
        let mut sequence = start;
        let samples: Vec<_> = values.into_iter().zip(sequences).map(|(values, (step, time, state))| {
            sequence += step;
            (state, Sample { sequence, offset: 0, time, values })
        }).collect();
        let missing = sequence - samples[0].1.sequence + 1 - samples.len() as u64;
        for encoding in BINARY {
            let file = write(encoding, &probe_type, &samples);
            prop_assert_eq!(read(&file, &probe_type), (rows(&probe_type, &samples), missing), "{:?}", encoding);
        }
    }
}

#[test]
fn types_beyond_an_encoding_are_refused_with_the_remedy() {
    let deep = (0..12).fold("\"uint8\"".to_owned(), |of, _| format!("{{\"vector\": {of}}}"));
    let probe_type = probe_type(&format!("[{{\"name\": \"deep\", \"type\": {deep}}}]"));
    let sample = Sample { sequence: 1, offset: 0, time: 1, values: vec![Value::Vector(Vec::new())] };
    let format = oasis_format::find("mcap").and_then(|format| format.samples.as_ref()).unwrap();
    for encoding in BINARY {
        let mut file = Vec::new();
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        let mut writer = (format.open)(&mut file, &options).unwrap();
        let error = writer.sample(&source(probe_type.clone()), 0, &sample).unwrap_err().to_string();
        assert!(error.contains("cannot have messages of Plant::Big Hall::tank"), "{error}");
        assert!(error.ends_with("use --encoding json"), "{error}");
    }
}
