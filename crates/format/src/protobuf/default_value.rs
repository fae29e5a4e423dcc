//! The value of a field that a message lacks: the declared one (`[default = 42]` of proto2 and editions), or that of its type.

use super::{descriptor::Field, layout::Kind};
use oasis_wire::value::RowWriter;

/// Returns the packed default of a field; `enumerators` are those of its enum. None if the declared text is none of the
/// type.
pub fn packed(kind: &Kind, field: &Field, enumerators: Option<&[(String, i32)]>) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    let mut to = RowWriter::new(&mut row);
    let declared = field.default.as_deref();
    if let Some(enumerators) = enumerators {
        let found = match declared {
            Some(name) => Some(enumerators.iter().find(|(of, _)| of == name)?),
            // The first one, which is not always zero in proto2.
            None => enumerators.first(),
        };
        to.i32(found.map_or(0, |(_, value)| *value));
        return Some(row);
    }
    let number = declared.unwrap_or("0");
    match (kind, field.kind) {
        (Kind::Double, _) => to.f64(number.parse().ok()?),
        (Kind::Float, _) => to.f32(number.parse().ok()?),
        (Kind::Int(32) | Kind::ZigZag(32), _) | (Kind::Fixed32, SFIXED32) => to.i32(number.parse().ok()?),
        (Kind::Int(_) | Kind::ZigZag(_), _) | (Kind::Fixed64, SFIXED64) => to.i64(number.parse().ok()?),
        (Kind::Uint(32) | Kind::Fixed32, _) => to.u32(number.parse().ok()?),
        (Kind::Uint(_) | Kind::Fixed64, _) => to.u64(number.parse().ok()?),
        (Kind::Boolean, _) => to.boolean(declared.unwrap_or("false").parse().ok()?),
        (Kind::Text, _) => to.string(declared.unwrap_or_default()),
        (Kind::Bytes, _) => {
            let bytes = unescaped(declared.unwrap_or_default())?;
            to.vector(bytes.len());
            to.packed(&bytes);
        }
        (Kind::Message(_) | Kind::Recursive, _) => {}
    }
    Some(row)
}

/// `TYPE_SFIXED32` and `TYPE_SFIXED64` of `descriptor.proto`.
const SFIXED32: u64 = 15;
const SFIXED64: u64 = 16;

/// Reads bytes as `descriptor.proto` has them: with the escapes of C.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        let (base, digits) = match escape {
            b'0'..=b'7' => (8, rest.get(..3)?),
            b'x' | b'X' => (16, after.get(..2)?),
            _ => {
                bytes.push(control(escape));
                rest = after;
                continue;
            }
        };
        bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, base).ok()?);
        rest = if base == 8 { &rest[3..] } else { &after[2..] };
    }
    Some(bytes)
}

fn control(escape: u8) -> u8 {
    match escape {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_escapes_of_c() {
        assert_eq!(unescaped("\\001\\377a\\n\\\"\\\\").unwrap(), b"\x01\xffa\n\"\\");
        assert_eq!(unescaped("\\x0fz").unwrap(), b"\x0fz");
        assert!([r"\", r"\40", r"\x4", r"\777"].into_iter().all(|text| unescaped(text).is_none()));
    }

    #[test]
    fn declared_values_are_packed_as_their_type() {
        let packed = |kind: Kind, declared: Option<&str>| {
            let field = Field { default: declared.map(str::to_owned), ..Field::default() };
            packed(&kind, &field, None)
        };
        assert_eq!(packed(Kind::Int(32), Some("-42")).unwrap(), (-42_i32).to_le_bytes());
        assert_eq!(packed(Kind::Uint(64), Some("18446744073709551615")).unwrap(), [0xff; 8]);
        assert_eq!(packed(Kind::Double, Some("-inf")).unwrap(), f64::NEG_INFINITY.to_le_bytes());
        assert_eq!(packed(Kind::Boolean, Some("true")).unwrap(), [1]);
        assert_eq!(packed(Kind::Float, None).unwrap(), [0; 4]);
        assert!(packed(Kind::Int(32), Some("x")).is_none());
        let field = Field { default: None, ..Field::default() };
        let enumerators = [("FIVE".to_owned(), 5), ("SIX".to_owned(), 6)];
        assert_eq!(super::packed(&Kind::Int(32), &field, Some(&enumerators)).unwrap(), 5_i32.to_le_bytes());
        let field = Field { default: Some("SIX".into()), ..Field::default() };
        assert_eq!(super::packed(&Kind::Int(32), &field, Some(&enumerators)).unwrap(), 6_i32.to_le_bytes());
    }
}
