//! A field of a message, and its bytes.

use oasis_wire::{schema::MetricType, value::RowWriter};
use std::borrow::Cow;

/// A number of a field, or a character of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scalar {
    Char,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Real32,
    Real64,
}

/// A field.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub scalar: Scalar,
    /// The number of elements of an array.
    pub elements: Option<usize>,
    /// Whether version 2 has added it, so that the digest of the message does not contain it.
    pub is_extension: bool,
    /// UCUM, or empty.
    pub unit: &'static str,
    /// The name of an enum, or empty.
    pub enumeration: &'static str,
    pub description: &'static str,
    /// Its first byte in the payload.
    pub offset: usize,
}

impl Scalar {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "char" => Self::Char,
            "int8" => Self::Int8,
            "uint8" => Self::Uint8,
            "int16" => Self::Int16,
            "uint16" => Self::Uint16,
            "int32" => Self::Int32,
            "uint32" => Self::Uint32,
            "int64" => Self::Int64,
            "uint64" => Self::Uint64,
            "float" => Self::Real32,
            "double" => Self::Real64,
            _ => return None,
        })
    }

    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::Char | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Real32 => 4,
            Self::Int64 | Self::Uint64 | Self::Real64 => 8,
        }
    }

    /// Whether it can carry an enum.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Char | Self::Real32 | Self::Real64)
    }

    fn kind(self) -> MetricType {
        match self {
            Self::Char | Self::Uint8 => MetricType::Uint8,
            Self::Int8 => MetricType::Int8,
            Self::Int16 => MetricType::Int16,
            Self::Uint16 => MetricType::Uint16,
            Self::Int32 => MetricType::Int32,
            Self::Uint32 => MetricType::Uint32,
            Self::Int64 => MetricType::Int64,
            Self::Uint64 => MetricType::Uint64,
            Self::Real32 => MetricType::Real32,
            Self::Real64 => MetricType::Real64,
        }
    }

    #[cfg(test)]
    pub fn name_in_c(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::Int8 => "int8_t",
            Self::Uint8 => "uint8_t",
            Self::Int16 => "int16_t",
            Self::Uint16 => "uint16_t",
            Self::Int32 => "int32_t",
            Self::Uint32 => "uint32_t",
            Self::Int64 => "int64_t",
            Self::Uint64 => "uint64_t",
            Self::Real32 => "float",
            Self::Real64 => "double",
        }
    }
}

impl Field {
    /// Parses the columns of the table after the first one.
    pub fn parse(
        is_extension: bool,
        scalar: &str,
        name: &'static str,
        unit: &'static str,
        enumeration: &'static str,
        description: &'static str,
    ) -> Option<Self> {
        let (scalar, elements) = match scalar.strip_suffix(']').and_then(|scalar| scalar.split_once('[')) {
            Some((scalar, elements)) => (scalar, Some(elements.parse().ok()?)),
            None => (scalar, None),
        };
        let scalar = Scalar::parse(scalar)?;
        Some(Self { name, scalar, elements, is_extension, unit, enumeration, description, offset: 0 })
    }

    /// Its bytes in a payload.
    pub fn bytes(&self) -> usize {
        self.scalar.bytes() * self.elements.unwrap_or(1)
    }

    /// The type of its values: arrays of characters are text.
    pub fn kind(&self) -> MetricType {
        match self.elements {
            Some(_) if self.scalar == Scalar::Char => MetricType::String,
            Some(_) => MetricType::Vector(Box::new(self.scalar.kind())),
            None => self.scalar.kind(),
        }
    }

    /// Appends its value to a row, which has the byte order of payloads.
    pub fn pack(&self, payload: &[u8], row: &mut Vec<u8>) {
        let bytes = payload.get(self.offset..self.offset + self.bytes()).unwrap_or_default();
        let mut writer = RowWriter::new(row);
        match self.elements {
            Some(_) if self.scalar == Scalar::Char => writer.string(&text(bytes)),
            Some(elements) => {
                writer.vector(elements);
                writer.packed(bytes);
            }
            None => writer.packed(bytes),
        }
    }
}

/// The characters before the first zero.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default())
}
