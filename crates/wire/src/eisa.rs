//! The EISA packet of the papers: one sample, self-contained, in CDR (`docs/reference/eisa.md`).

mod command;

pub use command::{COMMAND_LENGTH, ClientCommand, CommandError};

use crate::{
    batch::Sample,
    cdr::{ByteOrder, CdrReader, Writer},
    reader::Malformed,
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};
use alloc::vec::Vec;
use uuid::Uuid;

const MAGIC: [u8; 4] = *b"EISA";
/// The version that is written: that of the captured frame.
pub const VERSION: (u8, u8) = (1, 1);
/// Probe data is aligned to this, counted from the start of the packet.
const DATA_ALIGNMENT: usize = 8;
/// Offset of the data size.
const DATA_SIZE: usize = 40;

/// A packet, its probe data not yet interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Major and minor.
    pub version: (u8, u8),
    /// Probe type.
    pub uuid: Uuid,
    /// Time of the sample: seconds.
    pub seconds: u32,
    /// Time of the sample: microseconds.
    pub microseconds: u32,
    /// Sequence number; wraps.
    pub sequence: u32,
    /// Probe state.
    pub state: u16,
    /// Instance name.
    pub instance: &'a str,
    /// The metrics, CDR-encoded; 8-aligned within the packet.
    pub data: &'a [u8],
}

/// Errors of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Not an EISA packet.
    #[error("packet starts with {0:?} instead of EISA")]
    Magic([u8; 4]),
    /// A version other than 1.0 and 1.1.
    #[error("unsupported EISA version {0}.{1}: supported are 1.0 and 1.1")]
    Version(u8, u8),
    /// Truncated, or a field is invalid.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// The packet continues after its data.
    #[error("{0} bytes after the probe data")]
    Leftover(usize),
}

impl<'a> Packet<'a> {
    /// Reads a packet; all of `bytes` must belong to it.
    pub fn decode(bytes: &'a [u8], order: ByteOrder) -> Result<Self, PacketError> {
        let mut reader = CdrReader::new(bytes, 0, order);
        let magic = reader.bytes.array()?;
        if magic != MAGIC {
            return Err(PacketError::Magic(magic));
        }
        let [major, minor] = reader.bytes.array()?;
        if major != 1 || minor > 1 {
            return Err(PacketError::Version(major, minor));
        }
        let uuid = Uuid::from_fields(reader.u32()?, reader.u16()?, reader.u16()?, &reader.bytes.array()?);
        let (seconds, microseconds, sequence, state) =
            (reader.u32()?, reader.u32()?, reader.u32()?, reader.u16()?);
        let data_size = reader.u32()?;
        let instance = reader.string()?;
        reader.bytes.align(DATA_ALIGNMENT)?;
        let data = reader.bytes.take(usize::try_from(data_size).unwrap_or(usize::MAX))?;
        match reader.bytes.left() {
            0 => Ok(Self {
                version: (major, minor),
                uuid,
                seconds,
                microseconds,
                sequence,
                state,
                instance,
                data,
            }),
            left => Err(PacketError::Leftover(left)),
        }
    }

    /// Appends the packet to `out`, padding zeroed.
    pub fn encode(&self, order: ByteOrder, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out, order);
        self.write_head(&mut writer);
        writer.octets(self.data);
        writer.patch_u32(DATA_SIZE, u32::try_from(self.data.len()).unwrap_or(u32::MAX));
    }

    fn write_head(&self, writer: &mut Writer<'_>) {
        writer.octets(&MAGIC);
        writer.octets(&[self.version.0, self.version.1]);
        let (low, mid, high, rest) = self.uuid.as_fields();
        writer.number(low.to_le_bytes());
        writer.number(mid.to_le_bytes());
        writer.number(high.to_le_bytes());
        writer.octets(rest);
        writer.number(self.seconds.to_le_bytes());
        writer.number(self.microseconds.to_le_bytes());
        writer.number(self.sequence.to_le_bytes());
        writer.number(self.state.to_le_bytes());
        writer.number(0_u32.to_le_bytes()); // data size, patched when it is known
        writer.string(self.instance);
        writer.align(DATA_ALIGNMENT);
    }
}

/// Appends one sample of a batch as a packet, little-endian as on the web door.
pub fn write_sample(probe_type: &ProbeType, instance: &str, state: u16, sample: &Sample, out: &mut Vec<u8>) {
    let packet = Packet {
        version: VERSION,
        uuid: probe_type.uuid,
        seconds: (sample.time / 1_000_000_000) as u32,
        microseconds: (sample.time / 1_000 % 1_000_000) as u32,
        sequence: sample.sequence as u32,
        state,
        // A CDR string ends at its first NUL.
        instance: instance.split('\0').next().unwrap_or_default(),
        data: &[],
    };
    let mut writer = Writer::new(out, ByteOrder::Little);
    packet.write_head(&mut writer);
    let start = writer.at();
    write_members(&probe_type.metrics, &sample.values, &mut writer);
    let size = writer.at() - start;
    writer.patch_u32(DATA_SIZE, u32::try_from(size).unwrap_or(u32::MAX));
}

/// Appends the values of metrics, or of members of a struct, as CDR: padding counts from the start of the writer's packet.
pub fn write_members(members: &[Metric], values: &[Value], to: &mut Writer<'_>) {
    members.iter().zip(values).for_each(|(member, value)| write_value(&member.kind, value, to));
}

fn write_value(kind: &MetricType, value: &Value, to: &mut Writer<'_>) {
    match (value, kind) {
        (Value::Int(value), _) => write_integer(kind, *value as u64, to),
        (Value::Uint(value), _) => write_integer(kind, *value, to),
        (Value::Real32(value), _) => to.number(value.to_le_bytes()),
        (Value::Real64(value), _) => to.number(value.to_le_bytes()),
        (Value::Boolean(value), _) => to.octets(&[u8::from(*value)]),
        (Value::String(text), _) => to.string(text),
        (Value::Vector(elements), MetricType::Vector(element)) => {
            to.number(u32::try_from(elements.len()).unwrap_or(u32::MAX).to_le_bytes());
            elements.iter().for_each(|value| write_value(element, value, to));
        }
        (Value::Struct(members), MetricType::Struct(of)) => write_members(&of.members, members, to),
        // As `sequence<octet>`.
        (Value::Blob(bytes), _) => {
            to.number(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            to.octets(bytes);
        }
        (Value::Vector(_) | Value::Struct(_), _) => {}
    }
}

fn write_integer(kind: &MetricType, value: u64, to: &mut Writer<'_>) {
    match kind.fixed_width() {
        Some(1) => to.number([value as u8]),
        Some(2) => to.number((value as u16).to_le_bytes()),
        Some(4) => to.number((value as u32).to_le_bytes()),
        _ => to.number(value.to_le_bytes()),
    }
}
