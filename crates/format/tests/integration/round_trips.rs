//! An export in each format comes back with equal samples, sequence numbers and gaps.

use oasis_format::{
    Gap, Source, WriteOptions,
    input::{InputFile, InputOptions, Report},
    inputs,
};
use oasis_wire::{
    batch::{Batch, Sample},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::Epoch,
    value::Value,
};
use std::{collections::BTreeMap, fs, fs::File, sync::Arc};
use uuid::Uuid;

const RUN: Uuid = Uuid::from_u128(0x0b3c_9f0e_5d0c_4a7e_9a51_6f1c_0e6a_2d11);
const T: u64 = 1_700_000_000_123_456_789;

/// Node, instance and run, with number, time and values of each sample.
type Instances = BTreeMap<(Option<String>, String, Uuid), Vec<(u64, u64, Vec<Value>)>>;

fn source(instance: &str) -> Arc<Source> {
    let probe_type = r#"{"name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [
        {"name": "level", "type": "real64", "unit": "m"}, {"name": "on", "type": "boolean"},
        {"name": "text", "type": "string"}, {"name": "big", "type": "int64"}]}"#;
    let probe_type = Arc::new(serde_json::from_str(probe_type).unwrap());
    let node = "plant".into();
    let kind = ProbeKind::Pushed;
    Arc::new(Source { node, instance: instance.into(), kind, run: RUN, epoch: Epoch(1), probe_type })
}

/// Equal and backward times, and whole numbers that no real has.
fn samples() -> Vec<Sample> {
    let of = |(at, sequence): (usize, u64)| Sample {
        sequence,
        offset: sequence,
        time: T + [5, 5, 4, 9, 7][at],
        values: vec![
            Value::Real64([0.1, -2.5, 1e300, f64::MIN_POSITIVE, 0.0][at]),
            Value::Boolean(at % 2 == 0),
            Value::String(["a", "\u{e4},\"", "two\nlines", "x;y", "4"][at].into()),
            Value::Int([i64::MIN, -1, 0, 9_007_199_254_740_993, i64::MAX][at]),
        ],
    };
    [1, 2, 3, 9, 12].into_iter().enumerate().map(of).collect()
}

/// Writes two instances with a gap, and reads them back.
fn come_back(name: &str) -> (Instances, Report) {
    let format = oasis_format::find(name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export").with_extension(format.extension);
    let mut file = File::create(&path).unwrap();
    let mut writer = (format.samples.as_ref().unwrap().open)(&mut file, &WriteOptions::default()).unwrap();
    for instance in ["a", "b"] {
        for sample in samples() {
            if sample.sequence == 9 {
                let (numbers, cause) = (Some(4..=8), Cause::Unexplained);
                let gap = Gap { node: "plant", instance, run: RUN, count: 5, numbers, cause, time: T };
                writer.gap(&gap).unwrap();
            }
            writer.sample(&source(instance), 0, &sample).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    let found = inputs::find(&path, &mut fs::File::open(&path).unwrap()).unwrap().unwrap();
    assert_eq!(found.name, name);
    let mut instances = Instances::new();
    let mut content = File::open(&path).unwrap();
    let mut file = InputFile { path: &path, content: &mut content };
    let report = (found.read)(&mut file, &InputOptions::default(), &mut |recorded, batch| {
        let key = (recorded.node.as_deref().map(str::to_owned), recorded.instance.to_string(), recorded.run);
        let batch = Batch::parse(batch, &recorded.probe_type)?;
        let samples = batch.samples().map(|sample| (sample.sequence, sample.time, sample.values));
        instances.entry(key).or_default().extend(samples);
        Ok(())
    });
    (instances, report.unwrap())
}

fn expected() -> Instances {
    let samples: Vec<_> = samples().into_iter().map(|of| (of.sequence, of.time, of.values)).collect();
    let key = |instance: &str| (Some("plant".to_owned()), instance.to_owned(), RUN);
    ["a", "b"].map(|instance| (key(instance), samples.clone())).into()
}

#[test]
fn text_formats_come_back() {
    for name in ["csv", "jsonl"] {
        let (found, report) = come_back(name);
        assert_eq!(found, expected(), "{name}");
        assert!(report.is_complete(), "{name}: {report:?}");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn tables_come_back() {
    for (name, gaps) in [("parquet", 2), ("arrow", 0)] {
        let (found, report) = come_back(name);
        assert_eq!(found, expected(), "{name}");
        assert!(report.is_complete() && report.lost.len() == gaps, "{name}: {report:?}");
    }
}

#[cfg(feature = "mcap")]
#[test]
fn mcap_comes_back_with_gaps() {
    let (found, report) = come_back("mcap");
    assert_eq!(found, expected());
    let lost: Vec<_> =
        report.lost.iter().map(|lost| (lost.instance.as_str(), lost.numbers.clone())).collect();
    assert_eq!(lost, [("a", 4..=8), ("b", 4..=8)]);
}
