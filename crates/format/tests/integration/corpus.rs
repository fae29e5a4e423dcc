//! Recordings of other programs have the samples that the programs' own readers say: `tests/corpus/README.md`.

use oasis_format::{
    input::{Dbc, InputFile, InputOptions, RecordedSeries, Report},
    inputs,
};
use oasis_wire::{
    batch::Batch,
    schema::{Metric, MetricType},
    value::Value,
};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
};

/// An instance: its samples, first and last time, and the checksum of each column.
#[derive(Debug, Default)]
pub struct Instance {
    pub samples: u64,
    pub first: u64,
    pub last: u64,
    pub columns: BTreeMap<String, crc32fast::Hasher>,
}

pub fn folder() -> PathBuf {
    std::env::var_os("CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), PathBuf::from)
}

pub fn read(path: &Path, options: &InputOptions) -> (BTreeMap<String, Instance>, Report) {
    let mut all = BTreeMap::new();
    let mut content = File::open(path).unwrap();
    let format = inputs::find(path, &mut content).unwrap().unwrap();
    let mut content = File::open(path).unwrap();
    let mut file = InputFile { path, content: &mut content };
    let report = (format.read)(&mut file, options, &mut |recorded, batch| {
        add(&mut all, recorded, &Batch::parse(batch, &recorded.probe_type)?);
        Ok(())
    });
    (all, report.unwrap())
}

fn add(all: &mut BTreeMap<String, Instance>, recorded: &RecordedSeries, batch: &Batch) {
    let instance = all.entry(recorded.instance.to_string()).or_default();
    for sample in batch.samples() {
        if instance.samples == 0 {
            instance.first = sample.time;
        }
        instance.samples += 1;
        instance.last = sample.time;
        for (metric, value) in recorded.probe_type.metrics.iter().zip(&sample.values) {
            let mut text = String::new();
            canonical(&metric.kind, value, &mut text);
            text.push('\n');
            instance.columns.entry(metric.name.clone()).or_default().update(text.as_bytes());
        }
    }
}

/// The text of a value, as in `make_expected.py`.
fn canonical(kind: &MetricType, value: &Value, to: &mut String) {
    let real =
        |value: f64| if value.is_nan() { "fnan".to_owned() } else { format!("f{:016x}", value.to_bits()) };
    match (kind, value) {
        (_, Value::Int(value)) => write!(to, "i{value}").unwrap(),
        (_, Value::Uint(value)) => write!(to, "i{value}").unwrap(),
        (_, Value::Real32(value)) => *to += &real((*value).into()),
        (_, Value::Real64(value)) => *to += &real(*value),
        (_, Value::Boolean(value)) => write!(to, "b{}", u8::from(*value)).unwrap(),
        (_, Value::String(value)) => write!(to, "s{value}").unwrap(),
        (MetricType::Vector(element), Value::Vector(of)) => {
            list(to, '[', of.iter().map(|value| (&**element, value)), ']');
        }
        (MetricType::Struct(of), Value::Struct(values)) => {
            list(to, '{', of.members.iter().map(|Metric { kind, .. }| kind).zip(values), '}');
        }
        other => panic!("{other:?}"),
    }
}

fn list<'a>(to: &mut String, open: char, of: impl Iterator<Item = (&'a MetricType, &'a Value)>, close: char) {
    to.push(open);
    for (at, (kind, value)) in of.enumerate() {
        if at > 0 {
            to.push(',');
        }
        canonical(kind, value, to);
    }
    to.push(close);
}

/// Compares the instances that the other reader has.
pub fn compare(name: &str, found: &BTreeMap<String, Instance>, expected: &Json) {
    let expected = expected["instances"].as_object().unwrap();
    assert!(!expected.is_empty(), "{name}");
    for (instance, expected) in expected {
        let found =
            found.get(instance).unwrap_or_else(|| panic!("{name} lacks {instance}: {:?}", found.keys()));
        let of = (found.samples, found.first, found.last);
        let number = |key: &str| expected[key].as_u64().unwrap();
        assert_eq!(of, (number("samples"), number("first_ns"), number("last_ns")), "{name} {instance}");
        for (column, crc) in expected["columns"].as_object().unwrap() {
            let found =
                found.columns.get(column).unwrap_or_else(|| panic!("{name} {instance} lacks {column}"));
            assert_eq!(Some(u64::from(found.clone().finalize())), crc.as_u64(), "{name} {instance} {column}");
        }
    }
}

/// Reads all files of a folder that have expected values.
fn check(of: &str, options: &InputOptions) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir(folder().join(of)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "dbc"));
    for path in paths {
        let dbc = fs::read(path.with_extension("dbc")).ok();
        let dbc = dbc.map(|content| Dbc { path: String::new(), content });
        let options = InputOptions { dbc: dbc.into_iter().collect(), ..options.clone() };
        let name = format!("{of}-{}", path.file_stem().unwrap().to_str().unwrap());
        let expected = fs::read_to_string(folder().join(format!("expected/{name}.json"))).unwrap();
        let (found, report) = read(&path, &options);
        compare(&name, &found, &serde_json::from_str(&expected).unwrap());
        reports.push(report);
    }
    reports
}

#[test]
fn csv_has_the_values_of_another_reader() {
    let reports = check("csv", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete));
}

#[test]
fn ulog_has_the_values_of_another_reader() {
    let reports = check("ulog", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

#[test]
fn rosbag2_has_the_values_of_another_reader() {
    check("rosbag2", &InputOptions::default());
}

#[cfg(feature = "arrow")]
#[test]
fn parquet_has_the_values_of_another_reader() {
    let reports = check("parquet", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_has_the_values_of_another_reader() {
    let reports = check("arrow", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

#[test]
fn candump_has_the_values_of_another_reader() {
    let reports = check("candump", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

#[cfg(feature = "mcap")]
#[test]
fn idl_has_the_values_of_another_reader() {
    let reports = check("idl", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

#[test]
fn protobuf_has_the_values_of_another_reader() {
    let reports = check("protobuf", &InputOptions::default());
    let texts: Vec<_> = reports[0].findings.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["/pump: inner: 30 values skipped: messages within themselves, or without fields"]);
}

#[cfg(feature = "mcap")]
#[test]
fn rosbag1_has_the_values_of_another_reader() {
    let reports = check("rosbag1", &InputOptions::default());
    assert!(reports.iter().all(Report::is_complete), "{reports:?}");
}

/// One message is outside of chunks, and its checksum is wrong: no part is reliable.
#[cfg(feature = "mcap")]
#[test]
fn a_file_without_chunks_and_with_a_wrong_checksum_is_read_if_asked() {
    use oasis_format::mcap::read_part;
    use std::{convert::Infallible, io::Cursor};
    let mut writer = mcap::WriteOptions::new().use_chunks(false).create(Cursor::new(Vec::new())).unwrap();
    let channel = writer.add_channel(0, "a", "json", &BTreeMap::new()).unwrap();
    for sequence in 0..3 {
        let header =
            mcap::records::MessageHeader { channel_id: channel, sequence, log_time: 5, publish_time: 5 };
        writer.write_to_known_channel(&header, b"{\"x\": 1.5}").unwrap();
    }
    writer.finish().unwrap();
    let mut bytes = writer.into_inner().into_inner();
    let at = bytes.windows(3).position(|window| window == b"1.5").unwrap();
    bytes[at] = b'7';
    let read = |is_partial, bytes: &[u8]| {
        let mut samples = 0;
        let rest = read_part(Cursor::new(bytes.to_vec()), is_partial, |_, batch| {
            samples += oasis_wire::batch::Header::parse(batch).unwrap().count;
            Ok::<_, Infallible>(())
        });
        rest.map(|rest| (samples, rest.is_complete())).map_err(|error| error.to_string())
    };
    assert!(read(false, &bytes).unwrap_err().contains("--partial"));
    assert_eq!(read(true, &bytes), Ok((3, false)));
    assert_eq!(read(true, &bytes[..at + 10]), Ok((1, false)));
}
