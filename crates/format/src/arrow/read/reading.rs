//! Reads rows into samples.

use super::{
    cells::{Cells, needs_absent},
    content::Content,
    export::{self, Origin},
    plan::{self, Planned, Unsupported},
    times::Times,
};
use crate::{
    input::{
        Defects, InputError, InputFile, InputOptions, RecordedSeries, Report, SeriesSet, TakeBatch,
        TimeShift,
        bounds::MAX_ROW,
        infer,
        json::fields::{self, AbsentColumns, FieldCounts},
        samples::Head,
    },
    table::ABSENT,
    visible::shortened,
};
use arrow_array::RecordBatch;
use oasis_wire::{
    probe_kind::ProbeKind,
    schema::{Metric, MetricType, ProbeType},
    value::{self, RowWriter},
};
use std::{
    collections::HashMap,
    io::{Read, SeekFrom},
    sync::Arc,
};
use uuid::Uuid;

/// Most series of a file.
const MAX_SERIES: usize = 65_536;
/// Bytes of both ends of a file that tell it from others.
const IDENTITY_BYTES: u64 = 64 * 1024;

/// Reads a file to its end.
pub fn read(
    content: &Content,
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let mut reading = Reading::new(content, file, options)?;
    reading.survey(content, file, options)?;
    let mut defects = Defects::new(options.is_partial);
    let mut row_defects = Defects::new(options.is_partial);
    content.each(file, &mut defects, &mut |batch, first| {
        for row in 0..batch.num_rows() {
            reading.row(batch, row, first + row as u64, &mut row_defects, take)?;
        }
        Ok(true)
    })?;
    let mut report = Report::default();
    row_defects.report("rows", &mut report)?;
    defects.report("parts", &mut report)?;
    reading.finish(content, take, &mut report)?;
    Ok(report)
}

struct Reading {
    times: Times,
    shift: TimeShift,
    is_export: bool,
    instance: String,
    identity: Vec<u8>,
    planned: Vec<Planned>,
    unsupported: Vec<Unsupported>,
    /// Columns with a name that another one has, and the names of their metrics.
    renamed: Vec<(String, String)>,
    probe_type: Arc<ProbeType>,
    absent: Option<AbsentColumns>,
    places: HashMap<Option<Origin>, usize>,
    last: Option<(Option<Origin>, usize)>,
    series: SeriesSet,
    cells: Cells,
    counts: FieldCounts,
    row: Vec<u8>,
    rows: u64,
}

impl Reading {
    fn new(content: &Content, file: &mut InputFile<'_>, options: &InputOptions) -> Result<Self, InputError> {
        let schema = content.schema();
        let is_export = options.time_column.is_none() && options.rate.is_none() && export::is_export(&schema);
        // A metric of an export may be called `timestamp`.
        let times = match is_export {
            true => Times::of_column(&schema, export::TIME, options)?,
            false => Times::find(&schema, options)?,
        };
        let instance = options.instance.clone().unwrap_or_else(|| file.stem());
        let mut unsupported = Vec::new();
        let written = is_export.then(|| export::probe_type(content)).flatten();
        let mut planned: Vec<_> = match &written {
            Some(probe_type) => export::metrics(probe_type),
            None => {
                let first = if is_export { export::COLUMNS.len() } else { 0 };
                let columns = schema.fields().iter().enumerate().skip(first);
                let values = columns.filter(|(at, _)| Some(*at) != times.column());
                values.filter_map(|(at, field)| plan::foreign(field, at, &mut unsupported)).collect()
            }
        };
        let renamed = match &written {
            Some(_) => Vec::new(),
            None => plan::name_once(planned.iter_mut().map(|of| &mut of.metric)),
        };
        let type_name = content.text("oasis.type").filter(|_| is_export).unwrap_or_else(|| instance.clone());
        let metrics = planned.iter().map(|of| of.metric.clone()).collect();
        let probe_type = written.unwrap_or_else(|| infer::described(&type_name, metrics));
        Ok(Self {
            times,
            shift: TimeShift::new(options.start),
            is_export,
            instance,
            identity: identity(file)?,
            planned,
            unsupported,
            renamed,
            probe_type: Arc::new(probe_type),
            absent: None,
            places: HashMap::new(),
            last: None,
            series: SeriesSet::default(),
            cells: Cells::default(),
            counts: FieldCounts::default(),
            row: Vec::new(),
            rows: 0,
        })
    }

    /// Finds the form of times, and whether values are absent that cannot be NaN.
    fn survey(
        &mut self,
        content: &Content,
        file: &mut InputFile<'_>,
        options: &InputOptions,
    ) -> Result<(), InputError> {
        if self.planned.is_empty() {
            let why = match self.unsupported.first() {
                Some(of) => format!("no column that can be stored: {} is {}", of.name, shortened(&of.kind)),
                None => "no column with values".to_owned(),
            };
            return Err(InputError::file(why, "check the file, and --time-column"));
        }
        let mut has_absent = false;
        let mut defects = Defects::new(options.is_partial);
        content.each(file, &mut defects, &mut |batch, _| {
            self.times.settle(batch)?;
            has_absent = has_absent || self.planned.iter().any(|of| lacks_values(of, batch));
            Ok(!(has_absent && self.times.is_settled()))
        })?;
        let is_named = |metric: &Metric| metric.name == ABSENT;
        if has_absent && !self.probe_type.metrics.iter().any(is_named) {
            let mut metrics = self.probe_type.metrics.clone();
            let mut absent = Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String)));
            absent.doc = Some("Columns whose value is only a placeholder: the row did not have it.".into());
            metrics.push(absent);
            self.probe_type = Arc::new(infer::described(&self.probe_type.name, metrics));
            self.absent = AbsentColumns::new(&self.probe_type);
        }
        Ok(())
    }

    fn row(
        &mut self,
        batch: &RecordBatch,
        row: usize,
        number: u64,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let place = || format!("row {}", number + 1);
        let time = self.times.time(batch, row, number).and_then(|time| self.shift.apply(time));
        let time = match time {
            Ok(time) => time,
            Err(why) => {
                let origin = if self.is_export { Origin::of(batch, row) } else { None };
                let channel = origin.as_ref().map_or(&self.instance, |origin| &origin.instance);
                return defects.add_time(channel, place, &why);
            }
        };
        let numbers = self.is_export.then(|| export::numbers(batch, row));
        if numbers == Some(None) {
            return defects.add(place, "no sequence number");
        }
        let Some(series) = self.place(batch, row)? else {
            return defects.add(place, "no node, instance or run");
        };
        self.write(batch, row);
        if self.row.len() > MAX_ROW {
            return defects.add(place, format!("a sample of more than {MAX_ROW} bytes"));
        }
        self.counts.add(&self.cells.differences);
        self.rows += 1;
        match numbers.flatten() {
            Some((sequence, state)) => {
                self.series.push_numbered(series, Head { time, sequence, state }, &self.row, take)
            }
            None => self.series.push(series, time, &self.row, take),
        }
    }

    /// Returns the series of a row; `None` if its source is absent.
    fn place(&mut self, batch: &RecordBatch, row: usize) -> Result<Option<usize>, InputError> {
        match &self.last {
            Some((None, at)) => return Ok(Some(*at)),
            Some((Some(origin), at)) if origin.is(batch, row) => return Ok(Some(*at)),
            _ => {}
        }
        let origin = if self.is_export { Origin::of(batch, row) } else { None };
        if self.is_export && origin.is_none() {
            return Ok(None);
        }
        let at = match self.places.get(&origin) {
            Some(at) => *at,
            None => {
                let at = self.add_series(origin.as_ref())?;
                self.places.insert(origin.clone(), at);
                at
            }
        };
        self.last = Some((origin, at));
        Ok(Some(at))
    }

    fn add_series(&mut self, origin: Option<&Origin>) -> Result<usize, InputError> {
        if self.places.len() >= MAX_SERIES {
            let why = format!("the file has more than {MAX_SERIES} series");
            return Err(InputError::file(why, "import a part of the file at a time"));
        }
        self.series.add_recorded(RecordedSeries {
            node: origin.map(|origin| origin.node.as_str().into()),
            instance: origin.map_or(self.instance.as_str(), |origin| &origin.instance).into(),
            kind: ProbeKind::Pushed,
            run: origin.map_or_else(|| Uuid::new_v5(&Uuid::NAMESPACE_OID, &self.identity), Origin::run),
            probe_type: self.probe_type.clone(),
        })
    }

    /// Writes the values of a row.
    fn write(&mut self, batch: &RecordBatch, row: usize) {
        self.row.clear();
        self.cells.begin();
        let mut to = RowWriter::new(&mut self.row);
        for (at, of) in self.planned.iter().enumerate() {
            let column = of.column.as_ref().map(|(column, plan)| (&**batch.column(*column), plan));
            self.cells.metric(at, &of.metric.kind, column, row, &mut to);
        }
        if let Some(absent) = &self.absent
            && let Some((metric, metrics)) = self.probe_type.metrics.split_last()
        {
            value::write(&metric.kind, &absent.value(metrics, &self.cells.differences.absent), &mut to);
        }
    }

    fn finish(
        mut self,
        content: &Content,
        take: &mut TakeBatch<'_>,
        report: &mut Report,
    ) -> Result<(), InputError> {
        if self.rows == 0 {
            return Err(InputError::file(
                "no row with a time and values",
                "check the file, and --time-column",
            ));
        }
        self.series.finish(take)?;
        if self.is_export {
            report.lost = export::gaps(content);
        } else if let Some(times) = self.times.describe(&content.schema()) {
            report.note(None, 1, times);
        }
        for (column, metric) in &self.renamed {
            report.note(Some(column), 1, format!("is the metric {metric:?}: another column has its name"));
        }
        for Unsupported { name, kind } in &self.unsupported {
            let text = format!("{} values skipped: {kind} is not stored", self.rows);
            report.lose(Some(name), self.rows, text);
        }
        let unknown = self.cells.unknown_names;
        self.shift.report(report);
        report.lose(None, unknown, format!("{unknown} names are none of their enum: stored as 0"));
        for field in self.counts.report("", &self.probe_type) {
            let text = field.to_string();
            let text = text.strip_prefix(": ").unwrap_or(&text);
            let text = text.replace("whole numbers rounded", "numbers rounded");
            match field.difference.is_loss() {
                true => report.lose(None, field.values, text),
                false => report.note(None, field.values, text),
            }
        }
        if !self.is_export {
            for column in fields::renamed_columns("", &self.probe_type) {
                report.note(None, 1, column.to_string().trim_start_matches(": "));
            }
        }
        Ok(())
    }
}

/// Whether a batch lacks values of a metric that cannot be NaN.
fn lacks_values(of: &Planned, batch: &RecordBatch) -> bool {
    of.column.as_ref().is_some_and(|(at, _)| needs_absent(&of.metric.kind, &**batch.column(*at)))
}

/// Both ends and the length of a file: the same whenever it is read.
fn identity(file: &mut InputFile<'_>) -> Result<Vec<u8>, InputError> {
    let length = file.content.seek(SeekFrom::End(0))?;
    let mut identity = length.to_le_bytes().to_vec();
    for start in [0, length.saturating_sub(IDENTITY_BYTES)] {
        file.content.seek(SeekFrom::Start(start))?;
        Read::take(&mut *file.content, IDENTITY_BYTES).read_to_end(&mut identity)?;
    }
    Ok(identity)
}
