//! The bytes of a request: `prometheus.WriteRequest` of version 1.0, and `io.prometheus.write.v2.Request` of version 2.0.

use crate::{RemoteWriteVersion, part::Part};
use oasis_format::protobuf::wire_writer::{bytes, fixed64, number, varint};
use oasis_openmetrics::{Family, Kind};
use std::collections::{BTreeMap, HashMap};

/// The NaN that marks the end of a series.
pub const STALE: u64 = 0x7ff0_0000_0000_0002;
/// The series of the number of each sample.
pub const SEQUENCE: &str = "oasis_sample_sequence";
/// The series of samples that are missing in the DAC, by cause.
pub const MISSING: &str = "oasis_dac_samples_missing_total";
/// Longest help that is sent, in characters.
const MAX_HELP_CHARACTERS: usize = 256;

/// A series with its points.
struct EncodedSeries<'a> {
    /// Sorted by name, as the protocol asks for it.
    labels: Vec<(&'a str, &'a str)>,
    points: Vec<(i64, f64)>,
    description: Description<'a>,
}

/// The metadata of a family.
#[derive(Clone, Copy)]
struct Description<'a> {
    family: &'a str,
    is_counter: bool,
    help: &'a str,
    unit: &'a str,
}

const OF_SEQUENCE: Description<'static> = Description {
    family: SEQUENCE,
    is_counter: false,
    help: "Number of the sample in the run of its node: a jump is a loss.",
    unit: "",
};
const OF_MISSING: Description<'static> = Description {
    family: "oasis_dac_samples_missing",
    is_counter: true,
    help: "Samples lost since the DAC started, by cause.",
    unit: "",
};

/// Writes a message with these parts.
pub fn encode(version: RemoteWriteVersion, parts: &[Part], has_sequence: bool) -> Vec<u8> {
    let series = parts.iter().flat_map(|part| series_of(part, has_sequence));
    match version {
        RemoteWriteVersion::V1 => first_version(series),
        RemoteWriteVersion::V2 => second_version(series),
    }
}

/// Returns the number of points of these parts.
pub fn points_of(parts: &[Part], has_sequence: bool) -> u64 {
    let series = parts.iter().flat_map(|part| series_of(part, has_sequence));
    series.map(|series| series.points.len() as u64).sum()
}

fn series_of(part: &Part, has_sequence: bool) -> Vec<EncodedSeries<'_>> {
    let end = part.end.as_ref().map(|end| (end.time, f64::from_bits(STALE)));
    let ends = |at: usize| part.end.as_ref().is_some_and(|end| end.has_values.get(at) == Some(&true));
    let mut all = Vec::new();
    for (at, (family, name)) in part.series.series.iter().enumerate() {
        let value = |values: &[Option<f64>]| values.get(at).copied().flatten();
        let points = part.samples.iter().filter_map(|sample| Some((sample.time, value(&sample.values)?)));
        let points: Vec<_> = points.chain(end.filter(|_| ends(at))).collect();
        if !points.is_empty() {
            all.push(EncodedSeries {
                labels: labels(part, name, None),
                points,
                description: description(family),
            });
        }
    }
    if has_sequence {
        let points = part.samples.iter().map(|sample| (sample.time, sample.sequence as f64));
        let points = points.chain(end).collect();
        all.push(EncodedSeries { labels: labels(part, SEQUENCE, None), points, description: OF_SEQUENCE });
    }
    let last = part.samples.last().map(|sample| sample.time);
    for (cause, count) in &part.missing {
        let points = last.map(|time| (time, *count as f64)).into_iter().chain(end).collect();
        all.push(EncodedSeries {
            labels: labels(part, MISSING, Some(cause)),
            points,
            description: OF_MISSING,
        });
    }
    all
}

fn labels<'a>(part: &'a Part, name: &'a str, cause: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let cause = cause.map(|cause| ("cause", cause));
    let first = [("__name__", name)].into_iter().chain(cause);
    first.chain([("instance", &*part.instance), ("node", &*part.node)]).collect()
}

fn description(family: &Family) -> Description<'_> {
    let is_counter = family.kind == Kind::Counter;
    let help = family
        .help
        .char_indices()
        .nth(MAX_HELP_CHARACTERS)
        .map_or(&*family.help, |(end, _)| &family.help[..end]);
    Description { family: &family.name, is_counter, help, unit: family.unit.as_deref().unwrap_or_default() }
}

fn point((time, value): (i64, f64)) -> Vec<u8> {
    let mut sample = Vec::new();
    fixed64(1, value.to_le_bytes(), &mut sample);
    number(2, time.cast_unsigned(), &mut sample);
    sample
}

/// In the enums `MetricMetadata.MetricType` of both versions.
fn kind_number(is_counter: bool) -> u64 {
    if is_counter { 1 } else { 2 }
}

fn first_version<'a>(series: impl Iterator<Item = EncodedSeries<'a>>) -> Vec<u8> {
    let (mut message, mut one) = (Vec::new(), Vec::new());
    let mut descriptions = BTreeMap::new();
    for EncodedSeries { labels, points, description } in series {
        one.clear();
        for (name, value) in labels {
            let mut label = Vec::new();
            bytes(1, name.as_bytes(), &mut label);
            bytes(2, value.as_bytes(), &mut label);
            bytes(1, &label, &mut one);
        }
        points.into_iter().for_each(|at| bytes(2, &point(at), &mut one));
        bytes(1, &one, &mut message);
        descriptions.insert(description.family, description);
    }
    for Description { family, is_counter, help, unit } in descriptions.into_values() {
        let mut metadata = Vec::new();
        number(1, kind_number(is_counter), &mut metadata);
        bytes(2, family.as_bytes(), &mut metadata);
        bytes(4, help.as_bytes(), &mut metadata);
        bytes(5, unit.as_bytes(), &mut metadata);
        bytes(3, &metadata, &mut message);
    }
    message
}

/// The texts of a message, each once. The first one is empty.
struct Symbols<'a> {
    texts: Vec<&'a str>,
    numbers: HashMap<&'a str, u64>,
}

impl<'a> Symbols<'a> {
    fn number(&mut self, text: &'a str) -> u64 {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() as u64 - 1
        })
    }
}

fn second_version<'a>(series: impl Iterator<Item = EncodedSeries<'a>>) -> Vec<u8> {
    let mut symbols = Symbols { texts: vec![""], numbers: HashMap::from([("", 0)]) };
    let (mut all, mut one) = (Vec::new(), Vec::new());
    for EncodedSeries { labels, points, description } in series {
        one.clear();
        let mut references = Vec::new();
        for (name, value) in labels {
            varint(symbols.number(name), &mut references);
            varint(symbols.number(value), &mut references);
        }
        bytes(1, &references, &mut one);
        points.into_iter().for_each(|at| bytes(2, &point(at), &mut one));
        let mut metadata = Vec::new();
        number(1, kind_number(description.is_counter), &mut metadata);
        number(3, symbols.number(description.help), &mut metadata);
        number(4, symbols.number(description.unit), &mut metadata);
        bytes(5, &metadata, &mut one);
        bytes(5, &one, &mut all);
    }
    let mut message = Vec::new();
    symbols.texts.iter().for_each(|text| bytes(4, text.as_bytes(), &mut message));
    message.extend(all);
    message
}
