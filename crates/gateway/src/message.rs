//! Messages of the link (`docs/reference/embedded.md`): bodies of frames to values and back. Pure.

use crate::frame::Frame;
use oasis_wire::probe_kind::ProbeKind;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Version of the link.
pub const VERSION: u8 = 1;
/// Most instances of a device.
pub const MAX_INSTANCES: usize = 32;
/// Longest name of a device or an instance, bytes.
const MAX_NAME: usize = 64;
/// Longest text of a schema, bytes.
pub const MAX_SCHEMA: u16 = 16_384;

/// Message of a device.
#[derive(Debug, Clone, PartialEq)]
pub enum FromDevice<'a> {
    /// A native batch.
    Batch(&'a [u8]),
    /// Identity of the device.
    Announce(Announce),
    /// A piece of a schema.
    Schema(SchemaPiece<'a>),
    /// States of the instances, in order.
    Counters(Vec<InstanceCounters>),
    /// Asks for the time; its uptime in nanoseconds.
    TimeRequest(u64),
    /// Answer to a command.
    Result(CommandResult),
    /// A kind that this release does not know.
    Unknown,
}

/// Identity of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announce {
    /// The last session that the device knows; 0 if none.
    pub session: u32,
    /// The device has started since it was accepted.
    pub has_started: bool,
    /// Starts since its memory was last invalid.
    pub starts: u32,
    /// The node's name.
    pub name: String,
    /// Name and version of its program.
    pub software: String,
    /// Its instances.
    pub instances: Vec<AnnouncedInstance>,
}

/// An instance of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedInstance {
    /// UUID of its probe type.
    pub probe_type: Uuid,
    /// CRC-32 of the schema's text.
    pub schema_crc: u32,
    /// Bytes of the schema's text.
    pub schema_bytes: u16,
    /// Kind of sampling.
    pub kind: ProbeKind,
    /// Whether it takes samples.
    pub enabled: bool,
    /// Its rate; 0 if the application decides.
    pub millihertz: u32,
    /// Last sequence number of the session that was given to a sample and will not be sent any more.
    pub ended: u64,
    /// Its name.
    pub name: String,
}

/// A piece of a schema's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaPiece<'a> {
    /// Number of the instance.
    pub instance: u8,
    /// Offset of the beginning.
    pub offset: u16,
    /// Bytes of the whole text.
    pub total: u16,
    /// The piece.
    pub text: &'a [u8],
}

/// Samples of an instance in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceCounters {
    /// Last sequence number given.
    pub taken: u64,
    /// Last sequence number sent, or dropped before a batch that was sent.
    pub sent: u64,
    /// Samples dropped up to `sent` because the ring was full.
    pub ring_full: u32,
}

/// Answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandResult {
    /// Its id.
    pub id: u32,
    /// 0 if it was executed.
    pub outcome: u8,
    /// Whether the instance takes samples now.
    pub enabled: bool,
    /// Its rate now; 0 if it has none.
    pub millihertz: u32,
}

/// Message of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToDevice {
    /// The session that holds from now on.
    Accept {
        /// Its number, not 0.
        session: u32,
        /// Starts in the announcement that this answers.
        starts: u32,
    },
    /// Asks for a piece of a schema.
    AskSchema {
        /// Number of the instance.
        instance: u8,
        /// Offset of the piece.
        offset: u16,
    },
    /// Asks the device to announce itself.
    AskAnnounce,
    /// Answers a time request.
    Time {
        /// Uptime in the request.
        uptime: u64,
        /// The DAC's clock when it arrived, nanoseconds since 1970.
        time: u64,
    },
    /// A command.
    Command {
        /// Its id.
        id: u32,
        /// Number of the instance.
        instance: u8,
        /// Action of the command.
        command: u8,
        /// Millihertz, or 0.
        argument: u32,
    },
}

/// A frame is whole, but no device sends this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The body is shorter than its fields.
    #[error("the message ends too early")]
    Short,
    /// Another version of the link.
    #[error("the device uses version {0} of the link, this gateway {VERSION}: update the older one")]
    Version(u8),
    /// A name that DACs refuse.
    #[error("a name is empty, longer than {MAX_NAME} bytes, not UTF-8, or has control characters")]
    Name,
    /// A name of a device with a sign of patterns.
    #[error(
        "the device is called {0:?}: give it a name without / and *, which patterns such as NODE/* would take for theirs"
    )]
    NodeName(String),
    /// Two instances have one name.
    #[error("two instances are called {0:?}")]
    TwoInstances(String),
    /// Too many instances, or none.
    #[error("{0} instances: a device has 1 to {MAX_INSTANCES}")]
    Instances(u8),
    /// A value that is not defined.
    #[error("the message has a value that is not defined")]
    Value,
}

/// Reads the message in a frame.
///
/// # Errors
/// If no device sends this.
pub fn parse<'a>(frame: &Frame<'a>) -> Result<FromDevice<'a>, Invalid> {
    let mut fields = Fields(frame.body);
    Ok(match frame.kind {
        0x01 => FromDevice::Batch(frame.body),
        0x10 => FromDevice::Announce(announce(frame.session, &mut fields)?),
        0x11 => {
            let (instance, offset, total) = (fields.u8()?, fields.u16()?, fields.u16()?);
            FromDevice::Schema(SchemaPiece { instance, offset, total, text: fields.0 })
        }
        0x12 => FromDevice::Counters(counters(&mut fields)?),
        0x13 => FromDevice::TimeRequest(fields.u64()?),
        0x14 => FromDevice::Result(CommandResult {
            id: fields.u32()?,
            outcome: fields.u8()?,
            enabled: fields.flag()?,
            millihertz: fields.u32()?,
        }),
        _ => FromDevice::Unknown,
    })
}

fn announce(session: u32, fields: &mut Fields<'_>) -> Result<Announce, Invalid> {
    let version = fields.u8()?;
    if version != VERSION {
        return Err(Invalid::Version(version));
    }
    let (flags, starts) = (fields.u8()?, fields.u32()?);
    let (name, software) = (fields.name(1)?, fields.name(0)?);
    if name.contains(['/', '*']) {
        return Err(Invalid::NodeName(name));
    }
    let count = fields.u8()?;
    if !(1..=MAX_INSTANCES).contains(&usize::from(count)) {
        return Err(Invalid::Instances(count));
    }
    let instances = (0..count).map(|_| instance(fields)).collect::<Result<Vec<_>, _>>()?;
    let mut names = BTreeSet::new();
    if let Some(twice) = instances.iter().find(|instance| !names.insert(&instance.name)) {
        return Err(Invalid::TwoInstances(twice.name.clone()));
    }
    Ok(Announce { session, has_started: flags & 1 != 0, starts, name, software, instances })
}

fn instance(fields: &mut Fields<'_>) -> Result<AnnouncedInstance, Invalid> {
    Ok(AnnouncedInstance {
        probe_type: Uuid::from_bytes(fields.array()?),
        schema_crc: fields.u32()?,
        schema_bytes: fields
            .u16()
            .and_then(|bytes| if bytes <= MAX_SCHEMA { Ok(bytes) } else { Err(Invalid::Value) })?,
        kind: match fields.u8()? {
            0 => ProbeKind::Periodic,
            1 => ProbeKind::Pushed,
            2 => ProbeKind::OnChange,
            3 => ProbeKind::Event,
            _ => return Err(Invalid::Value),
        },
        enabled: fields.flag()?,
        millihertz: fields.u32()?,
        ended: fields.u64()?,
        name: fields.name(1)?,
    })
}

fn counters(fields: &mut Fields<'_>) -> Result<Vec<InstanceCounters>, Invalid> {
    let mut counters = Vec::new();
    // A later release may add fields after them.
    while fields.0.len() >= 20 && counters.len() < MAX_INSTANCES {
        let (taken, sent, ring_full) = (fields.u64()?, fields.u64()?, fields.u32()?);
        counters.push(InstanceCounters { taken, sent, ring_full });
    }
    Ok(counters)
}

/// The rest of a body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Invalid> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or(Invalid::Short)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u8(&mut self) -> Result<u8, Invalid> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, Invalid> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Invalid> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Invalid> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Result<bool, Invalid> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Invalid::Value),
        }
    }

    /// A text of at least this many bytes that is fit for a name.
    fn name(&mut self, least: usize) -> Result<String, Invalid> {
        let length = usize::from(self.u8()?);
        let (text, rest): (&'a [u8], _) = self.0.split_at_checked(length).ok_or(Invalid::Short)?;
        self.0 = rest;
        let text = std::str::from_utf8(text).map_err(|_| Invalid::Name)?;
        let is_fine = (least..=MAX_NAME).contains(&length) && !text.chars().any(char::is_control);
        if is_fine { Ok(text.into()) } else { Err(Invalid::Name) }
    }
}

impl ToDevice {
    /// Returns the kind of its frame and its body.
    pub fn to_body(self) -> (u8, Vec<u8>) {
        match self {
            Self::Accept { session, starts } => {
                (0x20, [session.to_le_bytes(), starts.to_le_bytes()].concat())
            }
            Self::AskSchema { instance, offset } => (0x21, [&[instance][..], &offset.to_le_bytes()].concat()),
            Self::AskAnnounce => (0x22, Vec::new()),
            Self::Time { uptime, time } => (0x23, [uptime.to_le_bytes(), time.to_le_bytes()].concat()),
            Self::Command { id, instance, command, argument } => {
                (0x24, [&id.to_le_bytes()[..], &[instance, command], &argument.to_le_bytes()].concat())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Deframer, write};
    use proptest::prelude::*;
    use serde_json::Value;

    /// The frames that the device's tests read as well.
    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../../vectors/embedded-link.json")).unwrap()
    }

    fn bytes_of(hex: &Value) -> Vec<u8> {
        let digits: Vec<char> = hex.as_str().unwrap().chars().collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
            .collect()
    }

    /// Calls a test with the one frame of a vector.
    fn with_frame(vector: &Value, test: impl FnOnce(Frame<'_>)) {
        let mut test = Some(test);
        Deframer::default().push(&bytes_of(&vector["bytes"]), |frame| {
            (test.take().unwrap())(frame.unwrap());
        });
        assert!(test.is_none(), "{vector}");
    }

    #[test]
    fn frames_of_the_vectors_are_read_and_written() {
        for vector in vectors()["frames"].as_array().unwrap() {
            with_frame(vector, |frame| {
                assert_eq!(u64::from(frame.kind), vector["kind"].as_u64().unwrap());
                assert_eq!(u64::from(frame.session), vector["session"].as_u64().unwrap());
                assert_eq!(frame.body, bytes_of(&vector["body"]));
                let mut written = Vec::new();
                write(frame, &mut written);
                assert_eq!(written, bytes_of(&vector["bytes"]), "{}", vector["name"]);
            });
        }
        for vector in vectors()["damaged"].as_array().unwrap() {
            let mut found = Vec::new();
            Deframer::default().push(&bytes_of(&vector["bytes"]), |frame| found.push(frame.is_err()));
            assert_eq!(found, [true], "{}", vector["name"]);
        }
    }

    #[test]
    fn messages_of_the_vectors_mean_what_they_say() {
        for vector in vectors()["frames"].as_array().unwrap() {
            let fields = &vector["fields"];
            with_frame(vector, |frame| match (parse(&frame), fields) {
                (Ok(FromDevice::Announce(announce)), fields) => {
                    assert_eq!(announce.name, fields["name"].as_str().unwrap());
                    assert_eq!(announce.software, fields["software"].as_str().unwrap());
                    assert_eq!(announce.has_started, fields["started"].as_bool().unwrap());
                    let (found, expected) = (&announce.instances[0], &fields["instances"][0]);
                    assert_eq!(found.name, expected["name"].as_str().unwrap());
                    assert_eq!(found.probe_type.to_string(), expected["type"].as_str().unwrap());
                    assert_eq!(u64::from(found.schema_crc), expected["schema_crc"].as_u64().unwrap());
                    assert_eq!(u64::from(found.millihertz), expected["millihertz"].as_u64().unwrap());
                    assert_eq!(found.ended.to_string(), expected["ended"].as_str().unwrap());
                }
                (Ok(FromDevice::Batch(bytes)), fields) => {
                    let probe_type = serde_json::from_value(vectors()["schema"].clone()).unwrap();
                    let batch = oasis_wire::batch::Batch::parse(bytes, &probe_type).unwrap();
                    let samples = fields["samples"].as_array().unwrap();
                    assert_eq!(batch.times().len(), samples.len());
                    for (sample, expected) in batch.samples().zip(samples) {
                        assert_eq!(sample.time.to_string(), expected["time"].as_str().unwrap());
                    }
                }
                (Ok(FromDevice::Unknown), fields) => {
                    let field = |name: &str| u32::try_from(fields[name].as_u64().unwrap()).unwrap();
                    let (instance, command) = (field("instance") as u8, field("command") as u8);
                    let message =
                        ToDevice::Command { id: field("id"), instance, command, argument: field("argument") };
                    assert_eq!(message.to_body(), (frame.kind, frame.body.to_vec()));
                }
                other => panic!("{other:?}"),
            });
        }
    }

    #[test]
    fn every_shortened_announcement_is_refused() {
        let vector = &vectors()["frames"][0];
        with_frame(vector, |frame| {
            for length in 0..frame.body.len() {
                let cut = Frame { body: &frame.body[..length], ..frame };
                assert!(parse(&cut).is_err(), "{length}");
            }
            let longer = [frame.body, b"later"].concat();
            assert!(parse(&Frame { body: &longer, ..frame }).is_ok(), "a later release may add fields");
        });
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(kind in 0..0x20_u8, body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&Frame { kind, number: 0, session: 1, body: &body });
        }
    }
}
