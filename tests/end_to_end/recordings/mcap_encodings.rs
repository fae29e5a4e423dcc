//! MCAP files in CDR and Protocol Buffers equal the samples for the readers of the format's authors, and for an import.

use super::{
    lines,
    mcap_readers::python,
    plant::{Plant, Put, json_of, plant},
    renamed, run,
};
use serde_json::Value;
use std::path::Path;

/// The values of a message or sample in their order: names differ, because those of messages are identifiers.
fn values(of: &Value) -> Value {
    match of {
        Value::Object(number) if number.contains_key("whole") => {
            let whole = number["whole"].as_str().unwrap();
            whole.parse::<u64>().map(Value::from).or_else(|_| whole.parse::<i64>().map(Value::from)).unwrap()
        }
        Value::Object(number) if number.contains_key("real") => {
            real(number["real"].as_str().unwrap().parse().unwrap())
        }
        Value::Number(number) if number.is_f64() => real(number.as_f64().unwrap()),
        Value::Object(members) => members.values().map(values).collect(),
        Value::Array(elements) => elements.iter().map(values).collect(),
        other => other.clone(),
    }
}

/// All digits of a real: the sample has a real of 32 bits with its shortest text, the message as one of 64.
fn real(real: f64) -> Value {
    let short = real as f32;
    let text = if f64::from(short) == real { short.to_string() } else { real.to_string() };
    text.into()
}

/// The values of a sample, and the state of its probe.
fn expected(put: &Put) -> Value {
    let mut sample = json_of(put);
    sample.as_object_mut().unwrap().shift_remove("oasis.state");
    let mut values = values(&sample);
    values.as_array_mut().unwrap().push(put.state.into());
    values
}

fn export(archive: &Path, encoding: &str, path: &Path) {
    let arguments = ["--format", "mcap", "--encoding", encoding, "-o", path.to_str().unwrap()];
    let (is_done, _, said) = run("export", archive, &arguments);
    assert!(is_done, "{said}");
}

#[test]
fn other_readers_find_each_value() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, samples } = plant(folder.path());
    for encoding in ["cdr", "protobuf"] {
        let path = folder.path().join(encoding).with_extension("mcap");
        export(&archive, encoding, &path);
        let found: Value = serde_json::from_slice(&python("read_mcap.py", &[path])).unwrap();
        assert!(found["error"].is_null(), "{found}");
        for ((node, instance), put) in &samples {
            let topic = format!("{node}/{instance}");
            let messages = found["messages"].as_array().unwrap();
            let messages: Vec<_> = messages.iter().filter(|message| message["topic"] == *topic).collect();
            assert_eq!(messages.len(), put.len(), "{encoding}: {topic}");
            for (message, put) in messages.iter().zip(put) {
                assert_eq!(message["time"], put.time, "{encoding}: {topic}");
                assert_eq!(values(&message["content"]), expected(put), "{encoding}: {topic}");
            }
        }
    }
}

#[test]
fn an_import_equals_the_export_with_its_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let gaps = |archive: &Path| {
        let (is_done, out, said) = run(
            "sql",
            archive,
            &[
                "--json",
                "SELECT instance, run, cause, count, from_sequence, to_sequence FROM gaps ORDER BY run, from_sequence",
            ],
        );
        assert!(is_done, "{said}");
        String::from_utf8(out).unwrap()
    };
    for encoding in ["cdr", "protobuf"] {
        let (path, other) = (folder.path().join("drive.mcap"), folder.path().join(encoding));
        export(&archive, encoding, &path);
        let (is_done, _, said) = run("import", &other, &[path.to_str().unwrap()]);
        assert!(is_done && !said.contains("left out"), "{said}");
        assert_eq!(lines(&other), renamed(lines(&archive), "drive"), "{encoding}");
        assert_eq!(gaps(&other), gaps(&archive), "{encoding}");
    }
}
