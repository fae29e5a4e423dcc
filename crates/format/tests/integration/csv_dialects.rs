//! Values, times and units of a CSV file come back from each dialect.

use oasis_format::{
    CsvDialect, CsvOptions, Source, WriteOptions,
    input::{InputFile, InputOptions},
};
use oasis_wire::{
    batch::{Batch, Sample},
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::ProbeType,
    value::Value,
};
use proptest::prelude::*;
use std::{io::Cursor, path::Path, sync::Arc};
use uuid::Uuid;

const TIME_FORMATS: [&str; 6] = ["iso", "s", "ms", "us", "ns", "%d.%m.%Y %H:%M:%S"];

fn source() -> Arc<Source> {
    let probe_type = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [
        {"name": "level", "type": "real64", "unit": "m"}, {"name": "flow", "type": "real32", "unit": "[degF]"},
        {"name": "total", "type": "int64"}, {"name": "ticks", "type": "uint64", "unit": "m/s2"},
        {"name": "on", "type": "boolean"}, {"name": "text", "type": "string"}]}"#;
    Arc::new(Source {
        node: "plant".into(),
        instance: "tank; 1".into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(7),
        epoch: Epoch(1),
        probe_type: Arc::new(serde_json::from_str(probe_type).unwrap()),
    })
}

fn write(options: CsvOptions<'_>, samples: &[Sample]) -> Vec<u8> {
    let format = oasis_format::find("csv").and_then(|format| format.samples.as_ref()).unwrap();
    let options = WriteOptions { dialect: CsvDialect::new(options).unwrap(), ..WriteOptions::default() };
    let (mut file, source) = (Vec::new(), source());
    let mut writer = (format.open)(&mut file, &options).unwrap();
    samples.iter().for_each(|sample| writer.sample(&source, 3, sample).unwrap());
    writer.finish().unwrap();
    drop(writer);
    file
}

fn read(file: &[u8], options: &InputOptions) -> (Arc<ProbeType>, Vec<Sample>) {
    let format = oasis_format::inputs::find(Path::new("a.csv"), &mut &*file).unwrap().unwrap();
    let mut found = (Arc::new(source().probe_type.as_ref().clone()), Vec::new());
    let mut content = Cursor::new(file);
    let mut input = InputFile { path: Path::new("a.csv"), content: &mut content };
    let report = (format.read)(&mut input, options, &mut |recorded, batch| {
        let batch = Batch::parse(batch, &recorded.probe_type)?;
        assert_eq!(batch.header().state, 3);
        found.1.extend(batch.samples());
        found.0 = recorded.probe_type.clone();
        Ok(())
    });
    assert!(report.unwrap().is_complete());
    found
}

/// A number as text with all digits, whatever its type: NaN is equal to NaN, and whole numbers may be reals.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => uint.to_string(),
        // The text of a number has no type: a real of 32 bits comes back as one of 64 with the same digits.
        Value::Real32(real) => shown(&Value::Real64(real.to_string().parse().unwrap())),
        Value::Real64(real) if real.abs() < 1e20 && real.abs() > 1e15 => format!("{real:.0}"),
        Value::Real64(real) => real.to_string(),
        other => format!("{other:?}"),
    }
}

fn rows(samples: &[Sample]) -> Vec<(u64, u64, Vec<String>)> {
    samples.iter().map(|of| (of.sequence, of.time, of.values.iter().map(shown).collect())).collect()
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let real = || prop_oneof![any::<f64>(), Just(f64::NAN), Just(f64::NEG_INFINITY), Just(-0.0)];
    let value = (real(), any::<f32>(), any::<i64>(), any::<u64>(), any::<bool>(), "t[ -~\u{e4}\n\r]{0,9}");
    let sample = (value, any::<u64>()).prop_map(|((level, flow, total, ticks, on, text), time)| Sample {
        sequence: 1,
        offset: 0,
        time,
        values: vec![
            Value::Real64(level),
            Value::Real32(flow),
            Value::Int(total),
            Value::Uint(ticks),
            Value::Boolean(on),
            Value::String(text),
        ],
    });
    prop::collection::vec(sample, 1..20).prop_map(|mut samples| {
        (1..).zip(&mut samples).for_each(|(sequence, sample)| sample.sequence = sequence * 2);
        samples
    })
}

proptest! {
    #[test]
    fn values_and_times_come_back(
        samples in samples(),
        delimiter in prop::sample::select(&b",;\t| "[..]),
        has_decimal_comma in any::<bool>(),
        time_format in prop::sample::select(&TIME_FORMATS[..]),
        has_units in any::<bool>(),
    ) {
        prop_assume!(!(has_decimal_comma && delimiter == b','));
        let time_format = Some(time_format);
        let options = CsvOptions { delimiter: Some(delimiter), has_decimal_comma, time_format, has_units };
        let file = write(options, &samples);
        let named = InputOptions {
            delimiter: Some(delimiter),
            decimal_comma: Some(has_decimal_comma),
            has_header: Some(true),
            ..InputOptions::default()
        };
        let (_, found) = read(&file, &named);
        prop_assert_eq!(rows(&found), rows(&samples), "{}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn each_dialect_is_found_by_content() {
    let samples: Vec<_> = (1..4_u64)
        .map(|at| Sample {
            sequence: at,
            offset: at,
            time: 1_700_000_000_000_000_000 + at,
            values: vec![
                Value::Real64(at as f64 + 0.1),
                Value::Real32(-1.5),
                Value::Int(i64::MIN),
                Value::Uint(u64::MAX),
                Value::Boolean(true),
                Value::String("a, b; c".into()),
            ],
        })
        .collect();
    for (delimiter, has_decimal_comma) in
        [(None, false), (None, true), (Some(b'\t'), false), (Some(b'\t'), true), (Some(b'|'), true)]
    {
        for time_format in TIME_FORMATS {
            let time_format = Some(time_format);
            let options = CsvOptions { delimiter, has_decimal_comma, time_format, has_units: true };
            let file = write(options, &samples);
            let (probe_type, found) = read(&file, &InputOptions::default());
            assert_eq!(rows(&found), rows(&samples), "{options:?}");
            let units: Vec<_> = probe_type.metrics.iter().filter_map(|of| of.unit.as_deref()).collect();
            assert_eq!(units, ["m", "[degF]", "m/s2"], "{options:?}");
        }
    }
}
