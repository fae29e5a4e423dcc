//! The messages of a dialect: the table `messages.txt` as types.

use crate::field::{Field, Scalar};
use oasis_wire::schema::{EnumType, Enumerator, Metric, ProbeType};
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};
use uuid::Uuid;

/// The table that `make_messages.py` makes of MAVLink's XML files.
const TABLE: &str = include_str!("messages.txt");
/// The namespace of types (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x41c8_0f0e_93d7_4a52_9d0b_5ce1_6a7f_2e84);
/// The field with the time since the vehicle started, in milliseconds.
const BOOT_TIME: &str = "time_boot_ms";
/// The message that carries the key for signatures.
const KEY_MESSAGE: &str = "SETUP_SIGNING";

/// All messages that are known.
#[derive(Debug)]
pub struct Dialect {
    messages: HashMap<u32, MessageType>,
    enums: HashMap<&'static str, Enumeration>,
}

/// A message.
#[derive(Debug)]
pub struct MessageType {
    /// Its name, such as `ATTITUDE`.
    pub name: &'static str,
    /// The byte that its checksum adds: a digest of its fields.
    pub crc_extra: u8,
    /// Bytes without the fields that version 2 has added.
    pub base_bytes: usize,
    /// Bytes of all fields.
    pub all_bytes: usize,
    /// Whether it carries a secret, so that it is not kept.
    pub is_secret: bool,
    description: &'static str,
    /// In the order of their declaration.
    fields: Vec<Field>,
    boot_time: Option<usize>,
    probe_type: OnceLock<Arc<ProbeType>>,
}

#[derive(Debug, Default)]
struct Enumeration {
    is_bitmask: bool,
    values: Vec<(i64, &'static str)>,
}

impl Dialect {
    /// Parses the table of the dialect `ardupilotmega`, which contains `common`.
    pub fn built_in() -> Self {
        let mut dialect = Self { messages: HashMap::new(), enums: HashMap::new() };
        let (mut enumeration, mut message) = ("", None);
        for line in TABLE.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                [kind @ ("enum" | "bitmask"), name] => {
                    enumeration = name;
                    let is_bitmask = kind == "bitmask";
                    dialect.enums.insert(name, Enumeration { is_bitmask, values: Vec::new() });
                }
                ["value", value, name] => {
                    let known = dialect.enums.get_mut(enumeration);
                    if let (Some(known), Ok(value)) = (known, value.parse()) {
                        known.values.push((value, name));
                    }
                }
                ["message", id, crc_extra, name, description] => {
                    dialect.add(message.take());
                    message = MessageType::parse(id, crc_extra, name, description);
                }
                [kind @ ("field" | "extension"), scalar, name, unit, enumeration, description] => {
                    let field =
                        Field::parse(kind == "extension", scalar, name, unit, enumeration, description);
                    if let (Some((_, message)), Some(field)) = (&mut message, field) {
                        message.fields.push(field);
                    }
                }
                _ => {}
            }
        }
        dialect.add(message);
        dialect
    }

    fn add(&mut self, message: Option<(u32, MessageType)>) {
        let Some((id, mut message)) = message else { return };
        message.place_fields();
        self.messages.insert(id, message);
    }

    /// Returns a message.
    pub fn get(&self, id: u32) -> Option<&MessageType> {
        self.messages.get(&id)
    }

    /// Returns the type of the samples of a message.
    pub fn probe_type<'a>(&self, message: &'a MessageType) -> &'a Arc<ProbeType> {
        message.probe_type.get_or_init(|| {
            let metrics = message.fields.iter().map(|field| self.metric(field)).collect();
            Arc::new(identified(message.name, message.description, metrics))
        })
    }

    fn metric(&self, field: &Field) -> Metric {
        let mut metric = Metric::new(field.name, field.kind());
        metric.unit = some(field.unit);
        metric.doc = some(field.description);
        let Some(known) = self.enums.get(field.enumeration).filter(|_| field.scalar.is_integer()) else {
            return metric;
        };
        if known.is_bitmask {
            // Several bits at once have no name of their own.
            let bits: Vec<_> = known.values.iter().map(|(value, name)| format!("{value} {name}")).collect();
            let doc = [field.description, &format!("Bits: {}.", bits.join(", "))];
            metric.doc = Some(doc.join(" ").trim().to_owned());
        } else {
            metric.enumeration = Some(enum_type(field.enumeration, known.values.iter().copied()));
        }
        metric
    }

    /// The numbers of all messages as an enum.
    pub fn message_numbers(&self) -> EnumType {
        let mut all: Vec<_> =
            self.messages.iter().map(|(id, message)| (i64::from(*id), message.name)).collect();
        all.sort_unstable();
        enum_type("Message", all.into_iter())
    }
}

fn some(text: &str) -> Option<String> {
    Some(text).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn enum_type(name: &str, values: impl Iterator<Item = (i64, &'static str)>) -> EnumType {
    let is_short = |value: &i64| u32::try_from(*value).is_ok() || i32::try_from(*value).is_ok();
    let values = values.filter(|(value, _)| is_short(value));
    let values = values.map(|(value, name)| Enumerator { name: name.into(), value, doc: None }).collect();
    EnumType { name: format!("MAVLink::{name}"), values }
}

/// Makes a type, whose identity follows from its metrics.
pub fn identified(name: &str, description: &str, metrics: Vec<Metric>) -> ProbeType {
    let mut probe_type = ProbeType {
        name: format!("MAVLink::{name}"),
        uuid: Uuid::nil(),
        version: "1.0".into(),
        doc: some(description),
        rate: None,
        metrics,
    };
    let content = serde_json::to_vec(&probe_type).unwrap_or_default();
    probe_type.uuid = Uuid::new_v5(&NAMESPACE, &content);
    probe_type
}

impl MessageType {
    fn parse(
        id: &str,
        crc_extra: &str,
        name: &'static str,
        description: &'static str,
    ) -> Option<(u32, Self)> {
        let message = Self {
            name,
            crc_extra: crc_extra.parse().ok()?,
            base_bytes: 0,
            all_bytes: 0,
            is_secret: name == KEY_MESSAGE,
            description,
            fields: Vec::new(),
            boot_time: None,
            probe_type: OnceLock::new(),
        };
        Some((id.parse().ok()?, message))
    }

    /// Returns the fields in the order of the payload: larger scalars first, then extensions as they are declared.
    fn wire_order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.fields.len()).collect();
        order.sort_by_key(|at| {
            let field = self.fields.get(*at);
            field.map(|field| if field.is_extension { usize::MAX } else { 8 - field.scalar.bytes() })
        });
        order
    }

    fn place_fields(&mut self) {
        for at in self.wire_order() {
            let Some(field) = self.fields.get_mut(at) else { continue };
            field.offset = self.all_bytes;
            self.all_bytes += field.bytes();
            if !field.is_extension {
                self.base_bytes = self.all_bytes;
            }
            if field.name == BOOT_TIME && field.scalar == Scalar::Uint32 && field.elements.is_none() {
                self.boot_time = Some(field.offset);
            }
        }
    }

    /// Returns the time since the vehicle started, in milliseconds, if the message has it.
    pub fn boot_time(&self, payload: &[u8]) -> Option<u32> {
        let at = self.boot_time?;
        let mut bytes = [0; 4];
        // Zeros at the end are omitted.
        let present = payload.get(at..).unwrap_or_default();
        bytes.iter_mut().zip(present).for_each(|(to, from)| *to = *from);
        Some(u32::from_le_bytes(bytes))
    }

    /// Packs the fields of a payload, padded with the zeros that version 2 omits.
    pub fn pack(&self, payload: &[u8], row: &mut Vec<u8>) {
        let mut padded = [0; 255];
        padded.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
        row.clear();
        self.fields.iter().for_each(|field| field.pack(&padded, row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{CHECKSUM_START, checksum};
    use oasis_wire::{schema::MetricType, unit};

    /// The digest of the fields as MAVLink defines it.
    fn crc_extra(message: &MessageType) -> u8 {
        let mut sum = checksum(CHECKSUM_START, format!("{} ", message.name).as_bytes());
        for at in message.wire_order() {
            let field = &message.fields[at];
            if field.is_extension {
                continue;
            }
            sum = checksum(sum, format!("{} {} ", field.scalar.name_in_c(), field.name).as_bytes());
            if let Some(elements) = field.elements {
                sum = checksum(sum, &[elements as u8]);
            }
        }
        (sum & 0xff) as u8 ^ (sum >> 8) as u8
    }

    #[test]
    fn each_line_of_the_table_is_read_and_agrees_with_the_digest_of_its_message() {
        let dialect = Dialect::built_in();
        let count = |kind: &str| TABLE.lines().filter(|line| line.split('\t').next() == Some(kind)).count();
        assert_eq!(dialect.messages.len(), count("message"));
        let fields: usize = dialect.messages.values().map(|message| message.fields.len()).sum();
        assert_eq!(fields, count("field") + count("extension"));
        let values: usize = dialect.enums.values().map(|known| known.values.len()).sum();
        assert_eq!(values, count("value"));
        for message in dialect.messages.values() {
            assert_eq!(crc_extra(message), message.crc_extra, "{}", message.name);
            assert!(message.all_bytes <= 255, "{}", message.name);
        }
        assert_eq!(dialect.get(0).map(|message| (message.name, message.base_bytes)), Some(("HEARTBEAT", 9)));
    }

    #[test]
    fn each_type_is_valid_with_units_of_ucum() {
        let dialect = Dialect::built_in();
        let mut names = std::collections::HashSet::new();
        for message in dialect.messages.values() {
            let probe_type = dialect.probe_type(message);
            probe_type.validate().unwrap();
            assert!(names.insert(probe_type.uuid), "{}", message.name);
            for metric in &probe_type.metrics {
                if let Some(of) = &metric.unit {
                    assert_eq!(unit::check(of), Ok(()), "{}.{}", message.name, metric.name);
                }
            }
        }
        let kind = &dialect.probe_type(dialect.get(0).unwrap()).metrics[0];
        let quadrotor = kind.enumeration.as_ref().unwrap().values.iter().find(|value| value.value == 2);
        assert_eq!(quadrotor.unwrap().name, "MAV_TYPE_QUADROTOR");
        assert_eq!(kind.kind, MetricType::Uint8);
    }

    #[test]
    fn a_payload_is_padded_and_text_ends_at_its_first_zero() {
        let dialect = Dialect::built_in();
        let text = dialect.get(253).unwrap();
        let mut row = Vec::new();
        text.pack(b"\x04low \xff\0rest", &mut row);
        assert_eq!(row, b"\x04\x07low \xef\xbf\xbd\0\0\0", "text of 7 bytes, then two extensions");
        let position = dialect.get(33).unwrap();
        assert_eq!(position.boot_time(&[0x10, 0x27]), Some(10_000));
    }
}
