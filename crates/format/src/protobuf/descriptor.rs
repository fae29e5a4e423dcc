//! The types of a `FileDescriptorSet` (`google/protobuf/descriptor.proto`).

use super::wire::{BadWire, WireValue, next_field};
use oasis_wire::schema::MAX_MEMBERS;
use std::collections::HashMap;

/// Messages within each other.
const MAX_NESTING: usize = 32;

/// Message types and enums by full name, with a dot in front.
#[derive(Debug, Default)]
pub struct Types {
    pub messages: HashMap<String, Vec<Field>>,
    pub enums: HashMap<String, Vec<(String, i32)>>,
    /// Fields and values of all types.
    size: usize,
}

/// A field of a message type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub number: u32,
    pub is_repeated: bool,
    /// The number of its type in the descriptor.
    pub kind: u64,
    /// The name of its message type or enum.
    pub type_name: String,
    /// The declared default, as text.
    pub default: Option<String>,
    /// The oneof that it is a member of, counted within its message.
    pub oneof: Option<u64>,
}

impl Types {
    /// Reads a set of files.
    pub fn read(mut set: &[u8]) -> Result<Self, BadWire> {
        let mut types = Self::default();
        while let Some((number, value)) = next_field(&mut set)? {
            if let (1, WireValue::Bytes(file)) = (number, value) {
                types.file(file)?;
            }
        }
        Ok(types)
    }

    fn file(&mut self, file: &[u8]) -> Result<(), BadWire> {
        let package = text_of(file, 2)?;
        let scope = if package.is_empty() { String::new() } else { format!(".{package}") };
        for (number, bytes) in bytes_of(file)? {
            match number {
                4 => self.message(&scope, bytes, 0)?,
                5 => self.enumeration(&scope, bytes)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn message(&mut self, scope: &str, message: &[u8], depth: usize) -> Result<(), BadWire> {
        if depth > MAX_NESTING {
            return Err(BadWire);
        }
        let name = format!("{scope}.{}", text_of(message, 1)?);
        let mut fields = Vec::new();
        for (number, bytes) in bytes_of(message)? {
            match number {
                2 => fields.push(field(bytes)?),
                3 => self.message(&name, bytes, depth + 1)?,
                4 => self.enumeration(&name, bytes)?,
                _ => {}
            }
        }
        self.count(1 + fields.len())?;
        self.messages.insert(name, fields);
        Ok(())
    }

    fn enumeration(&mut self, scope: &str, of: &[u8]) -> Result<(), BadWire> {
        let mut values = Vec::new();
        for (number, bytes) in bytes_of(of)? {
            if number == 2 {
                let mut value = (text_of(bytes, 1)?, 0);
                let mut rest = bytes;
                while let Some((number, found)) = next_field(&mut rest)? {
                    if let (2, WireValue::Varint(found)) = (number, found) {
                        value.1 = found as i32;
                    }
                }
                values.push(value);
            }
        }
        self.count(1 + values.len())?;
        self.enums.insert(format!("{scope}.{}", text_of(of, 1)?), values);
        Ok(())
    }

    fn count(&mut self, more: usize) -> Result<(), BadWire> {
        self.size += more;
        if self.size > MAX_MEMBERS * 4 { Err(BadWire) } else { Ok(()) }
    }
}

fn field(mut bytes: &[u8]) -> Result<Field, BadWire> {
    let mut field = Field { name: text_of(bytes, 1)?, type_name: text_of(bytes, 6)?, ..Field::default() };
    while let Some((number, value)) = next_field(&mut bytes)? {
        match (number, value) {
            (3, WireValue::Varint(value)) => field.number = u32::try_from(value).map_err(|_| BadWire)?,
            (4, WireValue::Varint(label)) => field.is_repeated = label == 3,
            (5, WireValue::Varint(kind)) => field.kind = kind,
            (7, WireValue::Bytes(text)) => {
                field.default = Some(str::from_utf8(text).map_err(|_| BadWire)?.to_owned());
            }
            (9, WireValue::Varint(oneof)) => field.oneof = Some(oneof),
            _ => {}
        }
    }
    Ok(field)
}

/// The fields of a message that are bytes.
fn bytes_of(mut message: &[u8]) -> Result<Vec<(u32, &[u8])>, BadWire> {
    let mut all = Vec::new();
    while let Some((number, value)) = next_field(&mut message)? {
        if let WireValue::Bytes(bytes) = value {
            all.push((number, bytes));
        }
    }
    Ok(all)
}

fn text_of(message: &[u8], wanted: u32) -> Result<String, BadWire> {
    let found = bytes_of(message)?.into_iter().rfind(|(number, _)| *number == wanted);
    let text = found.map(|(_, bytes)| str::from_utf8(bytes)).transpose().map_err(|_| BadWire)?;
    Ok(text.unwrap_or_default().to_owned())
}
