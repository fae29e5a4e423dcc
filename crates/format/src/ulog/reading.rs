//! Reads a file: a survey of topics and clock, then the samples.

use super::{
    format::{Formats, Layout},
    messages::{Message, Messages},
    texts::{self, KeyValue},
};
use crate::input::{
    Defects, InputError, InputFile, InputOptions, Lost, Report, SeriesSet, TakeBatch, TimeRefused,
    bounds::{MAX_LOST, MAX_ROW},
    checked_time, infer,
    names::without_controls,
};
use oasis_wire::{loss::Cause, schema::ProbeType};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

/// Times of the header and of GPS from this one on are of a calendar, microseconds since 1970: 1998.
const MIN_CALENDAR_TIME: u64 = 900_000_000_000_000;
/// The topic whose time of GPS is preferred.
const VEHICLE_POSITION: &str = "vehicle_gps_position";
/// Nanoseconds of a microsecond.
const MICROSECOND: i128 = 1_000;
/// Samples from which on the interval of a topic is known.
const MIN_INTERVAL_SAMPLES: u64 = 3;
/// Instances that are no topics.
const RESERVED: [&str; 5] = ["log", "parameters", "default_parameters", "information", "dropouts"];

/// Reads a file.
pub fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let clock = survey(file, options)?;
    let mut messages = Messages::new(&mut *file.content)?;
    let mut reading = Reading::new(messages.start, clock.offset);
    let mut defects = Defects::new(options.is_partial);
    while let Some(message) = messages.next(&mut defects)? {
        reading.message(&message, &mut defects, take)?;
    }
    let mut report = reading.finish(take)?;
    defects.report("messages", &mut report)?;
    if let Some(at) = messages.cut {
        report.is_damaged = true;
        report.lose(None, 1, format!("the file ends in the message at byte {at}, later messages are lost"));
    }
    if let Some(note) = clock.note {
        report.note(None, 1, note);
    }
    Ok(report)
}

/// The nanoseconds between times of the log and times since 1970.
struct Clock {
    offset: i128,
    note: Option<String>,
}

/// Finds the clock: that of the log, of an option, or of GPS.
fn survey(file: &mut InputFile<'_>, options: &InputOptions) -> Result<Clock, InputError> {
    let mut messages = Messages::new(&mut *file.content)?;
    let start = i128::from(messages.start) * MICROSECOND;
    if let Some(wanted) = options.start {
        return Ok(Clock { offset: i128::from(wanted) - start, note: None });
    }
    if messages.start >= MIN_CALENDAR_TIME {
        return Ok(Clock { offset: 0, note: None });
    }
    let mut formats = Formats::default();
    let mut with_utc: HashMap<u16, (Layout, (bool, String, u8))> = HashMap::new();
    // The position of the vehicle is the first choice, then the receivers by name.
    let mut offsets = BTreeMap::new();
    // The second reading counts the defects.
    let mut ignored = Defects::new(true);
    while let Some(Message { kind, content, .. }) = messages.next(&mut ignored)? {
        match kind {
            b'F' => drop(formats.add(content)),
            b'A' => {
                if let Some((multi, id, name)) = subscription(content)
                    && let Ok(layout) = formats.layout(name)
                    && layout.utc.is_some()
                {
                    with_utc.insert(id, (layout, (name != VEHICLE_POSITION, name.to_owned(), multi)));
                }
            }
            b'D' => {
                let Some((id, data)) = content.split_first_chunk() else { continue };
                let Some((layout, rank)) = with_utc.get(&u16::from_le_bytes(*id)) else { continue };
                let utc = layout.utc.and_then(|at| micros(data, at));
                let (Some(utc), Some(time)) = (utc, micros(data, layout.timestamp)) else { continue };
                if utc >= MIN_CALENDAR_TIME && !offsets.contains_key(rank) {
                    offsets.insert(rank.clone(), (i128::from(utc) - i128::from(time)) * MICROSECOND);
                    if !rank.0 {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(((_, name, _), offset)) = offsets.into_iter().next() {
        let seconds = offset / 1_000_000_000;
        let note = format!(
            "times are of {}: {seconds} s were added to the time since the start of the vehicle",
            without_controls(&name)
        );
        return Ok(Clock { offset, note: Some(note) });
    }
    let note = "times count from the start of the vehicle, and the log has no time of GPS: they are in 1970; --start TIME gives the log its start";
    Ok(Clock { offset: 0, note: Some(note.to_owned()) })
}

/// Reads multi-id, number and name of a subscription.
fn subscription(content: &[u8]) -> Option<(u8, u16, &str)> {
    let (multi, rest) = content.split_first()?;
    let (id, name) = rest.split_first_chunk()?;
    Some((*multi, u16::from_le_bytes(*id), str::from_utf8(name).ok()?))
}

fn micros(data: &[u8], at: usize) -> Option<u64> {
    data.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// The state of the second reading.
struct Reading {
    start: u64,
    offset: i128,
    /// The newest time, microseconds.
    now: u64,
    formats: Formats,
    /// The layouts of topics, or the reason why there is none.
    layouts: HashMap<String, Result<Rc<Layout>, String>>,
    /// The topics by the number of their messages.
    subscribed: HashMap<u16, usize>,
    topics: Vec<Topic>,
    places: HashMap<(String, u8), usize>,
    taken: HashSet<String>,
    series: SeriesSet,
    others: Others,
    row: Vec<u8>,
    no_utf8: u64,
    /// Parameters, information and log records whose time no sample can have.
    untimed: u64,
    /// Messages without a subscription.
    unknown: u64,
    dropouts: u64,
    /// Milliseconds of all dropouts.
    dropped_ms: u64,
    lost: Vec<Lost>,
    missing: u64,
    /// An information of several messages.
    open: Option<(String, Vec<u8>)>,
}

/// The instances that are no topics, once they have a sample.
#[derive(Default)]
struct Others {
    log: Option<usize>,
    parameters: Option<usize>,
    default_parameters: Option<usize>,
    information: Option<usize>,
    dropouts: Option<usize>,
}

struct Topic {
    instance: String,
    layout: Result<Rc<Layout>, String>,
    probe_type: Option<Arc<ProbeType>>,
    series: Option<usize>,
    left_out: u64,
    samples: u64,
    first: u64,
    last: u64,
    /// Milliseconds of dropouts since the last sample.
    dropped_ms: u64,
}

impl Reading {
    fn new(start: u64, offset: i128) -> Self {
        Self {
            start,
            offset,
            now: start,
            formats: Formats::default(),
            layouts: HashMap::new(),
            subscribed: HashMap::new(),
            topics: Vec::new(),
            places: HashMap::new(),
            taken: RESERVED.iter().map(|name| (*name).to_owned()).collect(),
            series: SeriesSet::default(),
            others: Others::default(),
            row: Vec::new(),
            no_utf8: 0,
            untimed: 0,
            unknown: 0,
            dropouts: 0,
            dropped_ms: 0,
            lost: Vec::new(),
            missing: 0,
            open: None,
        }
    }

    fn message(
        &mut self,
        message: &Message<'_>,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Message { kind, content, at } = *message;
        let place = || format!("byte {at}");
        match kind {
            b'D' => self.data(content, &place, defects, take),
            b'F' if self.formats.add(content) => Ok(()),
            b'F' => defects.add(place, "a format that is no text"),
            b'A' => match subscription(content) {
                Some((multi, id, name)) => {
                    self.subscribe(multi, id, name);
                    Ok(())
                }
                None => defects.add(place, "a subscription that is too short"),
            },
            b'P' => self.parameter(content, &place, defects, take),
            b'Q' => self.default_parameter(content, &place, defects, take),
            b'I' => self.information(content, false, &place, defects, take),
            b'M' => match content.split_first() {
                Some((continues, content)) => {
                    self.information(content, *continues != 0, &place, defects, take)
                }
                None => defects.add(place, "an information that is too short"),
            },
            b'L' => self.log(content, 1, &place, defects, take),
            b'C' => self.log(content, 3, &place, defects, take),
            b'O' => self.dropout(content, take),
            // Flags, ends of subscriptions, synchronization, and kinds of later versions.
            _ => Ok(()),
        }
    }

    fn subscribe(&mut self, multi: u8, id: u16, name: &str) {
        let key = (name.to_owned(), multi);
        let at = match self.places.get(&key) {
            Some(at) => *at,
            None => {
                let layouts = self.layouts.entry(name.to_owned());
                let formats = &self.formats;
                let layout = layouts
                    .or_insert_with(|| formats.layout(name).map(Rc::new).map_err(|error| error.to_string()))
                    .clone();
                let short = without_controls(name);
                let mut instance = if multi == 0 { short.clone() } else { format!("{short}_{multi}") };
                while !self.taken.insert(instance.clone()) {
                    instance += "_topic";
                }
                let metrics = layout.as_ref().ok().map(|layout| layout.metrics.clone());
                let probe_type = metrics.map(|metrics| Arc::new(infer::described(&short, metrics)));
                self.topics.push(Topic {
                    instance,
                    layout,
                    probe_type,
                    series: None,
                    left_out: 0,
                    samples: 0,
                    first: 0,
                    last: 0,
                    dropped_ms: 0,
                });
                self.places.insert(key, self.topics.len() - 1);
                self.topics.len() - 1
            }
        };
        self.subscribed.insert(id, at);
    }

    fn data(
        &mut self,
        content: &[u8],
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Some((id, data)) = content.split_first_chunk() else {
            return defects.add(place, "data that are too short");
        };
        let at = self.subscribed.get(&u16::from_le_bytes(*id));
        let Some(topic) = at.and_then(|at| self.topics.get_mut(*at)) else {
            self.unknown += 1;
            return Ok(());
        };
        let Ok(layout) = topic.layout.clone() else {
            topic.left_out += 1;
            return Ok(());
        };
        match layout.decode(data, &mut self.row) {
            Ok(no_utf8) => self.no_utf8 += no_utf8,
            Err(why) => return defects.add(place, format!("{}: {why}", topic.instance)),
        }
        let Some(time) = micros(data, layout.timestamp) else {
            return defects.add(place, "data without a time");
        };
        let checked = match time_of(time, self.offset) {
            Ok(checked) => checked,
            Err(why) => return defects.add_time(&topic.instance, place, &why),
        };
        let series = match (topic.series, topic.probe_type.clone()) {
            (Some(series), _) => series,
            (None, Some(probe_type)) => {
                let identity = [&self.start.to_le_bytes(), data].concat();
                *topic.series.insert(self.series.add(&topic.instance, probe_type, &identity)?)
            }
            (None, None) => return Ok(()),
        };
        self.now = self.now.max(time);
        let missing = topic.missing(time);
        self.missing += missing;
        let lost = self.series.lose(series, missing, Cause::RingFull);
        self.lost.extend(lost.filter(|_| self.lost.len() < MAX_LOST));
        topic.count(time);
        self.series.push(series, checked, &self.row, take)
    }

    /// Adds a sample of an instance that is no topic; `self.row` has its row.
    fn other(
        &mut self,
        (name, probe_type): (&str, Arc<ProbeType>),
        known: Option<usize>,
        time: u64,
        take: &mut TakeBatch<'_>,
    ) -> Result<Option<usize>, InputError> {
        let Ok(checked) = time_of(time, self.offset) else {
            self.untimed += 1;
            return Ok(known);
        };
        let at = match known {
            Some(at) => at,
            None => {
                self.series.add(name, probe_type, &[&self.start.to_le_bytes(), &self.row[..]].concat())?
            }
        };
        self.series.push(at, checked, &self.row, take)?;
        Ok(Some(at))
    }

    fn parameter(
        &mut self,
        content: &[u8],
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let parameter = KeyValue::read(content).and_then(|of| Some((of.number()?, of)));
        let Some((value, of)) = parameter else {
            return defects.add(place, "a parameter that is neither int32_t nor float");
        };
        texts::parameter_row(&of, value, &mut self.row);
        let known = self.others.parameters;
        self.others.parameters =
            self.other(("parameters", texts::parameter_type()), known, self.now, take)?;
        Ok(())
    }

    fn default_parameter(
        &mut self,
        content: &[u8],
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let parameter = content.split_first().and_then(|(_, content)| KeyValue::read(content));
        let Some((value, of)) = parameter.and_then(|of| Some((of.number()?, of))) else {
            return defects.add(place, "a default parameter that is neither int32_t nor float");
        };
        texts::parameter_row(&of, value, &mut self.row);
        let known = self.others.default_parameters;
        let of = ("default_parameters", texts::parameter_type());
        self.others.default_parameters = self.other(of, known, self.now, take)?;
        Ok(())
    }

    fn information(
        &mut self,
        content: &[u8],
        continues: bool,
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Some(of) = KeyValue::read(content) else {
            return defects.add(place, "an information without a key");
        };
        let (text, bytes) = match of.text() {
            Some((text, is_replaced)) => {
                self.no_utf8 += u64::from(is_replaced);
                (text, &[][..])
            }
            None => (String::new(), of.value),
        };
        // Bytes of several messages are one value; texts stay one for each message.
        let joined = match self.open.take() {
            Some((key, mut before))
                if continues && key == of.key && before.len() + bytes.len() < MAX_ROW / 2 =>
            {
                before.extend_from_slice(bytes);
                Some((key, before))
            }
            open => {
                self.flush_information(open, take)?;
                (!bytes.is_empty()).then(|| (of.key.to_owned(), bytes.to_vec()))
            }
        };
        self.open = joined;
        if self.open.is_none() { self.add_information((of.key, &text, &[]), take) } else { Ok(()) }
    }

    fn flush_information(
        &mut self,
        open: Option<(String, Vec<u8>)>,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        open.map_or(Ok(()), |(key, bytes)| self.add_information((&key, "", &bytes), take))
    }

    fn add_information(
        &mut self,
        (key, text, bytes): (&str, &str, &[u8]),
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        texts::information_row(key, text, bytes, &mut self.row);
        let known = self.others.information;
        let of = ("information", texts::information_type());
        self.others.information = self.other(of, known, self.now, take)?;
        Ok(())
    }

    /// `time_at` is the byte of the time: a level is before it, and the tag of some.
    fn log(
        &mut self,
        content: &[u8],
        time_at: usize,
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let (Some(level), Some(time)) = (content.first(), micros(content, time_at)) else {
            return defects.add(place, "a log record that is too short");
        };
        let text = String::from_utf8_lossy(content.get(time_at + 8..).unwrap_or_default());
        self.no_utf8 += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
        let tag = content.get(1..3).filter(|_| time_at == 3).and_then(|tag| tag.try_into().ok());
        let target = tag.map(|tag| format!("tag {}", u16::from_le_bytes(tag))).unwrap_or_default();
        texts::log_row(*level, &target, text.trim_end_matches(['\0', '\n']), &mut self.row);
        let Some(log_type) = texts::log_type() else { return Ok(()) };
        if let Err(why) = time_of(time, self.offset) {
            return defects.add_time("log", place, &why);
        }
        self.now = self.now.max(time);
        self.others.log = self.other(("log", log_type), self.others.log, time, take)?;
        Ok(())
    }

    fn dropout(&mut self, content: &[u8], take: &mut TakeBatch<'_>) -> Result<(), InputError> {
        let duration = content.try_into().map_or(0, u16::from_le_bytes);
        self.dropouts += 1;
        self.dropped_ms += u64::from(duration);
        self.topics.iter_mut().for_each(|topic| topic.dropped_ms += u64::from(duration));
        self.row.clear();
        self.row.extend_from_slice(&duration.to_le_bytes());
        let of = ("dropouts", texts::dropout_type());
        self.others.dropouts = self.other(of, self.others.dropouts, self.now, take)?;
        Ok(())
    }

    fn finish(mut self, take: &mut TakeBatch<'_>) -> Result<Report, InputError> {
        let open = self.open.take();
        self.flush_information(open, take)?;
        self.series.finish(take)?;
        let mut report = Report { lost: self.lost, ..Report::default() };
        let mut left_out: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for topic in &self.topics {
            if let Err(why) = &topic.layout {
                left_out.entry(&topic.instance).or_insert((0, why)).0 += topic.left_out;
            }
        }
        for (topic, (count, why)) in left_out {
            report.lose(Some(topic), count, format!("{count} messages skipped: {why}"));
        }
        let unknown = self.unknown;
        report.lose(None, unknown, format!("{unknown} messages skipped: no subscription names their topic"));
        let untimed = self.untimed;
        report.lose(
            None,
            untimed,
            format!("{untimed} parameters, information and log records skipped: times outside 1970 to 2554"),
        );
        let no_utf8 = self.no_utf8;
        report.lose(None, no_utf8, format!("{no_utf8} texts are not UTF-8: other bytes became U+FFFD"));
        let text = format!(
            "{} dropouts of {} ms together: the logger could not write in time; {} samples are missing by the intervals of their topics",
            self.dropouts, self.dropped_ms, self.missing
        );
        report.note(None, self.dropouts, text);
        Ok(report)
    }
}

impl Topic {
    /// The number of samples that a dropout has left out before a sample of this time, estimated from the interval of the samples before.
    fn missing(&self, time: u64) -> u64 {
        if self.dropped_ms == 0 || self.samples < MIN_INTERVAL_SAMPLES || time <= self.last {
            return 0;
        }
        let interval = (self.last - self.first) as f64 / (self.samples - 1) as f64;
        if interval <= 0.0 {
            return 0;
        }
        let by_time = ((time - self.last) as f64 / interval).round() - 1.0;
        let most = (self.dropped_ms as f64 * 1e3 / interval).ceil();
        by_time.min(most).max(0.0) as u64
    }

    fn count(&mut self, time: u64) {
        if self.samples == 0 {
            self.first = time;
        }
        self.samples += 1;
        self.last = time;
        self.dropped_ms = 0;
    }
}

fn time_of(micros: u64, offset: i128) -> Result<u64, TimeRefused> {
    checked_time(i128::from(micros) * MICROSECOND + offset)
}
