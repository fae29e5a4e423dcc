//! Log records of a request: each becomes a sample of the instance `log` of its node.

use crate::{
    attributes::{self, Attribute},
    spans::hex,
    walk::{self, ItemError, Resource, Visitor},
    writer::Writer,
};
use oasis_ei_node::{LogLevel, log::LogRecord};
use oasis_format::protobuf::{BadWire, WireValue, next_field};
use oasis_wire::{schema::ProbeType, value::RowWriter};
use std::{borrow::Cow, sync::Arc};

/// The name of the instances.
const INSTANCE: &str = "log";

/// Makes samples of log records.
pub struct LogReader<'w, 'n> {
    pub writer: &'w mut Writer<'n>,
    pub probe_type: &'w Arc<ProbeType>,
    pub row: Vec<u8>,
}

/// A log record of OpenTelemetry.
#[derive(Debug, Default)]
struct LogItem<'a> {
    time: u64,
    observed: u64,
    severity: u64,
    severity_text: Cow<'a, str>,
    body: Cow<'a, str>,
    /// Trace, span and event, then the attributes.
    fields: Vec<Attribute<'a>>,
}

impl<'a> Visitor<'a> for LogReader<'_, '_> {
    fn resource(&mut self, resource: &Resource<'a>) {
        self.writer.begin_resource(resource);
    }

    fn item(&mut self, scope: &str, item: &'a [u8]) -> Result<(), BadWire> {
        match LogItem::read(item) {
            Ok(record) => self.push(scope, &record),
            Err(ItemError::Refused(why)) => self.writer.refuse(INSTANCE, &why),
            Err(ItemError::Malformed(error)) => return Err(error),
        }
        Ok(())
    }
}

impl LogReader<'_, '_> {
    fn push(&mut self, scope: &str, record: &LogItem<'_>) {
        if !self.writer.begin_item(INSTANCE, scope, &mut Vec::new()) {
            return;
        }
        let field = |names: &[&str]| find(&record.fields, names);
        let of_record = LogRecord {
            file: field(&["code.file.path", "code.filepath"]),
            line: field(&["code.line.number", "code.lineno"]).parse().unwrap_or(0),
            thread: field(&["thread.name", "thread.id"]),
            ..LogRecord::new(record.level(), scope, &record.body)
        };
        self.row.clear();
        let fields = record.fields.iter().map(|(name, value)| (&**name, &**value));
        of_record.write(&mut RowWriter::new(&mut self.row), fields);
        let time = if record.time == 0 { record.observed } else { record.time };
        if let Err(why) = self.writer.push(self.probe_type, time, &self.row) {
            self.writer.refuse(INSTANCE, &why.why.to_string());
        }
    }
}

/// Returns the value of the first attribute with one of these names.
pub fn find<'f>(fields: &'f [Attribute<'_>], names: &[&str]) -> &'f str {
    fields.iter().find(|(name, _)| names.contains(&&**name)).map_or("", |(_, value)| value)
}

impl<'a> LogItem<'a> {
    fn read(mut item: &'a [u8]) -> Result<Self, ItemError> {
        let mut record = Self::default();
        let mut context = Vec::new();
        while let Some(field) = next_field(&mut item)? {
            match field {
                (1, WireValue::Fixed64(time)) => record.time = u64::from_le_bytes(time),
                (11, WireValue::Fixed64(time)) => record.observed = u64::from_le_bytes(time),
                (2, WireValue::Varint(severity)) => record.severity = severity,
                (3, WireValue::Bytes(bytes)) => record.severity_text = walk::text(bytes),
                (5, WireValue::Bytes(bytes)) => record.body = attributes::text(bytes)?,
                (6, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut record.fields)?,
                (9, WireValue::Bytes(id)) if !id.is_empty() => context.push(("trace_id".into(), hex(id))),
                (10, WireValue::Bytes(id)) if !id.is_empty() => context.push(("span_id".into(), hex(id))),
                (12, WireValue::Bytes(name)) if !name.is_empty() => {
                    context.push(("event_name".into(), walk::text(name)));
                }
                _ => {}
            }
        }
        // In front, so that many attributes displace none of them.
        record.fields.splice(0..0, context);
        Ok(record)
    }

    /// Returns the level: by its number, or by its name if there is no number.
    fn level(&self) -> LogLevel {
        match u8::try_from(self.severity) {
            Ok(0) => level_of_name(&self.severity_text),
            Ok(severity) => LogLevel::of_severity(severity),
            Err(_) => LogLevel::Fatal,
        }
    }
}

fn level_of_name(name: &str) -> LogLevel {
    let levels = [
        ("trace", LogLevel::Trace),
        ("debug", LogLevel::Debug),
        ("warn", LogLevel::Warn),
        ("err", LogLevel::Error),
        ("crit", LogLevel::Fatal),
        ("fatal", LogLevel::Fatal),
    ];
    let begins = |begin: &str| name.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    levels.into_iter().find(|(begin, _)| begins(begin)).map_or(LogLevel::Info, |(_, level)| level)
}
