use super::*;
use oasis_wire::{
    reader::Reader,
    schema::Metric,
    value::{self, Value},
};

fn read(text: &str, message: &[u8]) -> Result<Vec<Value>, BadCdr> {
    let layout = Layout::read("a/msg/A", text.as_bytes()).unwrap();
    let mut row = Vec::new();
    layout.decode(message, &mut row)?;
    let mut from = Reader::new(&row, 0);
    let values = layout.metrics.iter().map(|Metric { kind, .. }| value::read(kind, &mut from).unwrap());
    let values = values.collect();
    assert_eq!(from.left(), 0);
    Ok(values)
}

#[test]
fn numbers_are_aligned_in_both_byte_orders() {
    let text = "uint8 a\nfloat64 b\nint16 c\nuint32 d";
    let expected = [Value::Uint(1), Value::Real64(1.5), Value::Int(-2), Value::Uint(3)];
    let mut little = vec![0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    little.extend(1.5_f64.to_le_bytes());
    little.extend([0xfe, 0xff, 0, 0, 3, 0, 0, 0]);
    assert_eq!(read(text, &little).unwrap(), expected);
    let mut big = vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    big.extend(1.5_f64.to_be_bytes());
    big.extend([0xff, 0xfe, 0, 0, 0, 0, 0, 3]);
    assert_eq!(read(text, &big).unwrap(), expected);
}

#[test]
fn empty_messages_are_a_byte_and_no_value() {
    let text = "Empty one\nEmpty[] many\nuint8 x\n===\nMSG: a/Empty\nint8 NONE=0\n";
    let message = [0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 7];
    assert_eq!(read(text, &message).unwrap(), [Value::Uint(7)]);
}

#[test]
fn texts_may_be_empty_without_a_nul_or_not_utf_8() {
    let text = "string[] x";
    let message = [0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0];
    let texts = ["", "", "\u{fffd}"].map(|text| Value::String(text.into())).to_vec();
    assert_eq!(read(text, &message).unwrap(), [Value::Vector(texts)]);
}

#[test]
fn the_second_version_aligns_to_four_bytes_and_has_lengths() {
    let message = [0, 9, 0, 0, 13, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 7, 99];
    let expected = [Value::Uint(1), Value::Real64(1.5), Value::Uint(7)];
    assert_eq!(read("uint8 a\nfloat64 b\nuint8 c", &message).unwrap(), expected);
    // A member that a later version of the type added.
    let mut longer = message;
    longer[4] = 14;
    assert_eq!(read("uint8 a\nfloat64 b\nuint8 c", &longer).unwrap(), expected);
    let mut shorter = message;
    shorter[4] = 12;
    let error = read("uint8 a\nfloat64 b\nuint8 c", &shorter);
    assert_eq!(error, Err(BadCdr::Delimiter { at: 17 }));
    let texts = [0, 7, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'x', 0];
    let expected = Value::Vector(vec![Value::String(String::new()), Value::String("x".into())]);
    assert_eq!(read("string[] x", &texts).unwrap(), [expected]);
}

#[test]
fn a_compressed_message_is_unpacked_within_the_bound() {
    let packed = |message: &[u8]| zstd::encode_all(message, 0).unwrap();
    assert_eq!(read("uint8 x", &packed(&[0, 1, 0, 0, 7])).unwrap(), [Value::Uint(7)]);
    assert_eq!(read("uint8 x", &packed(&vec![0; MAX_MESSAGE + 1])), Err(BadCdr::Unpacked));
    assert_eq!(read("uint8 x", &packed(&[0; 100])[..9]), Err(BadCdr::Compressed));
}

#[test]
fn wide_text_is_read_in_each_form() {
    let text = "wstring a\nuint8 b\nwstring c";
    let expected = [Value::String("a\u{1f600}".into()), Value::Uint(7), Value::String("xyz".into())];
    let units: Vec<u16> = "a\u{1f600}".encode_utf16().collect();
    let message = |width: usize, count: u32| {
        let mut message = vec![0, 1, 0, 0];
        let mut add = |units: &[u16]| {
            let of_count = u32::try_from(units.len()).unwrap() * count;
            message.extend(of_count.to_le_bytes());
            units.iter().for_each(|unit| message.extend(&u32::from(*unit).to_le_bytes()[..width]));
        };
        add(&units);
        message.push(7);
        while message.len() % 4 != 0 {
            message.push(0);
        }
        let xyz: Vec<u16> = "xyz".encode_utf16().collect();
        message.extend((3 * count).to_le_bytes());
        xyz.iter().for_each(|unit| message.extend(&u32::from(*unit).to_le_bytes()[..width]));
        message
    };
    for (width, count) in [(4, 1), (2, 1), (2, 2)] {
        assert_eq!(read(text, &message(width, count)).unwrap(), expected, "{width} {count}");
    }
    assert_eq!(read("wstring x", &[0, 1, 0, 0, 0, 0, 0, 0]).unwrap(), [Value::String(String::new())]);
}

/// Reads a message of a type in IDL; the last value names the absent ones.
fn read_idl(text: &str, message: &[u8]) -> Result<Vec<Value>, BadCdr> {
    let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
    let mut row = Vec::new();
    layout.decode(message, &mut row)?;
    let mut from = Reader::new(&row, 0);
    let values = layout.metrics.iter().map(|metric| value::read(&metric.kind, &mut from).unwrap());
    let values = values.collect();
    assert_eq!(from.left(), 0);
    Ok(values)
}

fn texts(texts: &[&str]) -> Value {
    Value::Vector(texts.iter().map(|text| Value::String((*text).into())).collect())
}

#[test]
fn members_of_mutable_types_come_in_any_order_or_not_at_all() {
    let text = "@mutable struct A { @id(1) octet a; @id(2) string b; @id(3) short c; };";
    // The short form of XCDR1, with an unknown member, padding, and a parameter without a meaning.
    let first = [
        0, 3, 0, 0, 3, 0, 2, 0, 0xfe, 0xff, 0, 0, 3, 0x3f, 4, 0, 9, 9, 9, 9, 0x32, 0, 1, 0, 7, 0, 0, 0, 1, 0,
        1, 0, 5, 0, 0, 0, 2, 0x7f, 0, 0,
    ];
    let expected = [Value::Uint(5), Value::String(String::new()), Value::Int(-2), texts(&["b"])];
    assert_eq!(read_idl(text, &first).unwrap(), expected);
    // XCDR2: the length of a text is that of its parameter too.
    let second =
        [0, 11, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0x10, 0xfe, 0xff, 0, 0, 2, 0, 0, 0x50, 2, 0, 0, 0, b'x', 0, 0, 0];
    let expected = [Value::Uint(0), Value::String("x".into()), Value::Int(-2), texts(&["a"])];
    assert_eq!(read_idl(text, &second).unwrap(), expected);
    let mut unknown = second;
    unknown[8] = 9;
    let expected = [Value::Uint(0), Value::String("x".into()), Value::Int(0), texts(&["a", "c"])];
    assert_eq!(read_idl(text, &unknown).unwrap(), expected);
    unknown[11] |= 0x80;
    assert_eq!(read_idl(text, &unknown), Err(BadCdr::MustUnderstand(9)));
    assert!(matches!(read_idl(text, &first[..36]), Err(BadCdr::Malformed(_))), "without its end");
    let long = [&[0, 11, 0, 0][..], &(8 * 70_000_u32).to_le_bytes(), &[0; 8 * 70_000]].concat();
    assert_eq!(read_idl(text, &long), Err(BadCdr::Parameters));
}

#[test]
fn optional_members_have_a_boolean_or_a_length() {
    let text = "@final struct A { @optional long x; @optional double y; octet z; };";
    let second = [0, 7, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 9];
    let [x, y, z, absent] = &*read_idl(text, &second).unwrap() else { panic!() };
    assert_eq!((x, z, absent), (&Value::Int(5), &Value::Uint(9), &texts(&[])));
    assert!(matches!(y, Value::Real64(y) if y.is_nan()), "NaN needs no name");
    let first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 9];
    let expected = [Value::Int(0), Value::Real64(1.5), Value::Uint(9), texts(&["x"])];
    assert_eq!(read_idl(text, &first).unwrap(), expected);
    let mut end = first;
    (end[4], end[5]) = (2, 0x3f);
    assert_eq!(read_idl(text, &end), Err(BadCdr::NoParameter { at: 0 }));
}

#[test]
fn a_union_has_the_member_of_its_discriminator() {
    let text = "union U switch (short) { case 1: octet x; case -2: string s; }; struct A { U u; octet z; };";
    let value = |discriminator: i64, x: u64, s: &str| {
        Value::Struct(vec![Value::Int(discriminator), Value::Uint(x), Value::String(s.into())])
    };
    let cases = [
        (vec![1, 0, 7, 9], value(1, 7, ""), texts(&["u.s"])),
        (vec![0xfe, 0xff, 0, 0, 2, 0, 0, 0, b'a', 0, 9], value(-2, 0, "a"), texts(&["u.x"])),
        (vec![5, 0, 9], value(5, 0, ""), texts(&["u.x", "u.s"])),
    ];
    for (content, expected, absent) in cases {
        let message = [&[0, 1, 0, 0], &content[..]].concat();
        assert_eq!(read_idl(text, &message).unwrap(), [expected, Value::Uint(9), absent]);
    }
}

#[test]
fn names_of_absent_values_are_bounded() {
    let members: String = (0..200).map(|at| format!("@optional octet member_{at};")).collect();
    let text = format!("@final struct B {{ {members} }}; @final struct A {{ sequence<B> all; }};");
    let message =
        [&[0, 7, 0, 0][..], &200_004_u32.to_le_bytes(), &1_000_u32.to_le_bytes(), &[0; 200_000]].concat();
    assert_eq!(read_idl(&text, &message), Err(BadCdr::Row));
}

#[test]
fn what_does_not_match_is_refused() {
    let head = [0, 1, 0, 0];
    let with = |content: &[u8]| [&head, content].concat();
    assert_eq!(read("int8 x", &[0, 1]), Err(BadCdr::Short(2)));
    assert_eq!(read("int8 x", &[0, 0x0c, 0, 0, 1]), Err(BadCdr::Encoding(0x0c)));
    assert_eq!(read("int8 x", &with(&[0; 9])), Err(BadCdr::Longer(8)));
    assert!(matches!(read("int8 x", &head), Err(BadCdr::Malformed(Malformed::Truncated { .. }))));
    let huge = with(&[0xff; 8]);
    assert!(matches!(read("Empty[] x\n===\nMSG: a/Empty", &huge), Err(BadCdr::Malformed(_))));
    assert!(matches!(read("string x", &huge), Err(BadCdr::Malformed(_))));
    assert!(matches!(read("int8[4294967295] x", &huge), Err(BadCdr::Malformed(_))));
    let long = with(&[&1_000_000_u32.to_le_bytes()[..], &[1; 1_000_000]].concat());
    assert_eq!(read("uint8[] x", &long), Err(BadCdr::Row));
}
