//! Reads a file: a survey of series and fields, then the samples.

use super::{
    point::{self, Field, Point},
    points::Points,
    series_key::series_key,
};
use crate::input::{
    Cell, Column, ColumnTable, Defects, InputError, InputFile, InputOptions, Report, SeriesSet, TakeBatch,
    TimeRefused, TimeShift, TimeUnit, bounds::MAX_METRICS, names::without_controls,
};
use std::{collections::HashMap, io::SeekFrom};

/// Most series of a file.
const MAX_SERIES: usize = 65_536;

/// Reads a file.
pub fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let mut reading = Reading::new(options);
    each_point(file, &mut Defects::new(options.is_partial), |reading_defects, line, point| {
        reading.survey(line, point, reading_defects)
    })?;
    reading.end_survey();
    let mut defects = Defects::new(options.is_partial);
    each_point(file, &mut defects, |defects, line, point| reading.sample(line, point, defects, take))?;
    let mut report = Report::default();
    reading.finish(take, &mut report)?;
    defects.report("points and fields", &mut report)?;
    Ok(report)
}

fn each_point(
    file: &mut InputFile<'_>,
    defects: &mut Defects,
    mut take: impl FnMut(&mut Defects, u64, &Point<'_>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    file.content.seek(SeekFrom::Start(0))?;
    let mut points = Points::new(&mut *file.content);
    while let Some((line, text)) = points.next_point()? {
        match point::parse(text) {
            Ok(point) => take(defects, line, &point)?,
            Err(why) => defects.add(|| format!("line {line}"), why.to_string())?,
        }
    }
    Ok(())
}

struct Reading<'a> {
    options: &'a InputOptions,
    unit: Option<TimeUnit>,
    shift: TimeShift,
    all: Vec<OneSeries>,
    places: HashMap<String, usize>,
    key: String,
    metrics: usize,
    series: SeriesSet,
    row: Vec<u8>,
    replaced: u64,
}

/// Why a point has no time of an archive.
enum BadTime {
    Absent,
    Refused(TimeRefused),
}

struct OneSeries {
    instance: String,
    measurement: String,
    columns: Vec<Column>,
    fields: HashMap<String, usize>,
    rows: u64,
    table: Option<ColumnTable>,
    series: Option<usize>,
}

impl OneSeries {
    /// Sorts the columns as earlier series of the measurement have them; `order` has the place of each of their fields.
    fn sort_columns(&mut self, order: &mut HashMap<String, usize>) {
        let mut fields: Vec<_> = self.fields.drain().collect();
        fields.sort_unstable_by_key(|(_, at)| *at);
        let columns = std::mem::take(&mut self.columns);
        let mut sorted: Vec<_> = fields
            .into_iter()
            .zip(columns)
            .map(|((name, _), column)| {
                let next = order.len();
                (*order.entry(name.clone()).or_insert(next), name, column)
            })
            .collect();
        sorted.sort_by_key(|(place, ..)| *place);
        for (at, (_, name, column)) in sorted.into_iter().enumerate() {
            self.fields.insert(name, at);
            self.columns.push(column);
        }
    }
}

impl<'a> Reading<'a> {
    fn new(options: &'a InputOptions) -> Self {
        Self {
            options,
            unit: options.precision,
            shift: TimeShift::new(options.start),
            all: Vec::new(),
            places: HashMap::new(),
            key: String::new(),
            metrics: 0,
            series: SeriesSet::default(),
            row: Vec::new(),
            replaced: 0,
        }
    }

    /// Returns the series of a point; the survey adds new ones.
    fn place(&mut self, point: &Point<'_>) -> Result<usize, InputError> {
        series_key(point, None, &mut self.key);
        if let Some(at) = self.places.get(&self.key) {
            return Ok(*at);
        }
        if self.all.len() >= MAX_SERIES {
            let why = format!("the file has more than {MAX_SERIES} series");
            return Err(InputError::file(why, "import a part of the file at a time"));
        }
        self.places.insert(self.key.clone(), self.all.len());
        self.all.push(OneSeries {
            instance: without_controls(&self.key),
            measurement: point.measurement.to_string(),
            columns: Vec::new(),
            fields: HashMap::new(),
            rows: 0,
            table: None,
            series: None,
        });
        Ok(self.all.len() - 1)
    }

    /// The time of a point, nanoseconds since 1970.
    fn time(&mut self, point: &Point<'_>) -> Result<u64, BadTime> {
        let Some(time) = point.time else { return self.options.start.ok_or(BadTime::Absent) };
        // The default of InfluxDB is nanoseconds; times of this century tell other units.
        let unit = *self.unit.get_or_insert_with(|| match TimeUnit::of_magnitude(time as f64) {
            TimeUnit::Seconds if time.unsigned_abs() < 1_000_000_000 => TimeUnit::Nanoseconds,
            unit => unit,
        });
        self.shift.apply(i128::from(time) * unit.nanoseconds()).map_err(BadTime::Refused)
    }

    fn add_defect(
        &mut self,
        line: u64,
        point: &Point<'_>,
        why: BadTime,
        defects: &mut Defects,
    ) -> Result<(), InputError> {
        let place = || format!("line {line}");
        match why {
            BadTime::Absent => {
                defects.add(place, "the point has no time: --start TIME gives such points one")
            }
            BadTime::Refused(why) => {
                series_key(point, None, &mut self.key);
                defects.add_time(&self.key, place, &why)
            }
        }
    }

    fn survey(&mut self, line: u64, point: &Point<'_>, defects: &mut Defects) -> Result<(), InputError> {
        if let Err(why) = self.time(point) {
            return self.add_defect(line, point, why, defects);
        }
        let at = self.place(point)?;
        let Some(series) = self.all.get_mut(at) else { return Ok(()) };
        series.rows += 1;
        for (name, field) in &point.fields {
            let column = match series.fields.get(&**name) {
                Some(at) => *at,
                None => {
                    self.metrics += 1;
                    if self.metrics > MAX_METRICS {
                        let why = format!("the series have more than {MAX_METRICS} fields together");
                        return Err(InputError::file(why, "import a part of the file at a time"));
                    }
                    let mut column = Column::new(without_controls(name));
                    column.has_integers = true;
                    series.columns.push(column);
                    series.fields.insert(name.to_string(), series.columns.len() - 1);
                    series.columns.len() - 1
                }
            };
            if let Some(column) = series.columns.get_mut(column)
                && !column.survey(cell(field))
            {
                let why =
                    format!("the field {:?} has another type than in the first point of its series", &**name);
                defects.add(|| format!("line {line}"), why)?;
            }
        }
        Ok(())
    }

    /// Chooses the types. Series of a measurement with the same fields have one type, in whatever order their points write the fields.
    fn end_survey(&mut self) {
        let mut orders: HashMap<String, HashMap<String, usize>> = HashMap::new();
        for series in &mut self.all {
            let order = orders.entry(series.measurement.clone()).or_default();
            series.sort_columns(order);
            series.table = Some(ColumnTable::new(&series.measurement, &series.columns, series.rows));
        }
    }

    fn sample(
        &mut self,
        line: u64,
        point: &Point<'_>,
        defects: &mut Defects,
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let time = match self.time(point) {
            Ok(time) => time,
            Err(why) => return self.add_defect(line, point, why, defects),
        };
        let at = self.place(point)?;
        let Some(series) = self.all.get_mut(at) else { return Ok(()) };
        let Some(table) = &mut series.table else { return Ok(()) };
        self.replaced += point.replaced;
        // The last of several fields of one name counts, as in InfluxDB.
        let mut cells = vec![Cell::Absent; series.columns.len()];
        for (name, field) in &point.fields {
            if let Some(cell) = series.fields.get(&**name).and_then(|at| cells.get_mut(*at)) {
                *cell = self::cell(field);
            }
        }
        table.write(&mut self.row, |at, _| cells.get(at).copied().unwrap_or(Cell::Absent));
        let series = match series.series {
            Some(series) => series,
            None => {
                let identity = [&time.to_le_bytes(), &self.row[..]].concat();
                *series.series.insert(self.series.add(
                    &series.instance,
                    table.probe_type.clone(),
                    &identity,
                )?)
            }
        };
        self.series.push(series, time, &self.row, take)
    }

    fn finish(mut self, take: &mut TakeBatch<'_>, report: &mut Report) -> Result<(), InputError> {
        self.series.finish(take)?;
        for series in &self.all {
            if let Some(table) = &series.table {
                table.report(Some(&series.instance), &series.columns, report);
            }
        }
        if let Some(unit) =
            self.unit.filter(|unit| *unit != TimeUnit::Nanoseconds && self.options.precision.is_none())
        {
            report.note(
                None,
                1,
                format!("times are {} by their size; --precision overrides that", unit.name()),
            );
        }
        let replaced = self.replaced;
        self.shift.report(report);
        report.lose(None, replaced, format!("{replaced} texts are not UTF-8: other bytes became U+FFFD"));
        Ok(())
    }
}

/// Returns the value of a field.
pub fn cell<'p>(field: &'p Field<'_>) -> Cell<'p> {
    match field {
        Field::Float(real) => Cell::Real(*real),
        Field::Int(int) => Cell::Int(*int),
        Field::Uint(uint) => Cell::Uint(*uint),
        Field::Boolean(boolean) => Cell::Boolean(*boolean),
        Field::Text(text) => Cell::Text(text),
    }
}
