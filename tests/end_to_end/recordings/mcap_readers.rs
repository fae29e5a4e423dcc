//! Samples of MCAP files equal the messages that the readers of the format's authors find, or the difference is reported.

use crate::harness::repository;
use oasis_format::mcap::{FieldDifference, RecordedSeries, Remainder, read};
use oasis_wire::{batch::Batch, value};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    io::Cursor,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a script beside this file; `make table-readers` installs what it needs.
pub fn python(script: &str, arguments: &[PathBuf]) -> Vec<u8> {
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let script = repository().join("tests/end_to_end/recordings").join(script);
    let done = Command::new(&python).arg(script).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "mcap")).collect();
    files.sort();
    files
}

/// Times and values of samples, by instance.
type Samples = BTreeMap<String, Vec<(u64, Value)>>;

fn import(path: &Path) -> Result<(Samples, Remainder), String> {
    let mut samples = Samples::new();
    let take = |recorded: &RecordedSeries, batch: &[u8]| {
        let probe_type = &recorded.probe_type;
        let of = samples.entry(recorded.instance.to_string()).or_default();
        let batch = Batch::parse(batch, probe_type).unwrap();
        let values = |values: &[value::Value]| Value::Object(value::to_json(probe_type, values));
        of.extend(batch.samples().map(|sample| (sample.time, values(&sample.values))));
        Ok::<_, Infallible>(())
    };
    let rest = read(Cursor::new(fs::read(path).unwrap()), take).map_err(|error| error.to_string())?;
    Ok((samples, rest))
}

/// Differences that must be reported, by field.
#[derive(Debug, Default, PartialEq)]
struct Differences {
    absent: BTreeMap<String, u64>,
    rounded: BTreeMap<String, u64>,
}

impl Differences {
    fn reported(topic: &str, rest: &Remainder) -> Self {
        let mut of = Self::default();
        for report in rest.fields.iter().filter(|report| report.topic == topic) {
            let counts = match report.difference {
                FieldDifference::Rounded => &mut of.rounded,
                FieldDifference::Unstored(_) => continue,
                FieldDifference::AbsentReal | FieldDifference::Absent | FieldDifference::Replaced => {
                    &mut of.absent
                }
            };
            *counts.entry(report.field.clone()).or_default() += report.values;
        }
        of
    }

    /// Compares a value, whose field is `name` with the indexes of elements, with that of a sample.
    fn compare(&mut self, name: &str, message: &Value, sample: &Value, absent: &[String]) {
        let count = |of: &mut BTreeMap<String, u64>| *of.entry(without_indexes(name)).or_default() += 1;
        match (message, sample) {
            (Value::Null, Value::Object(members)) => {
                members
                    .iter()
                    .for_each(|(key, sample)| self.compare(&joined(name, key), &Value::Null, sample, absent));
            }
            (Value::Null, sample) => {
                assert!(
                    *sample == "NaN" || absent.iter().any(|absent| absent == name),
                    "{name} is {sample}, and null"
                );
                count(&mut self.absent);
            }
            (Value::Object(number), sample) if number.contains_key("whole") => {
                let whole = number["whole"].as_str().unwrap();
                if exact(sample) != whole {
                    assert_eq!(sample.as_f64(), whole.parse().ok(), "{name}");
                    count(&mut self.rounded);
                }
            }
            (Value::Object(number), sample) if number.contains_key("real") => {
                let (real, found): (f64, f64) =
                    (number["real"].as_str().unwrap().parse().unwrap(), sample.as_f64().unwrap());
                assert!(real == found || real as f32 == found as f32, "{name} is {sample} instead of {real}");
            }
            (Value::Object(members), Value::Object(samples)) => {
                for (key, sample) in samples.iter().filter(|(key, _)| *key != "oasis.absent") {
                    self.compare(
                        &joined(name, key),
                        members.get(key).unwrap_or(&Value::Null),
                        sample,
                        absent,
                    );
                }
                for key in members.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key) {
                    assert!(samples.contains_key(key), "{} is not stored", joined(name, key));
                }
            }
            (Value::Array(elements), Value::Array(samples)) => {
                assert_eq!(elements.len(), samples.len(), "{name}");
                for (at, (element, sample)) in elements.iter().zip(samples).enumerate() {
                    self.compare(&format!("{name}[{at}]"), element, sample, absent);
                }
            }
            (message, sample) => assert_eq!(message, sample, "{name}"),
        }
    }
}

fn joined(name: &str, member: &str) -> String {
    if name.is_empty() { member.to_owned() } else { format!("{name}.{member}") }
}

fn without_indexes(name: &str) -> String {
    name.split('[').enumerate().fold(String::new(), |name, (at, part)| {
        let part = if at == 0 { part } else { part.split_once(']').map_or("", |(_, rest)| rest) };
        if at == 0 { part.to_owned() } else { format!("{name}[]{part}") }
    })
}

/// All digits of a whole number.
fn exact(number: &Value) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(real) => format!("{real:.0}"),
        None => number.to_string(),
    }
}

/// Compares the messages of a topic with its samples. Returns the number of messages without a sample.
fn compare_topic(topic: &str, messages: &[&Value], samples: &[(u64, Value)], rest: &Remainder) -> u64 {
    let (mut differences, mut skipped) = (Differences::default(), 0);
    let mut messages = messages.iter();
    for (time, sample) in samples {
        let names = |absent: &Value| {
            absent.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let absent: Vec<_> = sample.get("oasis.absent").map(names).unwrap_or_default();
        let message = loop {
            let message =
                messages.next().unwrap_or_else(|| panic!("{topic}: no message for the sample at {time}"));
            if message["time"].as_u64() == Some(*time) && message["content"].is_object() {
                break &message["content"];
            }
            skipped += 1;
        };
        differences.compare("", message, sample, &absent);
    }
    assert_eq!(differences, Differences::reported(topic, rest), "{topic}");
    skipped + messages.count() as u64
}

/// Compares a file. Returns whether it was refused.
fn compare(path: &Path, found: &Value) -> bool {
    let Ok((mut samples, rest)) = import(path) else { return true };
    let mut topics: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for message in found["messages"].as_array().unwrap() {
        topics.entry(message["topic"].as_str().unwrap()).or_default().push(message);
    }
    for (topic, messages) in topics {
        let apart = rest.apart.iter().find(|(apart, _)| apart == topic);
        let instance =
            apart.map_or_else(|| topic.trim_start_matches('/').to_owned(), |(_, name)| name.to_string());
        let of = samples.remove(&instance).unwrap_or_default();
        let skipped = compare_topic(topic, &messages, &of, &rest);
        let left_out: u64 = rest
            .left_out
            .iter()
            .filter(|left_out| left_out.topic == topic)
            .map(|left_out| left_out.messages)
            .sum();
        if rest.damage.is_none() {
            assert_eq!(skipped, left_out, "{topic} of {}", path.display());
        }
    }
    assert!(samples.is_empty(), "{}: samples without messages: {samples:?}", path.display());
    let is_damaged = rest
        .damage
        .as_ref()
        .is_some_and(|damage| damage.is_loss() || !damage.is_data_complete || damage.cut.is_some());
    assert_eq!(is_damaged, !found["error"].is_null(), "{}: {found}", path.display());
    false
}

fn compare_all(files: &[PathBuf]) -> Vec<String> {
    let found = python("read_mcap.py", files);
    let found: Vec<Value> =
        str::from_utf8(&found).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), files.len());
    let refused = files.iter().zip(&found).filter(|(path, found)| compare(path, found));
    refused.map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// Files whose messages the other readers cannot decode.
const WITHOUT_OTHER_READER: [&str; 3] = ["ros2_wstring", "ros2_xcdr2_encapsulation", "ros2idl"];

fn odd_files() -> PathBuf {
    repository().join("tests/end_to_end/recordings/mcap_cases")
}

#[test]
fn samples_of_odd_files_equal_the_messages_that_other_readers_find() {
    let mut files = files(&odd_files());
    files.retain(|path| !WITHOUT_OTHER_READER.iter().any(|name| path.file_stem().unwrap() == *name));
    assert!(files.len() >= 31);
    assert_eq!(compare_all(&files), [""; 0], "none is refused");
}

#[test]
fn samples_that_no_other_reader_finds_have_their_values() {
    let samples = |name: &str| {
        let (samples, rest) = import(&odd_files().join(format!("{name}.mcap"))).unwrap();
        assert!(rest.left_out.is_empty() && rest.damage.is_none(), "{name}");
        let samples = samples.into_values().flatten();
        samples.map(|(_, sample)| sample).collect::<Vec<_>>()
    };
    assert_eq!(samples("ros2_wstring"), [json!({"s": "h\u{e9}", "v": 1.0})]);
    for name in ["ros2_xcdr2_encapsulation", "ros2idl"] {
        let expected = [0.0, 1.0, 2.0, 3.0, 4.0].map(|value| json!({"value": value}));
        assert_eq!(samples(name), expected, "{name}");
    }
}

#[test]
fn samples_do_not_depend_on_what_the_format_leaves_open() {
    let folder = tempfile::tempdir().unwrap();
    python("make_mcap.py", &[folder.path().to_owned()]);
    let files = files(folder.path());
    assert_eq!(files.len(), 1_032);
    assert_eq!(compare_all(&files), [""; 0]);
}

#[test]
fn messages_of_encodings_that_nobody_reads_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    python("make_mcap.py", &[folder.path().to_owned(), "opaque".into()]);
    let files = files(folder.path());
    assert_eq!(files.len(), 416);
    assert_eq!(compare_all(&files), [""; 0]);
    let mut skipped = BTreeMap::<_, u64>::new();
    for path in &files {
        let (samples, rest) = import(path).unwrap();
        assert!(samples.is_empty() && rest.damage.is_none(), "{}", path.display());
        for left_out in rest.left_out {
            *skipped.entry((left_out.topic, left_out.why.to_string())).or_default() += left_out.messages;
        }
    }
    let named = |encoding: &str, messages| {
        let why = format!(
            "unsupported message encoding {encoding:?}: only JSON, Protocol Buffers and messages of ROS are supported"
        );
        (("example".to_owned(), why), messages)
    };
    // Files with 1 message without schema; with 1 message, and with 10.
    assert_eq!(skipped, BTreeMap::from([named("a", 154 + 1_540), named("text", 74)]));
}
