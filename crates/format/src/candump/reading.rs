//! Reads a log: a survey of messages and signals, then the samples.

use super::frame::Frame;
use crate::{
    can::{Database, MessageDescription, signal_column},
    input::{
        Column, ColumnTable, Defects, FreeNames, InputError, InputFile, InputOptions, Report, SeriesSet,
        TakeBatch, TextLines, TimeShift, infer, names::without_controls,
    },
};
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::SeekFrom,
    sync::Arc,
};

/// Interfaces of a log, and messages of all.
const MAX_INTERFACES: usize = 1_024;

/// Reads a log.
pub fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let mut report = Report::default();
    let messages = databases(options, &mut report)?;
    let mut reading = Reading::new(&messages);
    let mut shift = TimeShift::new(options.start);
    each_frame(file, &mut Defects::new(options.is_partial), &mut shift, |frame, _, _| reading.survey(frame))?;
    reading.end_survey()?;
    let mut defects = Defects::new(options.is_partial);
    each_frame(file, &mut defects, &mut shift, |frame, time, line| reading.sample(frame, time, line, take))?;
    reading.finish(take, !options.dbc.is_empty(), &mut report)?;
    shift.report(&mut report);
    defects.report("lines", &mut report)?;
    Ok(report)
}

/// Parses the databases. The first one that describes a frame counts.
fn databases(options: &InputOptions, report: &mut Report) -> Result<Vec<MessageDescription>, InputError> {
    let mut all = Vec::<MessageDescription>::new();
    let mut known = HashSet::new();
    for dbc in &options.dbc {
        let database = Database::parse(&dbc.content).map_err(|error| {
            InputError::file(
                format!("{}: {error}", dbc.path),
                "correct the database: `cantools dump FILE` checks it",
            )
        })?;
        for message in database.messages {
            if known.insert((message.id, message.is_extended)) {
                all.push(message);
            } else {
                report.note(Some(&message.name), 1, "another message has its identifier: not used");
            }
        }
    }
    Ok(all)
}

fn each_frame(
    file: &mut InputFile<'_>,
    defects: &mut Defects,
    shift: &mut TimeShift,
    mut take: impl FnMut(&Frame<'_>, u64, &[u8]) -> Result<(), InputError>,
) -> Result<(), InputError> {
    file.content.seek(SeekFrom::Start(0))?;
    let mut lines = TextLines::new(&mut *file.content);
    while let Some((number, line)) = lines.next()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let frame = match Frame::parse(line) {
            Ok(frame) => frame,
            Err(why) => {
                defects.add(|| format!("line {number}"), why)?;
                continue;
            }
        };
        match shift.apply(frame.time) {
            Ok(time) => take(&frame, time, line)?,
            Err(why) => defects.add_time(frame.interface, || format!("line {number}"), &why)?,
        }
    }
    Ok(())
}

struct Reading<'a> {
    messages: &'a [MessageDescription],
    /// The last part of the instance of each message: two databases may have a message of one name.
    names: Vec<String>,
    by_id: HashMap<(u32, bool), usize>,
    interfaces: HashMap<String, usize>,
    /// By interface and message; the message after the last one has all other frames.
    all: BTreeMap<(usize, usize), One>,
    series: SeriesSet,
    row: Vec<u8>,
    /// Frames that no database describes, by identifier.
    unknown: BTreeMap<u32, u64>,
}

/// The frames of a message on an interface.
struct One {
    instance: String,
    columns: Vec<Column>,
    rows: u64,
    table: Option<ColumnTable>,
    probe_type: Option<Arc<ProbeType>>,
    series: Option<usize>,
}

impl<'a> Reading<'a> {
    fn new(messages: &'a [MessageDescription]) -> Self {
        let by_id = messages.iter().enumerate().map(|(at, message)| ((message.id, message.is_extended), at));
        let mut free = FreeNames::default();
        Self {
            messages,
            names: messages.iter().map(|message| free.take(&message.name)).collect(),
            by_id: by_id.collect(),
            interfaces: HashMap::new(),
            all: BTreeMap::new(),
            series: SeriesSet::default(),
            row: Vec::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Returns the message that describes a frame; the one after the last for none.
    fn message_of(&self, frame: &Frame<'_>) -> usize {
        let is_data = !frame.is_remote && !frame.is_error;
        let found = self.by_id.get(&(frame.id, frame.is_extended)).filter(|_| is_data);
        // A message without signals has no values.
        let found = found.filter(|at| self.messages.get(**at).is_some_and(|of| !of.signals.is_empty()));
        found.copied().unwrap_or(self.messages.len())
    }

    fn survey(&mut self, frame: &Frame<'_>) -> Result<(), InputError> {
        let message = self.message_of(frame);
        let interface = match self.interfaces.get(frame.interface) {
            Some(at) => *at,
            None if self.interfaces.len() >= MAX_INTERFACES => {
                let why = format!("the log has more than {MAX_INTERFACES} interfaces");
                return Err(InputError::file(why, "import a part of the log at a time"));
            }
            None => {
                self.interfaces.insert(frame.interface.to_owned(), self.interfaces.len());
                self.interfaces.len() - 1
            }
        };
        let described = self.messages.get(message);
        let one = self.all.entry((interface, message)).or_insert_with(|| One {
            instance: {
                let name = self.names.get(message).map_or("frames", String::as_str);
                without_controls(&format!("{}/{name}", frame.interface))
            },
            columns: described.map(|of| of.signals.iter().map(signal_column).collect()).unwrap_or_default(),
            rows: 0,
            table: None,
            probe_type: None,
            series: None,
        });
        one.rows += 1;
        match described {
            Some(described) => {
                for (column, signal) in one.columns.iter_mut().zip(&described.signals) {
                    column.survey(described.value(signal, frame.data()));
                }
            }
            None => *self.unknown.entry(frame.id).or_default() += 1,
        }
        Ok(())
    }

    fn end_survey(&mut self) -> Result<(), InputError> {
        for ((_, message), one) in &mut self.all {
            match self.messages.get(*message) {
                Some(described) => {
                    let table = ColumnTable::new(&described.name, &one.columns, one.rows);
                    one.probe_type = Some(table.probe_type.clone());
                    one.table = Some(table);
                }
                None => one.probe_type = Some(frame_type()),
            }
        }
        Ok(())
    }

    fn sample(
        &mut self,
        frame: &Frame<'_>,
        time: u64,
        line: &[u8],
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let message = self.message_of(frame);
        let interface = self.interfaces.get(frame.interface).copied().unwrap_or_default();
        let Some(one) = self.all.get_mut(&(interface, message)) else { return Ok(()) };
        match (&mut one.table, self.messages.get(message)) {
            (Some(table), Some(described)) => table.write(&mut self.row, |at, _| {
                let signal = described.signals.get(at);
                signal.map_or(crate::input::Cell::Absent, |signal| described.value(signal, frame.data()))
            }),
            _ => frame_row(frame, &mut self.row),
        }
        let series = match (one.series, one.probe_type.clone()) {
            (Some(series), _) => series,
            (None, Some(probe_type)) => {
                // Interfaces are numbered in their order: the line is the same whenever the file is read.
                *one.series.insert(self.series.add(&one.instance, probe_type, line)?)
            }
            (None, None) => return Ok(()),
        };
        self.series.push(series, time, &self.row, take)
    }

    fn finish(
        mut self,
        take: &mut TakeBatch<'_>,
        has_databases: bool,
        report: &mut Report,
    ) -> Result<(), InputError> {
        self.series.finish(take)?;
        for ((_, message), one) in &self.all {
            if let Some(table) = &one.table {
                table.report(Some(&one.instance), &one.columns, report);
            }
            if let (Some(described), Some(name)) = (self.messages.get(*message), self.names.get(*message))
                && described.name != *name
            {
                let text = format!(
                    "is the message {:X}: another one is called {} too",
                    described.id, described.name
                );
                report.note(Some(&one.instance), 1, text);
            }
        }
        let frames: u64 = self.unknown.values().sum();
        let identifiers: Vec<_> = self.unknown.keys().take(10).map(|id| format!("{id:X}")).collect();
        let more = if self.unknown.len() > identifiers.len() { ", …" } else { "" };
        let why =
            if has_databases { "no database describes them" } else { "no database: --dbc FILE decodes them" };
        let text = format!(
            "{frames} frames kept as bytes in INTERFACE/frames: {why} ({}{more})",
            identifiers.join(", ")
        );
        report.note(None, frames, text);
        Ok(())
    }
}

/// The type of frames that no database describes.
fn frame_type() -> Arc<ProbeType> {
    let bytes = MetricType::Vector(Box::new(MetricType::Uint8));
    let metrics = vec![
        Metric::new("id", MetricType::Uint32),
        Metric::new("is_extended", MetricType::Boolean),
        Metric::new("is_remote", MetricType::Boolean),
        Metric::new("is_error", MetricType::Boolean),
        Metric::new("is_fd", MetricType::Boolean),
        Metric::new("fd_flags", MetricType::Uint8),
        Metric::new("length", MetricType::Uint8),
        Metric::new("data", bytes),
    ];
    Arc::new(infer::described("CAN::Frame", metrics))
}

fn frame_row(frame: &Frame<'_>, row: &mut Vec<u8>) {
    row.clear();
    let mut to = RowWriter::new(row);
    to.u32(frame.id);
    to.boolean(frame.is_extended);
    to.boolean(frame.is_remote);
    to.boolean(frame.is_error);
    to.boolean(frame.fd.is_some());
    to.u8(frame.fd.unwrap_or(0));
    to.u8(frame.length());
    to.vector(frame.data().len());
    to.packed(frame.data());
}
