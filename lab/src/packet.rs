//! The 136 bytes that every server sends: an EISA packet of seven counters, as the DAC encodes it.

use oasis_wire::batch::Header;
use std::time::SystemTime;

/// Bytes of a packet.
pub const PACKET: usize = 136;

const MAGIC: &[u8] = b"EISA\x01\x01\0\0";

/// The fields that a subscriber reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When the sample was taken, nanoseconds since 1970; packets carry microseconds.
    pub time: u64,
    /// Its number, from 1.
    pub sequence: u32,
}

impl Stamp {
    /// Sample number `sequence`, taken now.
    pub fn now(sequence: u32) -> Self {
        Self { time: now(), sequence }
    }

    /// First and last of a native batch: its first number, and when the node encoded it.
    pub fn of_batch(message: &[u8]) -> Option<(Self, u32)> {
        let header = Header::parse(message).ok()?;
        let sequence = u32::try_from(header.first_sequence).ok()?;
        Some((Self { time: header.node_time, sequence }, sequence + u32::from(header.count) - 1))
    }

    /// Reads it from a packet; none from any other message.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let rest = packet.strip_prefix(MAGIC)?.get(16..)?;
        let (seconds, rest) = rest.split_first_chunk()?;
        let (micros, rest) = rest.split_first_chunk()?;
        let time =
            u64::from(u32::from_le_bytes(*seconds)) * 1_000_000 + u64::from(u32::from_le_bytes(*micros));
        Some(Self { time: time * 1_000, sequence: u32::from_le_bytes(*rest.first_chunk()?) })
    }

    /// Appends a packet.
    pub fn write(self, out: &mut Vec<u8>) {
        let end = out.len() + PACKET;
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[0; 16]);
        out.extend_from_slice(&((self.time / 1_000_000_000) as u32).to_le_bytes());
        out.extend_from_slice(&((self.time / 1_000 % 1_000_000) as u32).to_le_bytes());
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.resize(end, 0);
    }
}

/// Nanoseconds since 1970, by the clock that probes use.
pub fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::INSTANCE;
    use oasis_probe::Sample;
    use oasis_probes::LinuxProcessorProbe;
    use oasis_wire::{batch, eisa, value::Value};

    #[test]
    fn a_packet_of_the_dac_is_read_and_has_the_same_length() {
        let probe_type = serde_json::from_str(LinuxProcessorProbe::SCHEMA).unwrap();
        let sample = batch::Sample {
            sequence: 41,
            offset: 40,
            time: 1_763_683_200_123_456_789,
            values: vec![Value::Uint(7); 7],
        };
        let mut packet = Vec::new();
        eisa::write_sample(&probe_type, INSTANCE, 0, &sample, &mut packet);
        let stamp = Stamp { time: 1_763_683_200_123_456_000, sequence: 41 };
        assert_eq!((packet.len(), Stamp::read(&packet)), (PACKET, Some(stamp)));
    }

    #[test]
    fn a_packet_has_the_length_of_the_dac_and_its_stamp() {
        let stamp = Stamp { time: 1_763_683_200_123_456_000, sequence: 41 };
        let mut packet = Vec::new();
        stamp.write(&mut packet);
        assert_eq!((packet.len(), Stamp::read(&packet)), (PACKET, Some(stamp)));
        assert_eq!(Stamp::read(&[0; PACKET]), None);
    }
}
