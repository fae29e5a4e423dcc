//! Spans of a request: each becomes a sample of the instance `spans` of its node, at its end.

use crate::{
    attributes::{self, Attribute},
    logs::find,
    walk::{self, ItemError, Resource, Visitor, each, first},
    writer::Writer,
};
use oasis_ei_node::{Outcome, span::SpanRecord};
use oasis_format::protobuf::{BadWire, WireValue, next_field};
use oasis_wire::{schema::ProbeType, value::RowWriter};
use std::{borrow::Cow, fmt::Write, sync::Arc};

/// The name of the instances.
const INSTANCE: &str = "spans";
/// Most bytes of an identifier that is shown.
const MAX_ID_BYTES: usize = 32;
/// The status of a span that failed.
const STATUS_ERROR: u64 = 2;
/// Names of the kinds of spans, by their numbers.
const KINDS: [&str; 6] = ["unspecified", "internal", "server", "client", "producer", "consumer"];

/// Makes samples of spans.
pub struct SpanReader<'w, 'n> {
    pub writer: &'w mut Writer<'n>,
    pub probe_type: &'w Arc<ProbeType>,
    pub row: Vec<u8>,
}

/// A span of OpenTelemetry.
#[derive(Debug, Default)]
struct SpanItem<'a> {
    name: Cow<'a, str>,
    id: u64,
    parent: u64,
    start: u64,
    end: u64,
    is_error: bool,
    /// Trace, span, kind and status, then the attributes, then the events.
    fields: Vec<Attribute<'a>>,
}

impl<'a> Visitor<'a> for SpanReader<'_, '_> {
    fn resource(&mut self, resource: &Resource<'a>) {
        self.writer.begin_resource(resource);
    }

    fn item(&mut self, scope: &str, item: &'a [u8]) -> Result<(), BadWire> {
        match SpanItem::read(item) {
            Ok(span) => self.push(scope, &span),
            Err(ItemError::Refused(why)) => self.writer.refuse(INSTANCE, &why),
            Err(ItemError::Malformed(error)) => return Err(error),
        }
        Ok(())
    }
}

impl SpanReader<'_, '_> {
    fn push(&mut self, scope: &str, span: &SpanItem<'_>) {
        if !self.writer.begin_item(INSTANCE, scope, &mut Vec::new()) {
            return;
        }
        let duration = span.end.saturating_sub(span.start);
        let record = SpanRecord {
            name: &span.name,
            target: scope,
            duration,
            // Threads are unknown: as if one was at it all the time.
            busy: duration,
            outcome: if span.is_error { Outcome::Error } else { Outcome::Ok },
            thread: find(&span.fields, &["thread.name", "thread.id"]),
            id: span.id,
            parent: span.parent,
            cut: 0,
        };
        self.row.clear();
        let fields = span.fields.iter().map(|(name, value)| (&**name, &**value));
        record.write(&mut RowWriter::new(&mut self.row), fields);
        if let Err(why) = self.writer.push(self.probe_type, span.end, &self.row) {
            self.writer.refuse(INSTANCE, &why.why.to_string());
        }
    }
}

impl<'a> SpanItem<'a> {
    fn read(mut item: &'a [u8]) -> Result<Self, ItemError> {
        let mut span = Self::default();
        let (mut context, mut events): (Vec<Attribute<'a>>, _) = (Vec::new(), Vec::new());
        while let Some(field) = next_field(&mut item)? {
            match field {
                (1, WireValue::Bytes(id)) if !id.is_empty() => context.push(("trace_id".into(), hex(id))),
                (2, WireValue::Bytes(id)) => {
                    span.id = number(id);
                    context.push(("span_id".into(), hex(id)));
                }
                (4, WireValue::Bytes(id)) => span.parent = number(id),
                (5, WireValue::Bytes(name)) => span.name = walk::text(name),
                (6, WireValue::Varint(kind)) => {
                    let name = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind));
                    context.extend(name.map(|name| ("kind".into(), Cow::Borrowed(*name))));
                }
                (7, WireValue::Fixed64(time)) => span.start = u64::from_le_bytes(time),
                (8, WireValue::Fixed64(time)) => span.end = u64::from_le_bytes(time),
                (9, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut span.fields)?,
                (11, WireValue::Bytes(bytes)) => add_event(bytes, &mut events)?,
                (15, WireValue::Bytes(status)) => span.status(status, &mut context)?,
                _ => {}
            }
        }
        // In front, so that many attributes displace none of them.
        span.fields.splice(0..0, context);
        span.fields.append(&mut events);
        Ok(span)
    }

    fn status(&mut self, mut status: &'a [u8], context: &mut Vec<Attribute<'a>>) -> Result<(), BadWire> {
        let message = first(status, 2)?;
        if !message.is_empty() {
            context.push(("status".into(), walk::text(message)));
        }
        while let Some(field) = next_field(&mut status)? {
            if let (3, WireValue::Varint(code)) = field {
                self.is_error = code == STATUS_ERROR;
            }
        }
        Ok(())
    }
}

/// Adds an event as an attribute: its name, and its attributes as text.
fn add_event<'a>(event: &'a [u8], to: &mut Vec<Attribute<'a>>) -> Result<(), ItemError> {
    let mut list = Vec::new();
    each(event, 3, |key_value| match attributes::add(key_value, &mut list) {
        Err(ItemError::Malformed(error)) => Err(error),
        // Further attributes of an event are left out.
        _ => Ok(()),
    })?;
    let mut text = String::new();
    for (name, value) in &list {
        let space = if text.is_empty() { "" } else { " " };
        // A string takes every character.
        let _ = write!(text, "{space}{name}={value}");
    }
    attributes::check_room(to)?;
    to.push((Cow::Owned(format!("event {}", walk::text(first(event, 2)?))), Cow::Owned(text)));
    Ok(())
}

/// Returns the digits of an identifier.
pub fn hex(id: &[u8]) -> Cow<'static, str> {
    Cow::Owned(id.iter().take(MAX_ID_BYTES).map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the lower 63 bits of an identifier of eight bytes, because SQL has no greater integers; 0 for another length.
fn number(id: &[u8]) -> u64 {
    id.try_into().map_or(0, |bytes| u64::from_be_bytes(bytes) & i64::MAX as u64)
}
