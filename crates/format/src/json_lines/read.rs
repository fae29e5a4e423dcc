//! Reads JSON lines: those of `oasis export`, and objects of other programs with a time.
//!
//! The file is read twice: a survey finds the fields of each series, then each line becomes a sample.

use crate::{
    input::{
        BYTE_ORDER_MARK, Defects, InputError, InputFile, InputFormat, InputOptions, RecordedSeries, Report,
        SeriesSet, TakeBatch, TextLines, TimeForm, TimeRefused, TimeShift, TimeUnit,
        bounds::{MAX_METRICS, MAX_ROW},
        infer,
        json::{
            fields::{self, AbsentColumns, FieldCounts},
            shape::{Shape, Typing},
            unique::{self, BadJson},
            values,
        },
        names::without_controls,
        samples::Head,
    },
    visible::shortened,
};
use oasis_wire::{
    probe_kind::ProbeKind,
    schema::{ABSENT, ProbeType},
    value,
};
use serde_json::{Map, Value as Json};
use std::{collections::HashMap, io::SeekFrom, sync::Arc};
use uuid::Uuid;

/// Most series of a file.
const MAX_SERIES: usize = 65_536;
/// Members with the time of an object, in the order of preference.
const TIME_NAMES: [&str; 8] =
    ["time_ns", "timestamp", "time", "ts", "@timestamp", "_time", "datetime", "date"];

/// JSON lines.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "jsonl",
    title: "JSON lines",
    help: "Objects with a time, one in each line; OASIS exports",
    extensions: &["jsonl", "ndjson", "json"],
    detect: |beginning| {
        let beginning = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
        let first = beginning.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        first.is_some_and(|line| serde_json::from_slice::<Map<String, Json>>(line).is_ok())
    },
    read,
};

fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let instance = options.instance.clone().unwrap_or_else(|| file.stem());
    let mut reading = Reading { options, instance, ..Reading::new(options) };
    each_line(file, &mut Defects::new(options.is_partial), |defects, line, text| {
        reading.line(defects, line, text, None)
    })?;
    reading.end_survey()?;
    let mut defects = Defects::new(options.is_partial);
    each_line(file, &mut defects, |defects, line, text| reading.line(defects, line, text, Some(&mut *take)))?;
    let mut report = Report::default();
    reading.finish(take, &mut report)?;
    defects.report("lines", &mut report)?;
    Ok(report)
}

fn each_line(
    file: &mut InputFile<'_>,
    defects: &mut Defects,
    mut take: impl FnMut(&mut Defects, u64, &[u8]) -> Result<(), InputError>,
) -> Result<(), InputError> {
    file.content.seek(SeekFrom::Start(0))?;
    let mut lines = TextLines::new(&mut *file.content);
    while let Some((number, line)) = lines.next()? {
        if !line.trim_ascii().is_empty() {
            take(defects, number, line)?;
        }
    }
    Ok(())
}

/// A line: its source, time and members that become metrics.
struct Line {
    node: Option<String>,
    instance: String,
    run: Option<Uuid>,
    sequence: Option<u64>,
    state: u16,
    time: u64,
    metrics: Json,
}

struct Reading<'a> {
    options: &'a InputOptions,
    instance: String,
    all: Vec<OneSeries>,
    places: HashMap<(Option<String>, String, Option<Uuid>), usize>,
    metrics: usize,
    series: SeriesSet,
    row: Vec<u8>,
    /// The form of times, once one was read.
    form: Option<TimeForm>,
    shift: TimeShift,
}

/// Why a line is no sample.
enum BadLine {
    Content(String),
    /// The instance and its time.
    Time(String, TimeRefused),
}

impl From<&str> for BadLine {
    fn from(why: &str) -> Self {
        Self::Content(why.to_owned())
    }
}

impl From<String> for BadLine {
    fn from(why: String) -> Self {
        Self::Content(why)
    }
}

struct OneSeries {
    shape: Shape,
    identity: Vec<u8>,
    typed: Option<Typed>,
    fields: FieldCounts,
}

/// A series after the survey.
struct Typed {
    typing: Typing,
    absent: Option<AbsentColumns>,
    probe_type: Arc<ProbeType>,
    series: usize,
}

impl<'a> Reading<'a> {
    fn new(options: &'a InputOptions) -> Self {
        Self {
            options,
            instance: String::new(),
            all: Vec::new(),
            places: HashMap::new(),
            metrics: 0,
            series: SeriesSet::default(),
            row: Vec::new(),
            form: None,
            shift: TimeShift::new(options.start),
        }
    }

    /// Surveys a line, or adds its sample if there is a receiver.
    fn line(
        &mut self,
        defects: &mut Defects,
        number: u64,
        text: &[u8],
        take: Option<&mut TakeBatch<'_>>,
    ) -> Result<(), InputError> {
        let place = || format!("line {number}");
        let object = match unique::parse(text) {
            Ok(Json::Object(object)) => object,
            Ok(other) => {
                return defects.add(place, format!("no JSON object: {}", shortened(&other.to_string())));
            }
            Err(why @ BadJson::Twice(_)) => return defects.add(place, why.to_string()),
            Err(why) => return defects.add(place, format!("no JSON object: {why}")),
        };
        let line = match self.parse(object) {
            Ok(line) => line,
            Err(BadLine::Content(why)) => return defects.add(place, why),
            Err(BadLine::Time(instance, why)) => return defects.add_time(&instance, place, &why),
        };
        match take {
            None => self.survey(line, text),
            Some(take) => match self.sample(line, text, take)? {
                Ok(()) => Ok(()),
                Err(why) => defects.add(place, why),
            },
        }
    }

    fn parse(&mut self, mut object: Map<String, Json>) -> Result<Line, BadLine> {
        if let Some(Json::Object(_)) = object.get("metrics")
            && let (Some(Json::String(node)), Some(Json::String(instance))) =
                (object.get("node"), object.get("instance"))
        {
            let (node, instance) = (without_controls(node), without_controls(instance));
            let number = |name: &str| object.get(name).and_then(Json::as_u64);
            let time = object.get("time").and_then(nanoseconds);
            let time = time.ok_or("the member `time` is no number of nanoseconds")?;
            let time = self.shift.apply(time).map_err(|why| BadLine::Time(instance.clone(), why))?;
            let run = object.get("run").and_then(Json::as_str).and_then(|run| run.parse().ok());
            let state = number("state").and_then(|state| u16::try_from(state).ok()).unwrap_or(0);
            let sequence = number("sequence");
            let mut metrics = object.remove("metrics").unwrap_or_default();
            // What it names is null in the line.
            if let Some(metrics) = metrics.as_object_mut() {
                metrics.shift_remove(ABSENT);
            }
            return Ok(Line { node: Some(node), instance, run, sequence, state, time, metrics });
        }
        let wanted = self.options.time_column.as_deref();
        let name = match wanted {
            Some(name) => Some(name.to_owned()),
            None => TIME_NAMES.iter().find(|name| object.contains_key(**name)).map(|name| (*name).to_owned()),
        };
        let time = name.and_then(|name| object.shift_remove(&name));
        let text = match time.ok_or("no member with a time: --time-column names it")? {
            Json::String(text) => text,
            Json::Number(number) => number.to_string(),
            _ => return Err("the time is neither a text nor a number".into()),
        };
        let form = match &self.form {
            Some(form) => form,
            None => self.form.insert(form_of(&text, self.options)?),
        };
        let time = form.parse(&text).and_then(|time| self.shift.apply(time));
        let (instance, metrics) = (self.instance.clone(), Json::Object(object));
        let time = time.map_err(|why| BadLine::Time(instance.clone(), why))?;
        Ok(Line { node: None, instance, run: None, sequence: None, state: 0, time, metrics })
    }

    fn survey(&mut self, mut line: Line, text: &[u8]) -> Result<(), InputError> {
        let key = (line.node, line.instance, line.run);
        let at = match self.places.get(&key) {
            Some(at) => *at,
            None if self.all.len() >= MAX_SERIES => {
                let why = format!("the file has more than {MAX_SERIES} series");
                return Err(InputError::file(why, "import a part of the file at a time"));
            }
            None => {
                self.places.insert(key, self.all.len());
                let (shape, fields) = (Shape::object(), FieldCounts::default());
                self.all.push(OneSeries { shape, identity: text.to_vec(), typed: None, fields });
                self.all.len() - 1
            }
        };
        replace_words(&mut line.metrics);
        if let Some(series) = self.all.get_mut(at) {
            self.metrics += series.shape.add_message(&line.metrics);
        }
        if self.metrics > MAX_METRICS {
            let why = format!("the series have more than {MAX_METRICS} fields together");
            return Err(InputError::file(why, "import a part of the file at a time"));
        }
        Ok(())
    }

    fn end_survey(&mut self) -> Result<(), InputError> {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by_key(|(_, at)| **at);
        for ((node, instance, run), at) in places {
            let Some(series) = self.all.get_mut(*at) else { continue };
            let typing = series.shape.typing();
            let probe_type = Arc::new(infer::described(instance, typing.metrics.clone()));
            let recorded = RecordedSeries {
                node: node.as_deref().map(Arc::from),
                instance: instance.as_str().into(),
                kind: ProbeKind::Pushed,
                run: run.unwrap_or_else(|| Uuid::new_v5(&Uuid::NAMESPACE_OID, &series.identity)),
                probe_type: probe_type.clone(),
            };
            let absent = AbsentColumns::new(&probe_type);
            let at = self.series.add_recorded(recorded)?;
            series.typed = Some(Typed { typing, absent, probe_type, series: at });
        }
        Ok(())
    }

    fn sample(
        &mut self,
        line: Line,
        text: &[u8],
        take: &mut TakeBatch<'_>,
    ) -> Result<Result<(), String>, InputError> {
        let at = self.places.get(&(line.node, line.instance, line.run));
        let Some(series) = at.and_then(|at| self.all.get_mut(*at)) else { return Ok(Ok(())) };
        let Some(typed) = &series.typed else { return Ok(Ok(())) };
        let all = &typed.probe_type.metrics[..];
        let metrics = match &typed.absent {
            Some(_) => all.split_last().map_or(all, |(_, metrics)| metrics),
            None => all,
        };
        let (mut values, differences) = match values::sample(metrics, text, &line.metrics) {
            Ok(found) => found,
            Err(unfit) => return Ok(Err(format!("{unfit}"))),
        };
        values.extend(typed.absent.as_ref().map(|absent| absent.value(metrics, &differences.absent)));
        value::write_row(&typed.probe_type, &values, &mut self.row);
        if self.row.len() > MAX_ROW {
            return Ok(Err(format!("a sample has more than {MAX_ROW} bytes")));
        }
        series.fields.add(&differences);
        match line.sequence {
            Some(sequence) => {
                let head = Head { time: line.time, sequence, state: line.state };
                self.series.push_numbered(typed.series, head, &self.row, take)?;
            }
            None => self.series.push(typed.series, line.time, &self.row, take)?,
        }
        Ok(Ok(()))
    }

    fn finish(mut self, take: &mut TakeBatch<'_>, report: &mut Report) -> Result<(), InputError> {
        self.series.finish(take)?;
        for ((_, instance, _), at) in &self.places {
            let Some(OneSeries { typed: Some(typed), fields: counts, .. }) = self.all.get_mut(*at) else {
                continue;
            };
            let unstored = std::mem::take(&mut typed.typing.unstored).into_iter();
            let mut reports: Vec<_> = unstored.map(|field| fields::unstored(instance, field)).collect();
            reports.extend(counts.report(instance, &typed.probe_type));
            for field in reports {
                if field.difference.is_loss() {
                    report.lose(None, field.values, field.to_string());
                } else {
                    report.note(None, field.values, field.to_string());
                }
            }
            for column in fields::renamed_columns(instance, &typed.probe_type) {
                report.note(None, 1, column.to_string());
            }
        }
        if let Some(form) = &self.form {
            report.note(None, 1, format!("times are {}", form.describe()));
        }
        self.shift.report(report);
        Ok(())
    }
}

/// A whole number of nanoseconds.
fn nanoseconds(time: &Json) -> Option<i128> {
    time.as_u64().map(i128::from).or_else(|| time.as_i64().map(i128::from))
}

/// The form of a time.
fn form_of(text: &str, options: &InputOptions) -> Result<TimeForm, String> {
    if let Some(name) = &options.time_format {
        return TimeForm::named(name, false).ok_or_else(|| format!("unknown --time-format {name:?}"));
    }
    if let Some(form) = TimeForm::of_dates(&[text]) {
        return Ok(form);
    }
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("{:?} is no time: --time-format names its form", shortened(text)))?;
    Ok(TimeForm::Number { unit: TimeUnit::of_magnitude(seconds), has_comma: false })
}

/// Replaces the texts of NaN and the infinities by numbers, so that they show the type of their field.
fn replace_words(value: &mut Json) {
    match value {
        Json::String(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => {
            *value = 0.5.into()
        }
        Json::Array(elements) => elements.iter_mut().for_each(replace_words),
        Json::Object(members) => members.values_mut().for_each(replace_words),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Finding;
    use oasis_wire::{
        batch::{Batch, Sample},
        value::Value,
    };
    use proptest::prelude::*;
    use std::{collections::BTreeMap, io::Cursor, path::Path};

    type Instances = BTreeMap<String, (RecordedSeries, Vec<Sample>)>;

    fn read(text: &str, options: &InputOptions) -> Result<(Instances, Report), InputError> {
        let mut all = Instances::new();
        let mut content = Cursor::new(text.as_bytes());
        let mut file = InputFile { path: Path::new("a.jsonl"), content: &mut content };
        let report = (INPUT.read)(&mut file, options, &mut |recorded, batch| {
            let (_, samples) =
                all.entry(recorded.instance.to_string()).or_insert_with(|| (recorded.clone(), Vec::new()));
            samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
            Ok(())
        })?;
        Ok((all, report))
    }

    #[test]
    fn exports_keep_node_run_numbers_and_values() {
        let line = |sequence: u64, x: &str| {
            format!(
                "{{\"node\":\"plant\",\"instance\":\"tank\",\"run\":\"0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11\",\"sequence\":{sequence},\"time\":7,\"state\":2,\"metrics\":{{\"x\":{x},\"n\":9007199254740993,\"at\":{{\"y\":[1,2]}}}}}}\n"
            )
        };
        let (all, report) = read(&(line(3, "\"NaN\"") + &line(9, "1.5")), &InputOptions::default()).unwrap();
        let (recorded, samples) = &all["tank"];
        assert_eq!(
            (recorded.node.as_deref(), recorded.run.to_string().get(..8)),
            (Some("plant"), Some("0b3c9f0e"))
        );
        assert_eq!(samples.iter().map(|of| (of.sequence, of.time)).collect::<Vec<_>>(), [(3, 7), (9, 7)]);
        assert!(matches!(samples[0].values[0], Value::Real64(real) if real.is_nan()));
        assert_eq!(samples[1].values[1], Value::Int(9_007_199_254_740_993));
        assert!(report.is_complete(), "{report:?}");
    }

    #[test]
    fn absent_values_of_an_export_stay_absent_and_nothing_is_lost() {
        let line = |time: u64, s: &str, absent: &str| {
            format!(
                "{{\"node\":\"plant\",\"instance\":\"tank\",\"sequence\":{time},\"time\":{time},\"state\":0,\"metrics\":{{\"s\":{s},\"oasis.absent\":{absent}}}}}\n"
            )
        };
        let text = line(1, "\"x\"", "[]") + &line(2, "null", "[\"s\"]");
        let (all, report) = read(&text, &InputOptions::default()).unwrap();
        let (recorded, samples) = &all["tank"];
        let names: Vec<_> = recorded.probe_type.metrics.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["s", ABSENT]);
        assert_eq!(samples[1].values[1], Value::Vector(vec![Value::String("s".into())]));
        assert!(report.is_complete(), "{report:?}");
    }

    #[test]
    fn objects_of_other_programs_have_a_time() {
        let text = "{\"timestamp\": \"2023-11-14T22:13:20Z\", \"a\": 1}\n\n{\"a\": 2.5, \"timestamp\": \"2023-11-14T22:13:21Z\"}\n";
        let (all, _) = read(text, &InputOptions::default()).unwrap();
        assert_eq!(all["a"].1[1].time, 1_700_000_001_000_000_000);
        assert_eq!(all["a"].1[1].values, [Value::Real64(2.5)]);
        let options = InputOptions { time_column: Some("t".into()), ..InputOptions::default() };
        assert_eq!(
            read("{\"t\": 1700000000.25, \"a\": 1}", &options).unwrap().0["a"].1[0].time,
            1_700_000_000_250_000_000
        );
        let error = read("{\"a\": 1}\n", &InputOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("line 1: no member with a time: --time-column"), "{error}");
        let error = read("{\"ts\": 1, \"a\": 1}\n{\"ts\": 2, \"a\": \"x\"}", &InputOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("line 2: a is \"x\", expected a number"), "{error}");
    }

    #[test]
    fn a_member_that_occurs_twice_refuses_the_line() {
        let text = "{\"ts\": 1, \"x\": 1}\n{\"ts\": 2, \"p\": {\"x\": 1, \"x\": 2}}\n";
        let error = read(text, &InputOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("line 2: the member \"p.x\" occurs twice"), "{error}");
        let partial = InputOptions { is_partial: true, ..InputOptions::default() };
        let (all, report) = read(text, &partial).unwrap();
        assert_eq!(all["a"].1.len(), 1);
        let skipped =
            |found: &Finding| found.text.starts_with("1 lines skipped: the member \"p.x\" occurs twice");
        assert!(report.findings.iter().any(skipped), "{report:?}");
        let error = read("{\"ts\": 1, \"ok\": 1, \"x\": 1e400}", &InputOptions::default()).unwrap_err();
        assert!(error.to_string().contains("the member \"x\": number out of range"), "{error}");
    }

    #[test]
    fn a_member_with_a_point_and_one_within_an_object_are_two_columns() {
        let (all, report) =
            read("{\"ts\": 1, \"a.b\": 3, \"a\": {\"b\": 4}}", &InputOptions::default()).unwrap();
        let values = [Value::Real64(3.0), Value::Struct(vec![Value::Real64(4.0)])];
        assert_eq!(all["a"].1[0].values, values);
        let renamed = report.findings.iter().any(|found| found.text.contains("another column has its name"));
        assert!(renamed && report.is_complete(), "{report:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\{\"time\": ?[0-9]{1,3}, ?\"a\": ?[\\[\\]{}0-9\",a-e:]{0,12}\\}\n?){0,4}") {
            let partial = InputOptions { is_partial: true, ..InputOptions::default() };
            let _ = read(&text, &partial);
        }
    }
}
