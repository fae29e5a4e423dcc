//! Reads the records of a file.

use super::{
    bounds::{
        MAX_BATCHES, MAX_DESCRIPTIONS, MAX_HELD_TOGETHER, MAX_LOST, MAX_LOST_BYTES, MAX_MESSAGE, MAX_METRICS,
    },
    channel::{Channel, Described, Schemas, Unread},
    damage::Damage,
    lost,
    read_error::ReadError,
    record::{ChannelRecord, Message, Schema},
    records::{self, Event, FileDamage, LostChunk},
};
use crate::input::{
    Finding, Lost, RecordedSeries, Report,
    json::fields::{FieldReport, RenamedColumn},
    names,
    samples::Take,
};
use mcap::records::op;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{Read, Seek},
    sync::Arc,
};

/// Skipped messages of a channel.
#[derive(Debug)]
pub struct LeftOut {
    /// The channel's topic.
    pub topic: String,
    /// Number of messages.
    pub messages: u64,
    /// The reason for the first.
    pub why: Unread,
}

/// The remaining content of a file.
#[derive(Debug, Default)]
pub struct Remainder {
    /// Skipped messages, by channel.
    pub left_out: Vec<LeftOut>,
    /// Fields whose values are absent, rounded or not stored.
    pub fields: Vec<FieldReport>,
    /// Topics that differ only in slashes or control characters, with their instances.
    pub apart: Vec<(String, Arc<str>)>,
    /// Columns with another name than their field.
    pub columns: Vec<RenamedColumn>,
    /// Damaged parts of the file, which were skipped.
    pub damage: Option<Damage>,
    /// Missing samples.
    pub lost: Vec<Lost>,
    /// Number of missing ranges beyond the bound.
    pub lost_forgotten: u64,
    /// Attachments of the file, which are no messages.
    pub attachments: u64,
    /// Records of metadata.
    pub metadata: u64,
}

impl Remainder {
    /// Whether each message of the file is a sample with the values of the message.
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty()
            && self.fields.iter().all(|field| !field.difference.is_loss())
            && self.damage.as_ref().is_none_or(|damage| !damage.is_loss())
    }
}

/// Fields that a report names.
const MAX_NAMED_FIELDS: usize = 100;

impl Remainder {
    /// Returns the rest as findings, in the order of their weight.
    pub fn into_report(self) -> Report {
        let mut report = Report::default();
        if let Some(damage) = &self.damage {
            report.is_damaged = damage.is_loss();
            let finding = if damage.is_loss() { Finding::loss } else { Finding::note };
            report.findings.push(finding(None, 1, damage.to_string()));
        }
        let more = self.lost_forgotten;
        report.note(None, more, format!("causes of {more} more losses skipped: too many"));
        for LeftOut { topic, messages, why } in &self.left_out {
            report.lose(Some(topic), *messages, format!("{messages} messages skipped: {why}"));
        }
        for (at, field) in self.fields.iter().enumerate() {
            let finding = if field.difference.is_loss() { Finding::loss } else { Finding::note };
            // Fields beyond the bound count, but are not named.
            let text = if at < MAX_NAMED_FIELDS { field.to_string() } else { String::new() };
            report.findings.push(finding(None, field.values, text));
        }
        let more = self.fields.len().saturating_sub(MAX_NAMED_FIELDS) as u64;
        report.note(None, more, format!("{more} more fields with absent, rounded or skipped values"));
        for column in self.columns.iter().take(MAX_NAMED_FIELDS) {
            report.note(None, 1, column.to_string());
        }
        for (topic, instance) in &self.apart {
            report.note(Some(topic), 1, format!("imported as the instance {instance}"));
        }
        for (count, what) in [(self.attachments, "attachments"), (self.metadata, "records of metadata")] {
            report.note(None, count, format!("not imported: {count} {what}, which have no samples"));
        }
        report.lost = self.lost;
        report
    }
}

/// Reads a file twice: first the fields of its messages and its damage, then its samples; `take` receives their batches. Damaged chunks and
/// all after a cut are skipped, and described by the result.
///
/// # Errors
/// If the file cannot be read, no part of it is reliable, it exceeds a bound, or if `take` fails. Earlier batches are only a part of the file.
pub fn read<E>(
    from: impl Read + Seek,
    take: impl FnMut(&RecordedSeries, &[u8]) -> Result<(), E>,
) -> Result<Remainder, ReadError<E>> {
    read_part(from, false, take)
}

/// Reads a file as [`read`]. With `is_partial` also one of which no part is reliable: its whole records, and the damage says so.
///
/// # Errors
/// As [`read`].
pub fn read_part<E>(
    mut from: impl Read + Seek,
    is_partial: bool,
    mut take: impl FnMut(&RecordedSeries, &[u8]) -> Result<(), E>,
) -> Result<Remainder, ReadError<E>> {
    let mut recording = Recording::default();
    let mut found = records::check(&mut from, is_partial, &mut |event| recording.survey(&event))?;
    recording.end_survey(&found);
    from.rewind()?;
    records::replay(&mut from, &mut found, &mut |event| recording.event(event, &mut take))?;
    recording.finish(found, &mut take)
}

/// The state of reading a file.
#[derive(Default)]
struct Recording {
    schemas: Schemas,
    channels: BTreeMap<u16, Channel>,
    /// Bytes of schemas and channels.
    descriptions: usize,
    /// Metrics of all channels.
    metrics: usize,
    /// Collected bytes of all channels.
    held: usize,
    batches: usize,
    lost: Vec<Lost>,
    /// Samples in damaged chunks.
    damaged: Vec<Lost>,
    /// Bytes of names and causes of missing samples.
    lost_bytes: usize,
    lost_forgotten: u64,
    /// The row of the current sample.
    row: Vec<u8>,
    /// Whether descriptions of channels can be in damaged chunks.
    has_bad_chunks: bool,
    /// Messages whose channel only a damaged chunk describes.
    unknown: u64,
    /// Damaged chunks with an unknown number of messages.
    uncounted: u64,
    attachments: u64,
    metadata: u64,
}

impl Recording {
    fn survey<E>(&mut self, event: &Event<'_>) -> Result<(), ReadError<E>> {
        match event {
            Event::Record { kind: op::SCHEMA, data } => self.schema(data),
            Event::Record { kind: op::CHANNEL, data } => self.channel(data),
            Event::Record { kind: op::MESSAGE, data } => {
                let message = Message::read(data)?;
                let channel = self.channels.get_mut(&message.channel);
                let fields = channel.map_or(0, |channel| channel.survey(&message, &self.schemas));
                self.count(fields)
            }
            Event::Again => {
                *self = Self::default();
                Ok(())
            }
            Event::Record { kind: op::ATTACHMENT, .. } => {
                self.attachments += 1;
                Ok(())
            }
            Event::Record { kind: op::METADATA, .. } => {
                self.metadata += 1;
                Ok(())
            }
            // Ignores indexes and statistics.
            Event::Record { .. } | Event::LostChunk(_) => Ok(()),
        }
    }

    /// Chooses metrics and names, once all messages are known.
    fn end_survey(&mut self, found: &FileDamage) {
        self.has_bad_chunks = !found.bad_chunks.is_empty();
        self.channels.values_mut().for_each(Channel::end_survey);
        let foreign = self.channels.values().filter(|channel| channel.is_foreign() && !channel.is_about());
        let topics: BTreeSet<_> = foreign.map(|channel| channel.topic.as_str()).collect();
        let instances = names::instances(&topics);
        let mut earlier: HashMap<Arc<str>, u64> = HashMap::new();
        for channel in self.channels.values_mut() {
            if let Some(instance) = instances.get(&channel.topic) {
                let count = earlier.entry(instance.clone()).or_default();
                channel.earlier = *count;
                channel.instance = instance.clone();
                *count += 1;
            }
        }
    }

    fn event<E>(&mut self, event: Event<'_>, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        match event {
            Event::Record { kind: op::SCHEMA, data } => self.schema(data),
            Event::Record { kind: op::CHANNEL, data } => self.channel(data),
            Event::Record { kind: op::MESSAGE, data } => self.message(&Message::read(data)?, take),
            Event::Record { .. } | Event::Again => Ok(()),
            Event::LostChunk(lost) => self.lose_chunk(&lost, take),
        }
    }

    fn lose_chunk<E>(&mut self, lost: &LostChunk, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        self.end_batches(take)?;
        let Some(messages) = &lost.messages else {
            self.uncounted += 1;
            self.channels.values_mut().for_each(|channel| channel.lose(None));
            return Ok(());
        };
        for (id, messages) in messages {
            match self.channels.get_mut(id) {
                Some(channel) => channel.lose(Some(*messages)),
                None => self.unknown += messages,
            }
        }
        Ok(())
    }

    fn schema<E>(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let schema = Schema::read(data)?;
        // Schemas and channels are repeated in each chunk that needs them, and in the summary.
        if self.schemas.contains_key(&schema.id) {
            return Ok(());
        }
        self.describe(data.len())?;
        let described = Described::new(&schema);
        self.count(described.size())?;
        self.schemas.insert(schema.id, described);
        Ok(())
    }

    fn channel<E>(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let record = ChannelRecord::read(data)?;
        if let Some(known) = self.channels.get(&record.id) {
            let is_same = known.topic == record.topic;
            return if is_same { Ok(()) } else { Err(ReadError::TwoTopics(record.id)) };
        }
        self.describe(data.len())?;
        let (id, channel) = (record.id, Channel::new(&record));
        self.count(channel.metrics())?;
        self.channels.insert(id, channel);
        Ok(())
    }

    fn count<E>(&mut self, metrics: usize) -> Result<(), ReadError<E>> {
        self.metrics = self.metrics.saturating_add(metrics);
        if self.metrics > MAX_METRICS { Err(ReadError::Metrics) } else { Ok(()) }
    }

    fn describe<E>(&mut self, length: usize) -> Result<(), ReadError<E>> {
        self.descriptions = self.descriptions.saturating_add(length);
        let is_long = length > MAX_MESSAGE || self.descriptions > MAX_DESCRIPTIONS;
        if is_long { Err(ReadError::Descriptions) } else { Ok(()) }
    }

    fn message<E>(&mut self, message: &Message<'_>, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        let id = message.channel;
        let Some(channel) = self.channels.get_mut(&id) else {
            self.unknown += 1;
            return if self.has_bad_chunks { Ok(()) } else { Err(ReadError::NoChannel(id)) };
        };
        if channel.topic == lost::TOPIC {
            self.lose(message);
            return Ok(());
        }
        let known = channel.metrics();
        match channel.sample(message, &self.schemas, &mut self.row) {
            Ok(read) => {
                if let Some(samples) = &mut channel.samples {
                    let before = samples.held();
                    self.batches += samples.push(read.head, &self.row, take)?;
                    self.held = (self.held + samples.held()).saturating_sub(before);
                }
                if let Some(lost) = read.lost
                    && self.damaged.len() < MAX_LOST
                {
                    self.damaged.push(lost);
                }
            }
            Err(error) => {
                channel.left_out += 1;
                channel.why.get_or_insert(error);
            }
        }
        // The first message of ROS 2 determines the metrics.
        let found = channel.metrics().saturating_sub(known);
        self.count(found)?;
        if self.held > MAX_HELD_TOGETHER {
            self.end_batches(take)?;
        }
        if self.batches > MAX_BATCHES { Err(ReadError::Batches) } else { Ok(()) }
    }

    fn lose(&mut self, message: &Message<'_>) {
        let Some(lost) = Lost::read(message) else { return };
        let bytes = lost.node.as_ref().map_or(0, String::len) + lost.instance.len();
        if self.lost.len() >= MAX_LOST || self.lost_bytes + bytes > MAX_LOST_BYTES {
            self.lost_forgotten += 1;
            return;
        }
        self.lost_bytes += bytes;
        self.lost.push(lost);
    }

    fn end_batches<E>(&mut self, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        for samples in self.channels.values_mut().filter_map(|channel| channel.samples.as_mut()) {
            self.batches += samples.end_batch(take)?;
        }
        self.held = 0;
        Ok(())
    }

    fn finish<E>(mut self, found: FileDamage, take: &mut Take<'_, E>) -> Result<Remainder, ReadError<E>> {
        self.end_batches(take)?;
        let lost = self.channels.values().filter(|channel| channel.lost > 0);
        let mut messages: BTreeMap<String, u64> = BTreeMap::new();
        lost.for_each(|channel| *messages.entry(channel.topic.clone()).or_default() += channel.lost);
        let damage = Damage::new(found, messages, self.unknown, self.uncounted);
        let mut rest = Remainder {
            damage,
            lost_forgotten: self.lost_forgotten,
            attachments: self.attachments,
            metadata: self.metadata,
            ..Remainder::default()
        };
        let mut apart = BTreeMap::new();
        for mut channel in self.channels.into_values().filter(|channel| !channel.is_about()) {
            rest.fields.extend(channel.field_reports());
            rest.columns.extend(channel.renamed_columns());
            let short = channel.topic.trim_start_matches('/');
            if channel.is_foreign() && !short.is_empty() && *short != *channel.instance {
                apart.insert(channel.topic.clone(), channel.instance.clone());
            }
            if let Some(why) = channel.why {
                rest.left_out.push(LeftOut { topic: channel.topic, messages: channel.left_out, why });
            }
        }
        rest.apart = apart.into_iter().collect();
        // Losses with a cause of their own come first.
        rest.lost = self.lost;
        rest.lost.extend(self.damaged);
        Ok(rest)
    }
}
