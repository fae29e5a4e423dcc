//! Messages of ROS 2: a recording that one library wrote and another one read (`vectors/make_ros2.py`), and what is left out.

use mcap::{Writer, records::MessageHeader};
use oasis_format::mcap::{ReadError, RecordedSeries, Remainder, read};
use oasis_wire::{batch::Batch, value};
use serde_json::{Value, json};
use std::{collections::BTreeMap, convert::Infallible, fs, io::Cursor};

/// All samples of a file, in the form of `ros2.json`, and what was not read.
fn samples(file: &[u8]) -> (Vec<Value>, Remainder) {
    let mut samples = Vec::new();
    let rest = read(Cursor::new(file), |recorded: &RecordedSeries, batch| {
        let probe_type = &recorded.probe_type;
        probe_type.validate().unwrap();
        for sample in Batch::parse(batch, probe_type).unwrap().samples() {
            samples.push(json!({
                "topic": format!("/{}", recorded.instance),
                "type": probe_type.name,
                "time": sample.time,
                "values": value::to_json(probe_type, &sample.values),
            }));
        }
        Ok::<_, Infallible>(())
    });
    samples.sort_by_key(|sample| sample["time"].as_u64());
    (samples, rest.unwrap())
}

#[test]
fn every_type_is_read_as_another_library_reads_it() {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors");
    let (found, rest) = samples(&fs::read(format!("{vectors}/ros2.mcap")).unwrap());
    let expected: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(format!("{vectors}/ros2.json")).unwrap()).unwrap();
    assert_eq!(expected.len(), 10);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    assert!(rest.left_out.is_empty());
}

/// A file with one channel: the name, encoding and text of its schema, and messages.
fn file((name, encoding, text): (&str, &str, &str), messages: &[&[u8]]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file).unwrap();
    let schema = writer.add_schema(name, encoding, text.as_bytes()).unwrap();
    let channel_id = writer.add_channel(schema, "/a", "cdr", &BTreeMap::new()).unwrap();
    for (at, message) in (0..).zip(messages) {
        let header = MessageHeader { channel_id, sequence: 0, log_time: at, publish_time: 0 };
        writer.write_to_known_channel(&header, message).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    file.into_inner()
}

#[test]
fn what_cannot_be_read_is_counted_with_its_reason() {
    for (schema, expected) in [
        (
            ("a/msg/A", "flatbuffer", "table A {}"),
            "its encoding is \"flatbuffer\", and only ros2msg, ros2idl and omgidl are supported",
        ),
        (("a/msg/A", "ros2idl", "module a {};"), "the message \"a/msg/A\" is not defined in it"),
        (("a/msg/A", "ros2idl", "struct S {"), "line 1: expected a name"),
        (("a/msg/A", "ros2msg", "wstring x"), "unexpected end at offset 0: 4 bytes needed, 1 left"),
        (("a/msg/A", "ros2msg", "b/B x"), "the message \"b/B\" is not defined in it"),
        (("a/msg/A", "ros2msg", "int8 x\nint8"), "line 2 is no field"),
        (("a/msg/A", "ros2msg", "int8 NONE=0"), "the messages have no values"),
        (("a/msg/A", "ros2msg", "float64 x"), "unexpected end at offset 0: 8 bytes needed, 1 left"),
    ] {
        let (found, rest) = samples(&file(schema, &[&[0, 1, 0, 0, 0], &[0, 1, 0, 0, 0]]));
        assert!(found.is_empty());
        let [left_out] = &*rest.left_out else { panic!("{expected}: {rest:?}") };
        assert_eq!((&*left_out.topic, left_out.messages), ("/a", 2));
        assert!(left_out.why.to_string().contains(expected), "{}", left_out.why);
    }
    // A message that does not match hides no other one.
    let (found, rest) =
        samples(&file(("a/msg/A", "ros2msg", "uint8 x"), &[&[0, 1, 0, 0, 1], &[0, 9], &[0, 0, 0, 0, 2]]));
    assert_eq!(
        found.iter().map(|sample| sample["values"]["x"].as_u64()).collect::<Vec<_>>(),
        [Some(1), Some(2)]
    );
    assert_eq!(rest.left_out.iter().map(|left_out| left_out.messages).collect::<Vec<_>>(), [1]);
}

#[test]
fn schemas_of_few_bytes_with_many_fields_are_refused() {
    // 60,000 fields without a value, a schema.
    let mut text = "L1 x\n".to_owned();
    for (level, fields) in [(1, 3), (2, 100), (3, 200)] {
        text += &format!("===\nMSG: a/L{level}\n");
        (0..fields).for_each(|field| text += &format!("L{} f{field}\n", level + 1));
    }
    text += "===\nMSG: a/L4\n";
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file).unwrap();
    for schema in 0..20 {
        writer.add_schema(&format!("a/msg/S{schema}"), "ros2msg", text.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let refused = read(Cursor::new(file.into_inner()), |_, _| Ok::<_, Infallible>(())).unwrap_err();
    assert!(matches!(refused, ReadError::Metrics), "{refused}");
}
