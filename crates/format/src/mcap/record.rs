//! Parsers of the three kinds of records, over their bytes: a wrong length causes no allocation.
//!
//! <https://mcap.dev/spec> has the layout: little-endian, texts and maps with their length in bytes in front, as 32 bits.

use std::collections::BTreeMap;

/// Errors of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// A length exceeds its end.
    #[error("truncated record")]
    Short,
    /// A string is not UTF-8.
    #[error("string in a record is not UTF-8")]
    Text,
}

/// A schema.
#[derive(Debug)]
pub struct Schema<'a> {
    pub id: u16,
    pub name: &'a str,
    pub encoding: &'a str,
    pub data: &'a [u8],
}

/// A channel.
#[derive(Debug)]
pub struct ChannelRecord<'a> {
    pub id: u16,
    pub schema: u16,
    pub topic: &'a str,
    pub encoding: &'a str,
    pub metadata: BTreeMap<&'a str, &'a str>,
}

/// A message.
#[derive(Debug)]
pub struct Message<'a> {
    pub channel: u16,
    pub sequence: u32,
    pub log_time: u64,
    pub data: &'a [u8],
}

impl<'a> Schema<'a> {
    pub fn read(mut from: &'a [u8]) -> Result<Self, BadRecord> {
        let id = u16::from_le_bytes(array(&mut from)?);
        Ok(Self { id, name: text(&mut from)?, encoding: text(&mut from)?, data: bytes(&mut from)? })
    }
}

impl<'a> ChannelRecord<'a> {
    pub fn read(mut from: &'a [u8]) -> Result<Self, BadRecord> {
        let id = u16::from_le_bytes(array(&mut from)?);
        let schema = u16::from_le_bytes(array(&mut from)?);
        let (topic, encoding) = (text(&mut from)?, text(&mut from)?);
        let mut pairs = bytes(&mut from)?;
        let mut metadata = BTreeMap::new();
        while !pairs.is_empty() {
            metadata.insert(text(&mut pairs)?, text(&mut pairs)?);
        }
        Ok(Self { id, schema, topic, encoding, metadata })
    }
}

impl<'a> Message<'a> {
    pub fn read(mut from: &'a [u8]) -> Result<Self, BadRecord> {
        let channel = u16::from_le_bytes(array(&mut from)?);
        let sequence = u32::from_le_bytes(array(&mut from)?);
        let log_time = u64::from_le_bytes(array(&mut from)?);
        let _publish_time: [u8; 8] = array(&mut from)?;
        Ok(Self { channel, sequence, log_time, data: from })
    }
}

fn array<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], BadRecord> {
    let (head, rest) = from.split_first_chunk().ok_or(BadRecord::Short)?;
    *from = rest;
    Ok(*head)
}

fn bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], BadRecord> {
    let length = usize::try_from(u32::from_le_bytes(array(from)?)).map_err(|_| BadRecord::Short)?;
    let (head, rest) = from.split_at_checked(length).ok_or(BadRecord::Short)?;
    *from = rest;
    Ok(head)
}

fn text<'a>(from: &mut &'a [u8]) -> Result<&'a str, BadRecord> {
    str::from_utf8(bytes(from)?).map_err(|_| BadRecord::Text)
}
