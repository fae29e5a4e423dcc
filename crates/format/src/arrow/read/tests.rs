use super::*;
use crate::{
    Gap, SampleWriter, Source,
    arrow::{IPC_INPUT, PARQUET_INPUT, writer::TableWriter},
    input::{InputFormat, RecordedSeries},
};
use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMillisecondArray, UInt64Array, types::Int32Type,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::ProbeType,
    value::Value,
};
use std::{fs, io::Cursor, sync::Arc};
use uuid::Uuid;

const T: u64 = 1_700_000_000_000_000_000;

type Read = (Vec<(RecordedSeries, Vec<Sample>)>, Report);

fn read(format: &InputFormat, bytes: &[u8], options: &InputOptions) -> Result<Read, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.bin");
    fs::write(&path, bytes).unwrap();
    let mut content = Cursor::new(bytes);
    let mut all: Vec<(RecordedSeries, Vec<Sample>)> = Vec::new();
    let report =
        (format.read)(&mut InputFile { path: &path, content: &mut content }, options, &mut |of, batch| {
            let batch = Batch::parse(batch, &of.probe_type)?;
            if all.last().is_none_or(|(last, _)| last != of) {
                all.push((of.clone(), Vec::new()));
            }
            all.last_mut().unwrap().1.extend(batch.samples());
            Ok(())
        })?;
    Ok((all, report))
}

fn refused(format: &InputFormat, bytes: &[u8]) -> String {
    read(format, bytes, &InputOptions::default()).unwrap_err().to_string()
}

fn texts(report: &Report) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}

/// Every kind of metric, and a struct without members.
fn arm() -> Arc<ProbeType> {
    let arm = r#"{
        "name": "Plant::Arm", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "2.1", "doc": "An arm.",
        "metrics": [
            {"name": "time", "type": "uint64", "unit": "By", "doc": "A number."},
            {"name": "mode", "type": "uint8", "kind": "state",
             "enum": {"name": "Mode", "values": [{"name": "IDLE", "value": 0}, {"name": "ON", "value": 2}]}},
            {"name": "nothing", "type": {"struct": {"name": "Nothing", "members": []}}},
            {"name": "points", "type": {"vector": {"struct": {"name": "Point", "members": [
                {"name": "x", "type": "real32"}, {"name": "on", "type": "boolean"}]}}}},
            {"name": "name", "type": "string"}, {"name": "timestamp", "type": "int8"}, {"name": "r", "type": "real64"}
        ]}"#;
    Arc::new(serde_json::from_str(arm).unwrap())
}

fn source(instance: &str) -> Arc<Source> {
    let run = Uuid::from_u128(7);
    let node = "plant".into();
    let kind = ProbeKind::Pushed;
    Arc::new(Source { node, instance: instance.into(), kind, run, epoch: Epoch(1), probe_type: arm() })
}

fn sample(sequence: u64) -> Sample {
    let point = |x| Value::Struct(vec![Value::Real32(x), Value::Boolean(x > 1.0)]);
    let values = vec![
        Value::Uint(u64::MAX - sequence),
        Value::Uint([0, 2, 77][sequence as usize % 3]),
        Value::Struct(Vec::new()),
        Value::Vector((0..sequence % 3).map(|at| point(at as f32 + 0.5)).collect()),
        Value::String(format!("\u{e4}{sequence}")),
        Value::Int(-(sequence as i64)),
        Value::Real64(if sequence == 2 { f64::NEG_INFINITY } else { 0.1 }),
    ];
    Sample { sequence, offset: sequence, time: T - sequence % 2, values }
}

#[test]
fn an_export_comes_back_as_it_was() {
    for (format, is_parquet) in [(&PARQUET_INPUT, true), (&IPC_INPUT, false)] {
        let mut bytes = Vec::new();
        let mut writer =
            if is_parquet { TableWriter::parquet(&mut bytes) } else { TableWriter::stream(&mut bytes) };
        let numbers = Some(4..=8);
        let cause = Cause::Unexplained;
        let run = Uuid::from_u128(7);
        writer.gap(&Gap { node: "plant", instance: "a", run, count: 5, numbers, cause, time: T }).unwrap();
        for instance in ["a", "b"] {
            for sequence in [1, 2, 3, 9, 10] {
                writer.sample(&source(instance), 3, &sample(sequence)).unwrap();
            }
        }
        writer.finish().unwrap();
        drop(writer);
        let (found, report) = read(format, &bytes, &InputOptions::default()).unwrap();
        assert!(report.is_complete() && report.findings.is_empty(), "{report:?}");
        let lost: Vec<_> =
            report.lost.iter().map(|lost| (lost.instance.as_str(), lost.numbers.clone())).collect();
        assert_eq!(lost, if is_parquet { vec![("a", 4..=8)] } else { vec![] });
        for instance in ["a", "b"] {
            let of = found.iter().filter(|(recorded, _)| &*recorded.instance == instance);
            let mut samples = Vec::new();
            for (recorded, more) in of {
                assert_eq!((recorded.node.as_deref(), recorded.run), (Some("plant"), run));
                assert_eq!(recorded.probe_type, arm());
                samples.extend(more.iter().map(|of| (of.sequence, of.time, of.values.clone())));
            }
            let expected =
                [1, 2, 3, 9, 10].map(|sequence| (sequence, sample(sequence).time, sample(sequence).values));
            assert_eq!(samples, expected);
        }
    }
}

fn foreign() -> RecordBatch {
    let times =
        TimestampMillisecondArray::from(vec![1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_001]);
    let names = DictionaryArray::<Int32Type>::from_iter([Some("a"), None, Some("b")]);
    let decimals =
        Decimal128Array::from(vec![125, 7, 10_i128.pow(20) + 1]).with_precision_and_scale(30, 2).unwrap();
    let columns: [(&str, ArrayRef); 6] = [
        ("speed [m/s]", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::INFINITY)]))),
        ("when", Arc::new(times.with_timezone("Europe/Berlin"))),
        ("big", Arc::new(UInt64Array::from(vec![u64::MAX, (1 << 53) + 1, 0]))),
        ("name", Arc::new(names)),
        ("price", Arc::new(decimals)),
        ("raw", Arc::new(BinaryArray::from(vec![&b"x"[..], b"y", b"z"]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn file_of(batches: &[RecordBatch]) -> Vec<u8> {
    let mut file = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| file.write(batch).unwrap());
    file.finish().unwrap();
    file.into_inner().unwrap()
}

fn stream_of(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_table_of_another_program_has_exact_values_and_names_what_it_lacks() {
    for bytes in [stream_of(&[foreign()]), file_of(&[foreign()])] {
        let (found, report) = read(&IPC_INPUT, &bytes, &InputOptions::default()).unwrap();
        let [(recorded, samples)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((recorded.node.as_deref(), &*recorded.instance), (None, "table"));
        assert_eq!(recorded.probe_type.metrics[0].unit.as_deref(), Some("m/s"));
        let times: Vec<_> = samples.iter().map(|of| (of.sequence, of.time - T)).collect();
        assert_eq!(times, [(1, 0), (2, 1_000_000), (3, 1_000_000)]);
        let absent =
            |names: &[&str]| Value::Vector(names.iter().map(|name| Value::String((*name).into())).collect());
        let text = |text: &str| Value::String(text.into());
        assert!(matches!(samples[1].values[0], Value::Real64(real) if real.is_nan()));
        assert_eq!(
            samples[0].values[1..],
            [Value::Uint(u64::MAX), text("a"), Value::Real64(1.25), absent(&[])]
        );
        let second = [Value::Uint((1 << 53) + 1), text(""), Value::Real64(0.07), absent(&["name"])];
        assert_eq!(samples[1].values[1..], second);
        assert!(!report.is_complete());
        assert_eq!(
            texts(&report),
            [
                "times are in the column \"when\": points in time, zone Europe/Berlin",
                "raw: 3 values skipped: Binary is not stored",
                "speed: 1 values absent or null, stored as NaN",
                "name: 1 values absent or null, named in oasis.absent",
                "price: 1 numbers rounded to 64-bit reals",
            ]
        );
    }
}

#[test]
fn times_are_numbers_or_texts_with_a_unit_by_option_name_or_size() {
    let batch = |name: &str, times: ArrayRef| {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        stream_of(&[RecordBatch::try_from_iter([("x", x), (name, times)]).unwrap()])
    };
    let ints = |times: [i64; 2]| Arc::new(Int64Array::from(times.to_vec())) as ArrayRef;
    let reals: ArrayRef = Arc::new(Float64Array::from(vec![1_700_000_000.25, 1_700_000_000.5]));
    let dates: ArrayRef = Arc::new(StringArray::from(vec!["2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"]));
    let format = |name: &str| InputOptions { time_format: Some(name.into()), ..InputOptions::default() };
    let column = |name: &str| InputOptions { time_column: Some(name.into()), ..InputOptions::default() };
    let plain = InputOptions::default;
    for (bytes, options, time) in [
        (batch("time_ms", ints([1_500, 2_000])), plain(), 1_500_000_000),
        (batch("t", ints([1_700_000_000_000_000, 0])), plain(), T),
        (batch("t", ints([1_500, 2_000])), format("us"), 1_500_000),
        (batch("timestamp", reals.clone()), plain(), T + 250_000_000),
        (batch("odd", reals), column("2"), T + 250_000_000),
        (batch("date", dates), plain(), T),
        (batch("odd", ints([1, 2])), InputOptions { rate: Some(2.0), ..plain() }, 0),
    ] {
        assert_eq!(read(&IPC_INPUT, &bytes, &options).unwrap().0[0].1[0].time, time, "{options:?}");
    }
    let error = refused(&IPC_INPUT, &batch("odd", ints([1, 2])));
    assert!(error.starts_with("no column with times: name it with --time-column"), "{error}");
    assert!(error.ends_with("x, odd"), "{error}");
    let early = refused(&IPC_INPUT, &batch("time_s", ints([1, -1])));
    assert!(early.contains("(first: row 2, 1969-12-31T23:59:59Z)"), "{early}");
}

#[test]
fn points_in_time_are_taken_before_numbers_with_a_name_of_times() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![123_456]));
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![1_700_000_000_000]));
    for name in ["time", "when"] {
        let batch =
            RecordBatch::try_from_iter([("timestamp", numbers.clone()), (name, times.clone())]).unwrap();
        let (found, _) = read(&IPC_INPUT, &stream_of(&[batch]), &InputOptions::default()).unwrap();
        assert_eq!(found[0].1[0].time, if name == "time" { T } else { 123_456 * 1_000_000_000 });
    }
}

#[test]
fn columns_of_one_name_become_metrics_of_different_names() {
    let reals = |value: f64| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
    let columns =
        [("t", reals(1.0)), ("speed", reals(2.0)), ("speed [m/s]", reals(3.0)), ("speed_2", reals(4.0))];
    let bytes = stream_of(&[RecordBatch::try_from_iter(columns).unwrap()]);
    let (found, report) = read(&IPC_INPUT, &bytes, &InputOptions::default()).unwrap();
    let metrics = &found[0].0.probe_type.metrics;
    let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["speed", "speed_2", "speed_2_2"]);
    assert_eq!(found[0].1[0].values, [2.0, 3.0, 4.0].map(Value::Real64));
    let text = "speed: is the metric \"speed_2\": another column has its name";
    assert!(texts(&report).contains(&text.to_owned()), "{report:?}");
}

#[test]
fn a_cut_file_is_refused_with_the_place_or_read_to_it() {
    let bytes = stream_of(&[foreign(), foreign()]);
    let cut = &bytes[..bytes.len() - 100];
    let error = refused(&IPC_INPUT, cut);
    assert!(
        error.starts_with("byte ") && error.contains("3 rows are whole") && error.contains("--partial"),
        "{error}"
    );
    let partial = InputOptions { is_partial: true, ..InputOptions::default() };
    let (found, report) = read(&IPC_INPUT, cut, &partial).unwrap();
    assert_eq!(found[0].1.len(), 3);
    assert!(texts(&report).iter().any(|text| text.starts_with("1 parts skipped")), "{report:?}");
    for (format, bytes) in [
        (&PARQUET_INPUT, &b"PAR1"[..]),
        (&PARQUET_INPUT, b""),
        (&IPC_INPUT, b""),
        (&IPC_INPUT, b"ARROW1\0\0"),
    ] {
        assert!(refused(format, bytes).contains(": "), "{bytes:?}");
    }
}

#[test]
fn changed_bytes_are_read_or_refused() {
    let mut parquet = Vec::new();
    let mut writer = TableWriter::parquet(&mut parquet);
    (1..50).for_each(|sequence| writer.sample(&source("a"), 0, &sample(sequence)).unwrap());
    writer.finish().unwrap();
    drop(writer);
    let options = InputOptions { is_partial: true, ..InputOptions::default() };
    let of_ipc = [stream_of(&[foreign()]), file_of(&[foreign()])].map(|bytes| (&IPC_INPUT, bytes));
    for (format, bytes) in [(&PARQUET_INPUT, parquet)].into_iter().chain(of_ipc) {
        for at in (0..bytes.len()).step_by(61) {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = read(format, &changed, &options);
            }
        }
    }
}

#[test]
fn a_length_beyond_the_bound_is_refused_before_memory_is_taken() {
    let mut bytes = stream_of(&[foreign()]);
    bytes[4..8].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    assert!(refused(&IPC_INPUT, &bytes).contains("description of 2147483647 bytes"));
}

#[test]
fn a_file_without_a_schema_before_its_footer_is_read() {
    let mut bytes = file_of(&[foreign(), foreign()]);
    // Polars writes something else there.
    bytes[8..40].fill(0xee);
    let (found, _) = read(&IPC_INPUT, &bytes, &InputOptions::default()).unwrap();
    assert_eq!(found[0].1.len(), 6);
}

#[test]
fn a_footer_with_false_places_or_lengths_is_refused() {
    let bytes = file_of(&[foreign(), foreign()]);
    let footer_bytes = u32::from_le_bytes(bytes[bytes.len() - 10..bytes.len() - 6].try_into().unwrap());
    let footer = bytes.len() - 10 - footer_bytes as usize;
    let blocks: Vec<(usize, i64)> = {
        let of = arrow_ipc::root_as_footer(&bytes[footer..bytes.len() - 10]).unwrap();
        let offsets = of.recordBatches().unwrap().iter().map(|block| block.offset());
        let place =
            |offset: i64| bytes[footer..].windows(8).position(|at| at == offset.to_le_bytes()).unwrap();
        offsets.map(|offset| (footer + place(offset), offset)).collect()
    };
    let [(first, at), (second, _)] = blocks[..] else { panic!("{blocks:?}") };
    // A block has 8 bytes of offset, 4 of the description, 4 of padding, 8 of the body.
    for (place, value, why) in [
        (second, at, "overlap"),
        (first, i64::MAX, "no message is where"),
        (first, -1, "beyond the bounds"),
        (first + 8, i64::from(i32::MAX), "beyond the bounds"),
        (first + 16, 1 << 40, "beyond the bounds"),
        (first + 16, 0, "no message is where"),
    ] {
        let mut changed = bytes.clone();
        changed[place..place + 8].copy_from_slice(&value.to_le_bytes());
        let error = refused(&IPC_INPUT, &changed);
        assert!(error.contains(why), "{why}: {error}");
    }
}
