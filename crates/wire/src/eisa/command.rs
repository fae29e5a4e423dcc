//! Commands of the web client of 2012: 256 bytes, an opcode and names.

use crate::{
    cdr::{ByteOrder, CdrReader, Writer},
    reader::Malformed,
};
use alloc::{string::String, vec::Vec};

/// Every command has this length, with zeros after its last field.
pub const COMMAND_LENGTH: usize = 256;

const REGISTER: u8 = 1;
const UNREGISTER: u8 = 2;
const HERTZ: u8 = 3;
const SCHEMA: u8 = 4;

/// A command on a WebSocket without subprotocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientCommand {
    /// Subscribes to a probe instance.
    Register {
        /// EI node name.
        node: String,
        /// Probe instance name.
        instance: String,
    },
    /// Unsubscribes.
    Unregister {
        /// EI node name.
        node: String,
        /// Probe instance name.
        instance: String,
    },
    /// Changes its rate.
    Hertz {
        /// EI node name.
        node: String,
        /// Probe instance name.
        instance: String,
        /// Decimal text, as typed into the page of 2012.
        hertz: String,
    },
    /// Requests its schema.
    Schema {
        /// EI node name.
        node: String,
        /// Probe instance name.
        instance: String,
    },
}

/// Errors of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Not 256 bytes.
    #[error("command of {0} bytes: {COMMAND_LENGTH} are required")]
    Length(usize),
    /// An opcode other than 1 to 4.
    #[error("unknown opcode {0:#04x}")]
    Opcode(u8),
    /// An invalid string.
    #[error("{0}")]
    Malformed(#[from] Malformed),
}

impl ClientCommand {
    /// Reads a command. The bytes after its last field are ignored.
    pub fn decode(bytes: &[u8]) -> Result<Self, CommandError> {
        if bytes.len() != COMMAND_LENGTH {
            return Err(CommandError::Length(bytes.len()));
        }
        let opcode = bytes[0];
        if !(REGISTER..=SCHEMA).contains(&opcode) {
            return Err(CommandError::Opcode(opcode));
        }
        let mut reader = CdrReader::new(bytes, 1, ByteOrder::Little);
        let node = String::from(reader.string()?);
        let instance = String::from(reader.string()?);
        Ok(match opcode {
            REGISTER => Self::Register { node, instance },
            UNREGISTER => Self::Unregister { node, instance },
            HERTZ => Self::Hertz { node, instance, hertz: reader.string()?.into() },
            _ => Self::Schema { node, instance },
        })
    }

    /// The 256 bytes, or the length that the names would need.
    pub fn encode(&self) -> Result<[u8; COMMAND_LENGTH], CommandError> {
        let (opcode, node, instance, hertz) = match self {
            Self::Register { node, instance } => (REGISTER, node, instance, None),
            Self::Unregister { node, instance } => (UNREGISTER, node, instance, None),
            Self::Hertz { node, instance, hertz } => (HERTZ, node, instance, Some(hertz)),
            Self::Schema { node, instance } => (SCHEMA, node, instance, None),
        };
        let mut bytes = Vec::with_capacity(COMMAND_LENGTH);
        let mut writer = Writer::new(&mut bytes, ByteOrder::Little);
        writer.octets(&[opcode]);
        [Some(node), Some(instance), hertz].into_iter().flatten().for_each(|text| writer.string(text));
        let mut command = [0; COMMAND_LENGTH];
        command.get_mut(..bytes.len()).ok_or(CommandError::Length(bytes.len()))?.copy_from_slice(&bytes);
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hertz() -> ClientCommand {
        ClientCommand::Hertz {
            node: "plant".into(),
            instance: "ProcessorProbe_SmokeTest".into(),
            hertz: "2.5".into(),
        }
    }

    #[test]
    fn the_first_string_length_is_at_offset_four() {
        let bytes = hertz().encode().unwrap();
        assert_eq!(bytes[..10], [3, 0, 0, 0, 6, 0, 0, 0, b'p', b'l']);
        assert_eq!(ClientCommand::decode(&bytes), Ok(hertz()));
    }

    #[test]
    fn an_invalid_command_is_refused_by_name() {
        let good = hertz().encode().unwrap();
        assert_eq!(ClientCommand::decode(&good[..255]), Err(CommandError::Length(255)));
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            ClientCommand::decode(&bytes)
        };
        assert_eq!(with(0, 9), Err(CommandError::Opcode(9)));
        assert!(matches!(with(7, 255), Err(CommandError::Malformed(Malformed::Truncated { .. }))));
        assert!(matches!(with(13, b'x'), Err(CommandError::Malformed(Malformed::Terminator { .. }))));
        assert!(matches!(with(8, 0xff), Err(CommandError::Malformed(Malformed::Text { .. }))));
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let long = ClientCommand::Register { node: "x".repeat(300), instance: "y".into() };
        assert!(matches!(long.encode(), Err(CommandError::Length(_))));
    }
}
