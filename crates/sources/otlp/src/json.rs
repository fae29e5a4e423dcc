//! Turns the JSON form of OTLP into Protocol Buffers, in one pass and without a tree.
//!
//! The [JSON form](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) has identifiers of traces and spans in hexadecimal digits, and
//! enums as numbers. Senders write 64-bit integers as texts and as numbers: both are read. Unknown fields are skipped.

use crate::layout::{FieldKind, FieldLayout, MessageLayout};
use base64::{Engine, engine::general_purpose::STANDARD};
use oasis_wire::varint;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Bytes of a length that is written before its message is known: four, so that messages have at most 256 MiB.
const LENGTH_BYTES: usize = 4;

/// Returns the message of a JSON document; it has at most `max_bytes`.
///
/// # Errors
/// If the document is no JSON, a value does not fit its field, or the message is too long. The text names line and column.
pub fn to_protobuf(json: &[u8], of: &'static MessageLayout, max_bytes: usize) -> Result<Vec<u8>, String> {
    let mut out = Output { bytes: Vec::new(), max_bytes };
    let mut from = serde_json::Deserializer::from_slice(json);
    let read = MessageSeed { of, out: &mut out }.deserialize(&mut from).and_then(|()| from.end());
    read.map_err(|error| error.to_string())?;
    Ok(out.bytes)
}

/// The message so far.
struct Output {
    bytes: Vec<u8>,
    max_bytes: usize,
}

impl Output {
    fn tag(&mut self, number: u32, wire_type: u8) {
        varint::put(u64::from(number) << 3 | u64::from(wire_type), &mut self.bytes);
    }

    /// Begins a message or a packed list. Returns the position for [`Output::end`].
    fn begin(&mut self, number: u32) -> usize {
        self.tag(number, 2);
        self.bytes.extend_from_slice(&[0; LENGTH_BYTES]);
        self.bytes.len()
    }

    /// Writes the length, as a varint with leading groups of zeros.
    fn end(&mut self, begin: usize) {
        let length = self.bytes.len() - begin;
        let bytes = self.bytes[begin - LENGTH_BYTES..begin].iter_mut().enumerate();
        bytes.for_each(|(at, byte)| *byte = (length >> (7 * at)) as u8 & 0x7f | 0x80);
        self.bytes[begin - 1] &= 0x7f;
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        if self.bytes.len() > self.max_bytes {
            let text = format!("the values have more than {} bytes: send fewer at a time", self.max_bytes);
            return Err(E::custom(text));
        }
        Ok(())
    }
}

/// Reads a message.
struct MessageSeed<'o> {
    of: &'static MessageLayout,
    out: &'o mut Output,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of OTLP")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        while let Some(field) = map.next_key_seed(NameSeed(self.of))? {
            match field {
                Some(field) if seen & number_bit(field) != 0 => {
                    return Err(A::Error::custom(format_args!("the member {:?} occurs twice", field.name)));
                }
                Some(field) => {
                    seen |= number_bit(field);
                    map.next_value_seed(ValueSeed { field, is_element: false, out: self.out })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the bit of a field among those of its message, whose numbers are below 64.
fn number_bit(field: &FieldLayout) -> u64 {
    1_u64.checked_shl(field.number).unwrap_or(0)
}

/// Finds a field by its name.
struct NameSeed(&'static MessageLayout);

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Option<&'static FieldLayout>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Option<&'static FieldLayout>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.fields.iter().find(|field| field.name == name))
    }
}

/// Reads the value of a field, or an element of its list.
struct ValueSeed<'o> {
    field: &'static FieldLayout,
    /// Whether it is an element of a list, whose tag is written.
    is_element: bool,
    out: &'o mut Output,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.out.check()?;
        from.deserialize_any(self)
    }
}

impl ValueSeed<'_> {
    fn is_packed(&self) -> bool {
        let kind = self.field.kind;
        self.is_element && matches!(kind, FieldKind::Varint | FieldKind::Fixed64 | FieldKind::Double)
    }

    fn mismatch<E: Error>(&self, value: impl fmt::Display) -> E {
        let value: String = value.to_string().chars().take(40).collect();
        E::custom(format_args!("{:?} cannot be {value}", self.field.name))
    }

    /// Writes a number. One alone in place of a list is an element of it.
    fn scalar(self, wire_type: u8, put: impl FnOnce(&mut Vec<u8>)) {
        if !self.is_packed() {
            self.out.tag(self.field.number, wire_type);
        }
        put(&mut self.out.bytes);
    }

    fn integer<E: Error>(self, value: i128) -> Result<(), E> {
        let bits = u64::try_from(value).or_else(|_| i64::try_from(value).map(|value| value as u64));
        let Ok(bits) = bits else { return Err(self.mismatch(value)) };
        // Times and counts are unsigned; of these fields only this one is not.
        if value < 0 && matches!(self.field.kind, FieldKind::Fixed64) && self.field.name != "asInt" {
            return Err(self.mismatch(value));
        }
        match self.field.kind {
            FieldKind::Varint => self.scalar(0, |out| varint::put(bits, out)),
            FieldKind::Zigzag => self.scalar(0, |out| varint::put(varint::zigzag(bits), out)),
            FieldKind::Fixed64 => self.scalar(1, |out| out.extend_from_slice(&bits.to_le_bytes())),
            FieldKind::Fixed32 => self.scalar(5, |out| out.extend_from_slice(&(bits as u32).to_le_bytes())),
            FieldKind::Double => return self.real(value as f64),
            _ => return Err(self.mismatch(value)),
        }
        Ok(())
    }

    fn real<E: Error>(self, value: f64) -> Result<(), E> {
        match self.field.kind {
            FieldKind::Double => self.scalar(1, |out| out.extend_from_slice(&value.to_le_bytes())),
            FieldKind::Varint | FieldKind::Zigzag | FieldKind::Fixed64 | FieldKind::Fixed32
                if value.fract() == 0.0 =>
            {
                return self.integer(value as i128);
            }
            _ => return Err(self.mismatch(value)),
        }
        Ok(())
    }

    fn bytes(self, bytes: &[u8]) {
        self.out.tag(self.field.number, 2);
        varint::put(bytes.len() as u64, &mut self.out.bytes);
        self.out.bytes.extend_from_slice(bytes);
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of {:?}", self.field.name)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        if !matches!(self.field.kind, FieldKind::Bool) {
            return Err(self.mismatch(value));
        }
        self.scalar(0, |out| out.push(value.into()));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.integer(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.integer(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.real(value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.field.kind {
            FieldKind::Text => self.bytes(text.as_bytes()),
            FieldKind::Hex => match hex(text) {
                Some(bytes) => self.bytes(&bytes),
                None => return Err(self.mismatch(format_args!("{text:?}: it has hexadecimal digits"))),
            },
            FieldKind::Base64 => match STANDARD.decode(text) {
                Ok(bytes) => self.bytes(&bytes),
                Err(error) => return Err(self.mismatch(format_args!("{text:?}: {error}"))),
            },
            FieldKind::Double => match text.parse() {
                Ok(value) => return self.real(value),
                Err(_) => return Err(self.mismatch(format_args!("{text:?}"))),
            },
            FieldKind::Varint | FieldKind::Zigzag | FieldKind::Fixed64 | FieldKind::Fixed32 => {
                match text.parse() {
                    Ok(value) => return self.integer(value),
                    Err(_) => return Err(self.mismatch(format_args!("{text:?}"))),
                }
            }
            FieldKind::Bool | FieldKind::Message(_) => return Err(self.mismatch(format_args!("{text:?}"))),
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { field, is_element, out } = self;
        if !field.is_list || is_element {
            return Err(A::Error::custom(format_args!("{:?} is no list", field.name)));
        }
        let is_packed = ValueSeed { field, is_element: true, out }.is_packed();
        let begin = if is_packed { out.begin(field.number) } else { 0 };
        while list.next_element_seed(ValueSeed { field, is_element: true, out })?.is_some() {}
        if is_packed {
            out.end(begin);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let FieldKind::Message(of) = self.field.kind else { return Err(self.mismatch("an object")) };
        if self.field.is_list && !self.is_element {
            return Err(self.mismatch("an object"));
        }
        let begin = self.out.begin(self.field.number);
        MessageSeed { of, out: self.out }.visit_map(map)?;
        self.out.end(begin);
        Ok(())
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    Some(pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}
