//! Any text and any bytes are read or refused, and what is read is a row of its type.

use super::Layout;
use oasis_wire::{reader::Reader, schema::ProbeType, value};
use proptest::prelude::*;
use uuid::Uuid;

const TYPES: [&str; 14] = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "float64",
    "string",
    "string<=3",
    "A",
    "B",
    "b/C",
    "time",
    "Header",
    "wstring",
    "-",
];
const COUNTS: [&str; 8] = ["", "", "", "[]", "[2]", "[<=3]", "[4000000000]", "[0]"];

/// A text of three messages that may name each other, in which a line may be damaged.
fn text() -> impl Strategy<Value = String> {
    let line = (0..TYPES.len(), 0..COUNTS.len(), 0..9_u8);
    let message = prop::collection::vec(line, 0..4);
    prop::collection::vec(message, 3).prop_map(|messages| {
        let mut text = String::new();
        for (name, lines) in ["A", "B", "C"].iter().zip(messages) {
            if *name != "A" {
                text += &format!("===\nMSG: {}/{name}\n", if *name == "C" { "b" } else { "a" });
            }
            for (at, (kind, count, rest)) in lines.into_iter().enumerate() {
                let rest = if rest == 0 { "=1" } else { " # comment" };
                text += &format!("{}{} f{at}{rest}\n", TYPES[kind], COUNTS[count]);
            }
        }
        text
    })
}

proptest! {
    #[test]
    fn a_decoded_message_is_a_row_of_its_type(
        text in text(),
        mut message in prop::collection::vec(prop_oneof![3 => 0..3_u8, 1 => any::<u8>()], 0..200),
        is_little in any::<bool>(),
    ) {
        if let Ok(layout) = Layout::read("a/msg/A", text.as_bytes()) {
            if let [zero, order, ..] = &mut *message {
                (*zero, *order) = (0, u8::from(is_little));
            }
            let metrics = layout.metrics.clone();
            let probe_type =
                ProbeType { name: "A".into(), uuid: Uuid::nil(), version: "1.0".into(), doc: None, rate: None, metrics };
            let mut row = Vec::new();
            if layout.decode(&message, &mut row).is_ok() && probe_type.validate().is_ok() {
                let mut from = Reader::new(&row, 0);
                for metric in &probe_type.metrics {
                    prop_assert!(value::skip(&metric.kind, &mut from).is_ok(), "{text}");
                }
                prop_assert_eq!(from.left(), 0);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(name in "(a|/|msg|[a-z/]){0,4}", text in "([a-z0-9=\\[\\]< \n#/]|MSG: |===){0,60}") {
        let _ = Layout::read(&name, text.as_bytes());
    }
}
