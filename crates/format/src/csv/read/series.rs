//! The series of a file: one in the wide form, one for each name in the long form, one for each instance and run of an export.

use super::{
    Row,
    layout::{Form, Layout},
    notation::{SeparatedNumbers, is_absent_word},
    parsed_rows::{ParsedCell, ParsedRows},
    text_of, texts_note,
};
use crate::input::{
    Cell, Column, ColumnTable, InputError, Number, NumberForm, RecordedSeries, Report, SeriesSet, TakeBatch,
    Thousands, TimeForm,
    columns::{Kind, StoredKind},
    names::without_controls,
    samples::Head,
    unit_of, unit_of_column,
};
use crate::visible::shortened;
use oasis_wire::probe_kind::ProbeKind;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use uuid::Uuid;

/// Most series of a file.
const MAX_SERIES: usize = 65_536;
/// Texts from which on a column with fewer numbers is clearly one of texts.
const MIN_CLEAR_TEXTS: u64 = 1_000;
/// Values for each text in a column that is reported as numbers but for a few.
const MIN_NUMBERS_PER_TEXT: u64 = 10;
/// Nanoseconds of 1970 and 1971: times before are counted from another start.
const RELATIVE_TIME_LIMIT: u64 = 2 * 365 * 86_400 * 1_000_000_000;

pub struct AllSeries {
    layout: Layout,
    numbers: NumberForm,
    /// Whether no option chose the thousands separators.
    has_doubts: bool,
    instance: String,
    /// The columns that become metrics.
    metrics: Vec<usize>,
    all: Vec<OneSeries>,
    /// Indexes of series by their identity.
    places: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
    row: Vec<u8>,
    /// The first rows of the wide form.
    parsed: ParsedRows,
    samples: SeriesSet,
    earliest: u64,
}

struct OneSeries {
    recorded: Source,
    columns: Vec<Surveyed>,
    rows: u64,
    identity: Vec<u8>,
    /// The unit in the long form, as the first row that has one writes it.
    unit: String,
    /// The table, and the index of the series.
    table: Option<(ColumnTable, usize)>,
}

/// The source that the first row names.
struct Source {
    node: Option<String>,
    instance: String,
    run: Option<Uuid>,
}

#[derive(Default)]
struct Surveyed {
    column: Column,
    /// Texts that may say that a number is absent.
    words: u64,
    separated: SeparatedNumbers,
    /// Whether its numbers are texts, because other texts look like numbers with separators too.
    is_refused: bool,
    /// Numbers of a column of texts.
    numbers: u64,
    /// Other texts of a column of texts.
    others: u64,
    /// The line and the text of the first one.
    first_other: Option<(u64, Box<str>)>,
}

impl AllSeries {
    pub fn new(layout: Layout, numbers: NumberForm, instance: String) -> Self {
        let metrics = match layout.form {
            Form::Long { value, .. } => vec![value],
            Form::Wide | Form::Own => layout.metrics(),
        };
        Self {
            layout,
            numbers,
            has_doubts: false,
            instance,
            metrics,
            all: Vec::new(),
            places: HashMap::new(),
            key: Vec::new(),
            row: Vec::new(),
            parsed: ParsedRows::default(),
            samples: SeriesSet::default(),
            earliest: u64::MAX,
        }
    }

    /// Whether no row was read.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The fields of the wide form whose values are texts.
    pub fn text_fields(&self) -> impl Iterator<Item = usize> {
        let series = self.all.first().filter(|_| self.layout.form == Form::Wide);
        let columns = series.into_iter().flat_map(|series| series.columns.iter().zip(&self.metrics));
        columns.filter(|(of, _)| of.column.kind() == Kind::Text).map(|(_, field)| *field)
    }

    /// Reads numbers with separators as texts in columns where they may be something else.
    pub fn doubt_separators(&mut self) {
        self.has_doubts = self.numbers.thousands != Thousands::None;
    }

    /// Reports columns whose numbers may have no thousands separators. Returns the fields of those of texts.
    pub fn note_separators(&self, report: &mut Report) -> HashSet<usize> {
        let (mut noted, thousands) = (HashSet::new(), self.numbers.thousands);
        for series in self.all.iter().filter(|_| self.has_doubts) {
            for (of, field) in series.columns.iter().zip(&self.metrics) {
                let Some(example) = &of.separated.example else { continue };
                let name = match self.layout.form {
                    Form::Wide => of.column.name.clone(),
                    Form::Long { .. } | Form::Own => {
                        format!("{}: {}", series.recorded.instance, of.column.name)
                    }
                };
                if of.is_refused {
                    report.note(Some(&name), 1, texts_note(example, thousands.name()));
                    noted.insert(*field);
                } else if of.column.kind() != Kind::Text && of.separated.is_doubtful(thousands) {
                    let text = format!(
                        "{example:?} is read with a thousands separator, as numbers of another column are: --thousands none reads it without"
                    );
                    report.note(Some(&name), 1, text);
                }
            }
        }
        noted
    }

    /// Reports columns of texts that are numbers but for a few, unless another note is about their field.
    pub fn note_few_texts(&self, noted: &HashSet<usize>, report: &mut Report) {
        for series in &self.all {
            for (of, field) in series.columns.iter().zip(&self.metrics) {
                let is_text = of.column.kind() == Kind::Text && !noted.contains(field);
                let Some(text) = of.few_texts_note().filter(|_| is_text) else { continue };
                let name = match self.layout.form {
                    Form::Wide => of.column.name.clone(),
                    Form::Long { .. } | Form::Own => {
                        format!("{}: {}", series.recorded.instance, of.column.name)
                    }
                };
                report.note(Some(&name), of.others, text);
            }
        }
    }

    /// Whether a text is a number in the notation of the file, or a word for one that is absent.
    pub fn is_number(&self, text: &str) -> bool {
        self.numbers.parse(text.as_bytes()).is_some() || is_absent_word(text.as_bytes())
    }

    /// Whether the times are of 1970: numbers from another start.
    pub fn is_relative(&self, form: &TimeForm) -> bool {
        matches!(form, TimeForm::Number { .. }) && self.earliest < RELATIVE_TIME_LIMIT
    }

    /// Counts the values of a row.
    pub fn survey(&mut self, row: &Row<'_>) -> Result<(), InputError> {
        let at = self.place(row)?;
        self.earliest = self.earliest.min(row.time);
        let Some(series) = self.all.get_mut(at) else { return Ok(()) };
        series.rows += 1;
        if let Form::Long { unit: Some(unit), .. } = self.layout.form {
            series.check_unit(text_of(row.fields, unit), row.line)?;
        }
        let is_kept = self.parsed.begin_row(row.end);
        let mut has_texts = false;
        for (surveyed, field) in series.columns.iter_mut().zip(&self.metrics) {
            let field = row.fields.get(*field).unwrap_or_default();
            match surveyed.add(field, row.line, self.numbers, self.has_doubts) {
                Some(cell) if is_kept => self.parsed.push(cell),
                Some(_) => {}
                None => has_texts = true,
            }
        }
        if has_texts {
            self.parsed.forget();
        } else if is_kept {
            self.parsed.end_row(row.time, row.end);
        }
        Ok(())
    }

    /// Keeps the rows of the survey if they are numbers. `header` is the number of records before them.
    pub fn keep_rows(&mut self, header: u64) {
        if self.layout.form == Form::Wide {
            self.parsed = ParsedRows::new(self.metrics.len(), header);
        }
    }

    /// Returns the rows that were kept.
    pub fn take_rows(&mut self) -> ParsedRows {
        let mut rows = std::mem::take(&mut self.parsed);
        // A column of words for absent numbers is one of texts.
        if self.text_fields().next().is_some() {
            rows.forget();
        }
        rows
    }

    /// Adds the sample of a row that was kept.
    pub fn parsed_sample(
        &mut self,
        time: u64,
        cells: &[ParsedCell],
        take: &mut TakeBatch<'_>,
    ) -> Result<(), InputError> {
        let Some((table, samples)) = self.all.first_mut().and_then(|series| series.table.as_mut()) else {
            return Ok(());
        };
        table.write(&mut self.row, |at, _| cells.get(at).map_or(Cell::Absent, |cell| cell.cell()));
        self.samples.push(*samples, time, &self.row, take)
    }

    /// Returns the series of a row; the survey adds new ones.
    fn place(&mut self, row: &Row<'_>) -> Result<usize, InputError> {
        if self.layout.form == Form::Wide && !self.all.is_empty() {
            return Ok(0);
        }
        self.key.clear();
        let identity: &[usize] = match &self.layout.form {
            Form::Wide => &[],
            Form::Long { name, .. } => &[*name],
            Form::Own => &[0, 1, 2],
        };
        for at in identity {
            let field = row.fields.get(*at).unwrap_or_default();
            self.key.extend_from_slice(&(field.len() as u64).to_le_bytes());
            self.key.extend_from_slice(field);
        }
        if let Some(at) = self.places.get(&self.key) {
            return Ok(*at);
        }
        if self.all.len() >= MAX_SERIES {
            let why = format!("the file has more than {MAX_SERIES} series");
            return Err(InputError::file(why, "import a part of the file at a time"));
        }
        let text = |at: usize| text_of(row.fields, at);
        let recorded = match &self.layout.form {
            Form::Wide => Source { node: None, instance: self.instance.clone(), run: None },
            Form::Long { name, .. } => Source { node: None, instance: named(text(*name)), run: None },
            Form::Own => {
                Source { node: Some(named(text(0))), instance: named(text(1)), run: text(2).parse().ok() }
            }
        };
        let unit = match self.layout.form {
            Form::Long { name, unit: Some(unit), .. } => {
                unit_of(text(unit)).map(|unit| unit_of_column(text(name), unit))
            }
            _ => None,
        };
        let unit_text = match self.layout.form {
            Form::Long { unit: Some(unit), .. } => text(unit).trim().to_owned(),
            _ => String::new(),
        };
        let columns = self.metrics.iter().map(|at| {
            let name = self.layout.names.get(*at).map(String::as_str).unwrap_or_default();
            let unit = unit.clone().or_else(|| self.layout.units.get(*at).cloned().flatten());
            Surveyed { column: Column::new(name).with_unit(unit), ..Surveyed::default() }
        });
        // Deterministic, so that a second import recognizes the samples.
        let mut identity = recorded.instance.clone().into_bytes();
        identity.extend(self.layout.names.iter().flat_map(|name| name.bytes().chain([0])));
        row.fields.iter().for_each(|field| identity.extend_from_slice(field));
        identity.extend_from_slice(&i128::from(row.time).to_le_bytes());
        let columns = columns.collect();
        self.all.push(OneSeries { recorded, columns, rows: 0, identity, unit: unit_text, table: None });
        self.places.insert(self.key.clone(), self.all.len() - 1);
        Ok(self.all.len() - 1)
    }

    /// Chooses the metrics.
    ///
    /// # Errors
    /// If a type exceeds a bound.
    pub fn end_survey(&mut self) -> Result<(), InputError> {
        for series in &mut self.all {
            for Surveyed { column, words, separated, is_refused, .. } in &mut series.columns {
                let is_number = matches!(column.kind(), Kind::Integer | Kind::Real);
                if self.has_doubts && is_number && !separated.is_possible(self.numbers.thousands) {
                    let values = column.values;
                    column.become_text();
                    column.values = values;
                    *is_refused = true;
                }
                if column.kind() == Kind::Text {
                    column.values += *words;
                } else if column.kind() == Kind::Unknown && *words > 0 {
                    column.become_text();
                    column.values = *words;
                }
            }
            let columns: Vec<Column> = series.columns.iter().map(|of| of.column.clone()).collect();
            let table = ColumnTable::new(&series.recorded.instance, &columns, series.rows);
            let run = Uuid::new_v5(&Uuid::NAMESPACE_OID, &series.identity);
            let recorded = RecordedSeries {
                node: series.recorded.node.as_deref().map(Arc::from),
                instance: series.recorded.instance.as_str().into(),
                kind: ProbeKind::Pushed,
                run: series.recorded.run.unwrap_or(run),
                probe_type: table.probe_type.clone(),
            };
            let samples = self.samples.add_recorded(recorded)?;
            series.table = Some((table, samples));
        }
        Ok(())
    }

    /// Adds the sample of a row.
    pub fn sample(&mut self, row: &Row<'_>, take: &mut TakeBatch<'_>) -> Result<(), InputError> {
        let at = self.place(row)?;
        let Some(series) = self.all.get_mut(at) else { return Ok(()) };
        let Some((table, samples)) = &mut series.table else { return Ok(()) };
        let (metrics, numbers) = (&self.metrics, self.numbers);
        table.write(&mut self.row, |at, kind| {
            let field = metrics.get(at).and_then(|at| row.fields.get(*at)).unwrap_or_default();
            cell(field, kind, numbers)
        });
        if self.layout.form != Form::Own {
            return self.samples.push(*samples, row.time, &self.row, take);
        }
        let number = |at: usize| text_of(row.fields, at).parse::<u64>().ok();
        let state = number(6).and_then(|state| u16::try_from(state).ok()).unwrap_or(0);
        match number(5) {
            Some(sequence) => {
                let head = Head { time: row.time, sequence, state };
                self.samples.push_numbered(*samples, head, &self.row, take)
            }
            None => self.samples.push(*samples, row.time, &self.row, take),
        }
    }

    /// Completes the batches, and reports the columns.
    pub fn finish(&mut self, take: &mut TakeBatch<'_>, report: &mut Report) -> Result<(), InputError> {
        self.samples.finish(take)?;
        let is_one = self.all.len() == 1;
        for series in &self.all {
            let columns: Vec<Column> = series.columns.iter().map(|of| of.column.clone()).collect();
            if let Some((table, _)) = &series.table {
                let name = (!is_one).then_some(series.recorded.instance.as_str());
                table.report(name, &columns, report);
            }
        }
        Ok(())
    }
}

impl Surveyed {
    /// Counts a field. Returns its value; `None` if the column has texts.
    fn add(&mut self, field: &[u8], line: u64, numbers: NumberForm, has_doubts: bool) -> Option<ParsedCell> {
        let trimmed = field.trim_ascii();
        let column = &mut self.column;
        if column.kind() == Kind::Text {
            column.values += u64::from(!field.is_empty());
            self.count_text(trimmed, numbers);
            return None;
        }
        if trimmed.is_empty() {
            return Some(ParsedCell::Absent);
        }
        let cell = value(trimmed, numbers);
        if cell == Cell::Absent && is_absent_word(trimmed) {
            self.words += 1;
            return Some(ParsedCell::Absent);
        }
        let (kind, values) = (column.kind(), column.values);
        if cell == Cell::Absent || !column.survey(cell) {
            column.become_text();
            self.numbers = if matches!(kind, Kind::Integer | Kind::Real) { values } else { 0 };
            self.others = 1;
            let shown = shortened(&String::from_utf8_lossy(trimmed));
            self.first_other = Some((line, shown.into()));
            return None;
        }
        if has_doubts {
            self.separated.add(numbers, str::from_utf8(trimmed).unwrap_or_default());
        }
        ParsedCell::of(cell)
    }

    /// Counts a field of a column of texts, unless most of them are clearly no numbers.
    fn count_text(&mut self, trimmed: &[u8], numbers: NumberForm) {
        let is_clear = self.others > MIN_CLEAR_TEXTS && self.others > self.numbers;
        if is_clear || trimmed.is_empty() || is_absent_word(trimmed) {
            return;
        }
        match numbers.parse(trimmed) {
            Some(_) => self.numbers += 1,
            None => self.others += 1,
        }
    }

    /// The note about a column of texts that are numbers but for a few.
    fn few_texts_note(&self) -> Option<String> {
        let (line, text) = self.first_other.as_ref()?;
        let all = self.numbers + self.others;
        (self.others * MIN_NUMBERS_PER_TEXT <= all).then(|| {
            format!(
                "is text: {} of {all} values are no numbers, the first is {text:?} in line {line}. For numbers, correct the file, or choose --decimal or --thousands",
                self.others
            )
        })
    }
}

impl OneSeries {
    /// Checks the unit of a row in the long form. A row may leave it out.
    ///
    /// # Errors
    /// If it is another one than that of a row before.
    fn check_unit(&mut self, unit: &str, line: u64) -> Result<(), InputError> {
        let unit = unit.trim();
        if unit.is_empty() || unit == self.unit {
            return Ok(());
        }
        let of_column = |unit: &str| Some(unit_of_column(&self.recorded.instance, unit_of(unit)?));
        let found = of_column(unit);
        if self.unit.is_empty() {
            unit.clone_into(&mut self.unit);
            for surveyed in &mut self.columns {
                let column = std::mem::take(&mut surveyed.column);
                let known = column.unit.clone();
                surveyed.column = column.with_unit(found.clone().or(known));
            }
            return Ok(());
        }
        if found.is_some() && found == of_column(&self.unit) {
            return Ok(());
        }
        Err(InputError::Defect {
            place: format!("line {line}"),
            why: format!(
                "{:?} has the unit {:?} here, and {:?} in a line before",
                shortened(&self.recorded.instance),
                shortened(unit),
                shortened(&self.unit)
            ),
            remedy: "convert its values to one unit, or give those of each unit another name".into(),
        })
    }
}

/// The value of a field that is no text: absent if it is one.
fn value(trimmed: &[u8], numbers: NumberForm) -> Cell<'static> {
    match numbers.parse(trimmed) {
        Some(Number::Int(int)) => Cell::Int(int),
        Some(Number::Uint(uint)) => Cell::Uint(uint),
        Some(Number::Real(real) | Number::Long(real)) => Cell::Real(real),
        None => match trimmed {
            b"true" | b"True" | b"TRUE" => Cell::Boolean(true),
            b"false" | b"False" | b"FALSE" => Cell::Boolean(false),
            _ => Cell::Absent,
        },
    }
}

fn cell<'a>(field: &'a [u8], kind: StoredKind, numbers: NumberForm) -> Cell<'a> {
    match kind {
        StoredKind::Text if field.is_empty() => Cell::Absent,
        StoredKind::Text => Cell::Text(str::from_utf8(field).unwrap_or_default()),
        _ => value(field.trim_ascii(), numbers),
    }
}

fn named(text: &str) -> String {
    let name = without_controls(text.trim());
    if name.is_empty() { "series".to_owned() } else { name }
}
