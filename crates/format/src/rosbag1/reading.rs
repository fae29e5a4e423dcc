//! Decodes the messages of a bag. The file is read twice: the first time for the topics, so that each has one instance.

use super::records::{Record, Records, field};
use crate::{
    input::{
        InputError, InputFile, InputOptions, Report, SeriesSet, TakeBatch,
        bounds::{MAX_MESSAGE, MAX_METRICS},
        infer, names,
    },
    ros::Layout,
    visible::shortened,
};
use oasis_wire::schema::ProbeType;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Most connections of a bag.
const MAX_CONNECTIONS: usize = 65_536;

/// Reads a bag.
pub fn read(
    file: &mut InputFile<'_>,
    _: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let mut topics = Topics::default();
    let mut records = Records::new(&mut *file.content)?;
    while let Some(record) = records.next()? {
        if let Record::Connection { connection, topic, header } = record {
            topics.connect(connection, topic, header)?;
        }
    }
    topics.name_instances();
    let mut records = Records::new(&mut *file.content)?;
    while let Some(record) = records.next()? {
        if let Record::Message { connection, time, data, at } = record {
            topics.message(connection, time, data, at, take)?;
        }
    }
    let (cut, long) = (records.cut, records.long);
    let mut report = Report::default();
    topics.finish(take, &mut report)?;
    report.lose(None, long, format!("{long} messages skipped: more than {MAX_MESSAGE} bytes"));
    if let Some(at) = cut {
        report.is_damaged = true;
        report.lose(None, 1, format!("the file ends in the record at byte {at}, later messages are lost"));
    }
    Ok(report)
}

#[derive(Default)]
struct Topics {
    all: Vec<Topic>,
    /// By topic and type.
    places: HashMap<(String, String), usize>,
    connections: HashMap<u32, usize>,
    series: SeriesSet,
    row: Vec<u8>,
    metrics: usize,
    unknown: u64,
}

struct Topic {
    name: String,
    instance: Arc<str>,
    /// The layout and the type, or the reason why messages are left out.
    decoder: Result<(Layout, Arc<ProbeType>), String>,
    series: Option<usize>,
    left_out: u64,
    why: Option<String>,
}

impl Topics {
    fn connect(&mut self, connection: u32, topic: &[u8], header: &[u8]) -> Result<(), InputError> {
        if self.connections.contains_key(&connection) {
            return Ok(());
        }
        if self.connections.len() >= MAX_CONNECTIONS {
            let why = format!("the bag has more than {MAX_CONNECTIONS} connections");
            return Err(InputError::file(why, "import a part of the topics (`rosbag filter`)"));
        }
        let text =
            |name: &[u8]| String::from_utf8_lossy(field(header, name).unwrap_or_default()).into_owned();
        let (topic, kind) = (String::from_utf8_lossy(topic).into_owned(), text(b"type"));
        let at = match self.places.get(&(topic.clone(), kind.clone())) {
            Some(at) => *at,
            None => {
                let decoder = self.decoder(&kind, field(header, b"message_definition").unwrap_or_default());
                self.places.insert((topic.clone(), kind), self.all.len());
                let instance = topic.as_str().into();
                self.all.push(Topic { name: topic, instance, decoder, series: None, left_out: 0, why: None });
                self.all.len() - 1
            }
        };
        self.connections.insert(connection, at);
        Ok(())
    }

    fn decoder(&mut self, kind: &str, definition: &[u8]) -> Result<(Layout, Arc<ProbeType>), String> {
        let layout = Layout::read_ros1(kind, definition);
        let layout =
            layout.map_err(|error| format!("unsupported definition of {:?}: {error}", shortened(kind)))?;
        self.metrics = self.metrics.saturating_add(layout.count);
        if self.metrics > MAX_METRICS {
            return Err(format!("the topics have more than {MAX_METRICS} metrics"));
        }
        let probe_type = infer::described(kind, layout.metrics.clone());
        if probe_type.metrics.is_empty() {
            return Err("the messages have no values".into());
        }
        probe_type.validate().map_err(|error| error.to_string())?;
        Ok((layout, Arc::new(probe_type)))
    }

    fn name_instances(&mut self) {
        let topics: BTreeSet<&str> = self.all.iter().map(|topic| topic.name.as_str()).collect();
        let instances = names::instances(&topics);
        for topic in &mut self.all {
            if let Some(instance) = instances.get(&topic.name) {
                topic.instance = instance.clone();
            }
        }
    }

    fn message(
        &mut self,
        connection: u32,
        time: [u8; 8],
        data: &[u8],
        at: u64,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Some(topic) = self.connections.get(&connection).and_then(|at| self.all.get_mut(*at)) else {
            self.unknown += 1;
            return Ok(());
        };
        let Ok((layout, probe_type)) = &topic.decoder else {
            topic.left_out += 1;
            return Ok(());
        };
        if let Err(why) = layout.decode_packed(data, &mut self.row) {
            topic.left_out += 1;
            topic
                .why
                .get_or_insert_with(|| format!("a message does not match its definition: {why} (byte {at})"));
            return Ok(());
        }
        let part = |at: usize| {
            time.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_le_bytes)
        };
        let time = u64::from(part(0)) * 1_000_000_000 + u64::from(part(4));
        let series = match topic.series {
            Some(series) => series,
            None => {
                let identity = [topic.name.as_bytes(), &time.to_le_bytes(), data].concat();
                *topic.series.insert(self.series.add(&topic.instance, probe_type.clone(), &identity)?)
            }
        };
        self.series.push(series, time, &self.row, take)
    }

    fn finish(mut self, take: &mut TakeBatch<'_>, report: &mut Report) -> Result<(), InputError> {
        self.series.finish(take)?;
        for topic in &self.all {
            let why = topic.decoder.as_ref().err().or(topic.why.as_ref());
            let (count, why) = (topic.left_out, why.map(String::as_str).unwrap_or_default());
            report.lose(Some(&topic.name), count, format!("{count} messages skipped: {why}"));
            let short = topic.name.trim_start_matches('/');
            if topic.series.is_some() && !short.is_empty() && *short != *topic.instance {
                report.note(Some(&topic.name), 1, format!("imported as the instance {}", topic.instance));
            }
        }
        let unknown = self.unknown;
        report.lose(
            None,
            unknown,
            format!("{unknown} messages skipped: no record describes their connection"),
        );
        Ok(())
    }
}
