//! The topics of a recording, in all of its files.

use super::folder::MessageCount;
use crate::{
    input::{
        Defects, InputError, Report, SeriesSet, TakeBatch,
        bounds::{MAX_MESSAGE, MAX_METRICS},
        infer, names,
    },
    ros::{BadLayout, Layout},
    visible::shortened,
};
use oasis_wire::schema::ProbeType;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// A topic of a file.
#[derive(Debug, Clone)]
pub struct Described {
    pub id: i64,
    pub name: String,
    /// The type, such as `std_msgs/msg/String`.
    pub kind: String,
    pub serialization: String,
    /// Encoding and text, if the file has them.
    pub definition: Option<(String, String)>,
}

/// The topics of all files.
#[derive(Default)]
pub struct Topics {
    all: Vec<Topic>,
    places: HashMap<(String, String), usize>,
    /// The topics of the current file by its numbers.
    current: HashMap<i64, usize>,
    series: SeriesSet,
    row: Vec<u8>,
    metrics: usize,
    /// Messages without a topic.
    unknown: u64,
}

struct Topic {
    name: String,
    instance: Arc<str>,
    /// The layout and the type, or the reason why messages are left out.
    decoder: Result<(Layout, Arc<ProbeType>), String>,
    series: Option<usize>,
    /// Messages of the files, also those that are not imported.
    found: u64,
    left_out: u64,
    /// Messages that do not match, and the first reason.
    bad: u64,
    why: Option<String>,
}

impl Topics {
    /// Adds the topics of a file that are not known yet.
    pub fn describe(&mut self, topics: &[Described]) {
        for of in topics {
            let key = (of.name.clone(), of.kind.clone());
            if self.places.contains_key(&key) {
                continue;
            }
            let decoder = decoder(of).and_then(|(layout, probe_type)| {
                self.metrics = self.metrics.saturating_add(layout.count);
                match self.metrics > MAX_METRICS {
                    true => Err(format!("the topics have more than {MAX_METRICS} metrics")),
                    false => Ok((layout, probe_type)),
                }
            });
            self.places.insert(key, self.all.len());
            self.all.push(Topic {
                name: of.name.clone(),
                instance: of.name.as_str().into(),
                decoder,
                series: None,
                found: 0,
                left_out: 0,
                bad: 0,
                why: None,
            });
        }
    }

    /// Names the instances, once all topics are known.
    pub fn name_instances(&mut self) {
        let topics: BTreeSet<&str> = self.all.iter().map(|topic| topic.name.as_str()).collect();
        let instances = names::instances(&topics);
        for topic in &mut self.all {
            if let Some(instance) = instances.get(&topic.name) {
                topic.instance = instance.clone();
            }
        }
    }

    /// Begins a file, whose messages have these numbers of topics.
    pub fn begin_file(&mut self, topics: &[Described]) {
        let places = topics
            .iter()
            .filter_map(|of| Some((of.id, *self.places.get(&(of.name.clone(), of.kind.clone()))?)));
        self.current = places.collect();
    }

    /// The name of a topic of the current file.
    pub fn name(&self, id: i64) -> &str {
        let topic = self.current.get(&id).and_then(|at| self.all.get(*at));
        topic.map_or("messages without a topic", |topic| topic.name.as_str())
    }

    /// Counts a message of the current file, whether it is imported or not.
    pub fn count(&mut self, id: i64) {
        if let Some(topic) = self.current.get(&id).and_then(|at| self.all.get_mut(*at)) {
            topic.found += 1;
        }
    }

    /// Reports the messages that `metadata.yaml` counts and the files lack.
    pub fn compare(&self, counts: &[MessageCount], report: &mut Report) {
        for MessageCount { topic, messages } in counts {
            let of_topic = self.all.iter().filter(|of| of.name == *topic);
            let found: u64 = of_topic.map(|of| of.found).sum();
            let missing = messages.saturating_sub(found);
            let text = format!(
                "{missing} messages are missing: metadata.yaml counts {messages}, and the files have {found}"
            );
            report.lose(Some(topic), missing, text);
        }
    }

    /// Adds a message.
    pub fn message(
        &mut self,
        id: i64,
        time: u64,
        data: &[u8],
        place: &dyn Fn() -> String,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Some(topic) = self.current.get(&id).and_then(|at| self.all.get_mut(*at)) else {
            self.unknown += 1;
            return Ok(());
        };
        let Ok((layout, probe_type)) = &topic.decoder else {
            topic.left_out += 1;
            return Ok(());
        };
        if data.len() > MAX_MESSAGE {
            return defects.add(place, format!("{}: more than {MAX_MESSAGE} bytes", topic.name));
        }
        if let Err(why) = layout.decode(data, &mut self.row) {
            // Large images, and types that changed since: as in MCAP files, the others are imported.
            topic.bad += 1;
            topic.why.get_or_insert_with(|| format!("{why} ({})", place()));
            return Ok(());
        }
        let series = match topic.series {
            Some(series) => series,
            None => {
                let identity = [topic.name.as_bytes(), &time.to_le_bytes(), data].concat();
                *topic.series.insert(self.series.add(&topic.instance, probe_type.clone(), &identity)?)
            }
        };
        self.series.push(series, time, &self.row, take)
    }

    /// Completes the batches, and reports the messages that were left out.
    pub fn finish(mut self, take: &mut TakeBatch<'_>, report: &mut Report) -> Result<(), InputError> {
        self.series.finish(take)?;
        for topic in &self.all {
            if let Err(why) = &topic.decoder {
                let count = topic.left_out;
                report.lose(Some(&topic.name), count, format!("{count} messages skipped: {why}"));
            }
            if let Some(why) = &topic.why {
                let count = topic.bad;
                let text =
                    format!("{count} messages skipped: a message does not match the definition: {why}");
                report.lose(Some(&topic.name), count, text);
            }
            let short = topic.name.trim_start_matches('/');
            if topic.series.is_some() && !short.is_empty() && *short != *topic.instance {
                report.note(Some(&topic.name), 1, format!("imported as the instance {}", topic.instance));
            }
        }
        let unknown = self.unknown;
        report.lose(
            None,
            unknown,
            format!("{unknown} messages skipped: the table `topics` lacks their topic"),
        );
        Ok(())
    }
}

/// Returns the layout of a topic's messages, or the reason why there is none.
fn decoder(of: &Described) -> Result<(Layout, Arc<ProbeType>), String> {
    if of.serialization != "cdr" {
        let format = shortened(&of.serialization);
        return Err(format!("the serialization format {format:?} is not supported: only cdr is"));
    }
    let kind = shortened(&of.kind);
    let layout = match &of.definition {
        Some((encoding, text))
            if encoding == "ros2msg"
                && of.kind.ends_with("_Event")
                && !text.contains("MSG: service_msgs") =>
        {
            Layout::of_service_event(&of.kind, text)
        }
        Some((encoding, text)) if encoding == "ros2msg" => Layout::read(&of.kind, text.as_bytes()),
        Some((encoding, text)) if encoding == "ros2idl" => Layout::read_idl(&of.kind, text.as_bytes()),
        Some((encoding, _)) if !matches!(encoding.as_str(), "" | "unknown") => {
            Layout::known(&of.kind).map_err(|_| BadLayout::Encoding(shortened(encoding)))
        }
        _ => Layout::known(&of.kind),
    };
    let layout = layout.map_err(|error| match &of.definition {
        Some(_) => format!("unsupported definition of {kind:?}: {error}"),
        None => format!(
            "the file has no definition of {kind:?}: record it with ROS 2 Iron or later, or write it anew there with `ros2 bag convert`"
        ),
    })?;
    let probe_type = infer::described(&of.kind, layout.metrics.clone());
    if probe_type.metrics.is_empty() {
        return Err("the messages have no values".into());
    }
    probe_type.validate().map_err(|error| error.to_string())?;
    Ok((layout, Arc::new(probe_type)))
}
