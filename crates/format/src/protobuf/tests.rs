use super::Layout;
use oasis_wire::{reader::Reader, schema::ProbeType, value};
use proptest::prelude::*;
use uuid::Uuid;

fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![(number << 3 | 2) as u8, content.len() as u8];
    bytes.extend_from_slice(content);
    bytes
}

fn number(number: u32, value: u8) -> Vec<u8> {
    vec![(number << 3) as u8, value]
}

/// A field of a message type: name, number, label, type and name of its type.
fn described(name: &str, at: u8, label: u8, kind: u8, of: &str) -> Vec<u8> {
    let content = [
        field(1, name.as_bytes()),
        number(3, at),
        number(4, label),
        number(5, kind),
        field(6, of.as_bytes()),
    ];
    field(2, &content.concat())
}

/// The set of one file with the message `p.A`.
fn set(fields: &[Vec<u8>]) -> Vec<u8> {
    let message = field(4, &[field(1, b"A"), fields.concat()].concat());
    field(1, &[field(1, b"a.proto"), field(2, b"p"), message].concat())
}

#[test]
fn messages_within_themselves_have_no_values() {
    let set = set(&[described("x", 1, 1, 5, ""), described("next", 2, 1, 11, ".p.A")]);
    let layout = Layout::read("p.A", &set).unwrap();
    assert_eq!(layout.metrics.iter().map(|metric| &metric.name[..]).collect::<Vec<_>>(), ["x"]);
    let mut row = Vec::new();
    layout.decode(&[0x08, 0x96, 0x01, 0x12, 0x02, 0x08, 0x01], &mut row).unwrap();
    assert_eq!(row, 150_i32.to_le_bytes());
    layout.decode(&[], &mut row).unwrap();
    assert_eq!(row, [0; 4]);
}

#[test]
fn a_field_that_a_message_lacks_has_its_declared_default() {
    let with = |mut bytes: Vec<u8>, more: &[u8]| {
        bytes[1] += more.len() as u8;
        bytes.extend_from_slice(more);
        bytes
    };
    let declared = with(described("x", 1, 1, 5, ""), &field(7, b"-42"));
    let layout = Layout::read("p.A", &set(&[declared])).unwrap();
    let mut row = Vec::new();
    layout.decode(&[], &mut row).unwrap();
    assert_eq!(row, (-42_i32).to_le_bytes());
    let wrong = with(described("x", 1, 1, 5, ""), &field(7, b"many"));
    assert!(Layout::read("p.A", &set(&[wrong])).unwrap_err().to_string().contains("default that is none"));

    // The last member of a oneof counts, whatever the order of numbers.
    let member = |name, at| with(described(name, at, 1, 5, ""), &number(9, 0));
    let layout =
        Layout::read("p.A", &set(&[member("a", 1), member("b", 2), described("c", 3, 1, 5, "")])).unwrap();
    layout.decode(&[0x18, 9, 0x10, 7, 0x08, 5], &mut row).unwrap();
    assert_eq!(row, [5_i32, 0, 9].map(i32::to_le_bytes).concat());
}

#[test]
fn bad_descriptors_and_messages_are_refused() {
    assert!(Layout::read("p.B", &set(&[])).unwrap_err().to_string().contains("lacks the type"));
    assert!(Layout::read("p.A", b"\x0a\xff").unwrap_err().to_string().contains("truncated"));
    assert!(
        Layout::read("p.A", &set(&[described("g", 1, 1, 10, "")]))
            .unwrap_err()
            .to_string()
            .contains("not supported")
    );
    let layout = Layout::read("p.A", &set(&[described("x", 1, 1, 5, "")])).unwrap();
    let mut row = Vec::new();
    assert!(layout.decode(&[0x0d, 0, 0, 0, 0], &mut row).unwrap_err().to_string().contains("another form"));
    assert!(layout.decode(&[0x08], &mut row).is_err());
    // Few bytes of packed booleans are many values.
    let layout = Layout::read("p.A", &set(&[described("x", 1, 3, 1, "")])).unwrap();
    let long = [&[0x0a, 0x80, 0x80, 0x40][..], &[0; 1 << 20]].concat();
    assert!(layout.decode(&long, &mut row).unwrap_err().to_string().contains("more than"));
}

proptest! {
    #[test]
    fn a_decoded_message_is_a_row_of_its_type(
        kinds in prop::collection::vec((1..19_u8, 1..4_u8), 1..6),
        message in prop::collection::vec(prop_oneof![3 => 0..60_u8, 1 => any::<u8>()], 0..80),
    ) {
        let fields: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(at, (kind, label))| described(&format!("f{at}"), at as u8 + 1, *label, *kind, ".p.A"))
            .collect();
        if let Ok(layout) = Layout::read("p.A", &set(&fields)) {
            let metrics = layout.metrics.clone();
            let probe_type =
                ProbeType { name: "A".into(), uuid: Uuid::nil(), version: "1.0".into(), doc: None, rate: None, metrics };
            let mut row = Vec::new();
            if layout.decode(&message, &mut row).is_ok() && probe_type.validate().is_ok() {
                let mut from = Reader::new(&row, 0);
                for metric in &probe_type.metrics {
                    prop_assert!(value::skip(&metric.kind, &mut from).is_ok());
                }
                prop_assert_eq!(from.left(), 0);
            }
        }
    }

    #[test]
    fn any_descriptor_is_read_or_refused(set in prop::collection::vec(prop_oneof![3 => 0..40_u8, 1 => any::<u8>()], 0..120)) {
        let _ = Layout::read("p.A", &set);
    }
}
