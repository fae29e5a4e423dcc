//! Reads CSV and TSV files of any program.
//!
//! `dialect` finds delimiter, decimal mark and header in the first 64 KiB, `layout` the columns of times, names and values. The file is read
//! twice: a survey finds the type of each column, then each row becomes a sample. Rows of numbers are kept from the survey, up to a bound, and the second
//! reading begins after them.

mod dialect;
mod layout;
mod lines;
mod notation;
mod parsed_rows;
mod series;
mod zone;

use crate::input::{
    DETECT_BYTES, Defects, InputError, InputFile, InputFormat, InputOptions, NumberForm, RecordingFile,
    Report, TakeBatch, Thousands, TimeRefused, TimeShift, bounds::MAX_MESSAGE, windows_1252,
};
use crate::visible::shortened;
use dialect::Dialect;
use layout::{Layout, Times};
use lines::{FieldBuffer, Fields, Lines, Position};
use memchr::memchr_iter;
use series::AllSeries;
use std::{collections::HashSet, io::Read};
use zone::has_zone;

/// Lines before the last one that show the dialect.
const MIN_DETECT_LINES: usize = 3;

/// Comma-separated values.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "csv",
    title: "CSV",
    help: "Tables of any program, wide or long; OASIS exports",
    extensions: &["csv", "tsv", "tab", "txt"],
    detect,
    read,
};

/// Returns whether these bytes are lines with the same number of fields.
fn detect(beginning: &[u8]) -> bool {
    let is_text = !beginning.is_empty() && !beginning.contains(&0);
    is_text && Dialect::detect(beginning, &InputOptions::default()).is_ok_and(|dialect| dialect.is_certain)
}

fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let beginning = read_beginning(file.content)?;
    let dialect = Dialect::detect(&beginning, options)?;
    if beginning.len() >= MAX_MESSAGE && dialect.rows().is_empty() {
        let why = format!("the first lines have more than {MAX_MESSAGE} bytes");
        let remedy = "check the ends of the lines and the format of the file: --format names it";
        return Err(InputError::file(why, remedy));
    }
    let layout = Layout::find(&dialect, options)?;
    let instance = options.instance.clone().unwrap_or_else(|| file.stem());
    let first = Position::first(&dialect);
    let mut series = AllSeries::new(layout.clone(), dialect.numbers, instance.clone());
    series.keep_rows(dialect.header_records() as u64);
    if options.thousands.is_none() {
        series.doubt_separators();
    }

    let mut report = Report::default();
    // Both readings find the same defects: the second one counts them.
    let mut rows = Rows {
        file,
        dialect: &dialect,
        layout: &layout,
        instance: &instance,
        shift: TimeShift::new(options.start),
    };
    rows.each((first, 0), &mut Defects::new(options.is_partial), |row| series.survey(&row))?;
    series.end_survey()?;
    let parsed = series.take_rows();
    for (time, cells) in parsed.iter() {
        series.parsed_sample(time, cells, take)?;
    }
    let rest = parsed.end().unwrap_or((first, 0));
    drop(parsed);
    let mut defects = Defects::new(options.is_partial);
    let no_utf8 = rows.each(rest, &mut defects, |row| series.sample(&row, take))?;
    rows.shift.report(&mut report);
    series.finish(take, &mut report)?;
    defects.report("lines", &mut report)?;
    if series.is_empty() {
        return Err(InputError::file(
            "no line with values",
            "check the file, and the options of its dialect",
        ));
    }
    let text = format!("{no_utf8} texts are not UTF-8: other bytes became U+FFFD");
    report.lose(None, no_utf8, text);
    note_dialect(&dialect, &layout, options, &series, &mut report);
    Ok(report)
}

/// Reads the bytes that show the dialect: more than usual if the first lines are long.
fn read_beginning(content: &mut dyn RecordingFile) -> Result<Vec<u8>, InputError> {
    let (mut beginning, mut wanted) = (Vec::new(), DETECT_BYTES);
    loop {
        let missing = wanted - beginning.len();
        Read::take(&mut *content, missing as u64).read_to_end(&mut beginning)?;
        let has_many = |end: u8| memchr_iter(end, &beginning).nth(MIN_DETECT_LINES).is_some();
        let has_lines = has_many(b'\n') || has_many(b'\r');
        if has_lines || beginning.len() < wanted || wanted >= MAX_MESSAGE {
            return Ok(beginning);
        }
        wanted *= 2;
    }
}

/// A row with the fields that every row of the file has, and its time.
struct Row<'a> {
    fields: Fields<'a>,
    /// The line in which it begins.
    line: u64,
    /// Nanoseconds since 1970.
    time: u64,
    /// The place after it.
    end: Position,
}

/// The rows of a file.
struct Rows<'a, 'f> {
    file: &'a mut InputFile<'f>,
    dialect: &'a Dialect,
    layout: &'a Layout,
    /// The instance of a file in the wide form.
    instance: &'a str,
    shift: TimeShift,
}

impl Rows<'_, '_> {
    /// Reads the rows after a place and a number of rows. Returns the number of texts that are not UTF-8.
    fn each(
        &mut self,
        (from, mut rows): (Position, u64),
        defects: &mut Defects,
        mut take: impl FnMut(Row<'_>) -> Result<(), InputError>,
    ) -> Result<u64, InputError> {
        let (dialect, layout) = (self.dialect, self.layout);
        let mut lines = Lines::from(&mut *self.file.content, from, dialect)?;
        let header = dialect.header_records() as u64;
        let (mut copies, mut no_utf8) = (FieldBuffer::default(), 0);
        while let Some(record) = lines.next()? {
            if record.end.records <= header || is_blank(record.fields, layout.width) {
                continue;
            }
            let (line, end) = (record.line, record.end);
            let fields = match fit(record.fields, layout.width) {
                Ok(fields) => fields,
                Err(why) => {
                    defects.add(|| format!("line {line}"), why)?;
                    continue;
                }
            };
            let fields = make_utf8(fields, dialect.numbers, &mut copies, &mut no_utf8);
            let time = match &layout.times {
                Times::Column { at, form, clock, offset } => {
                    let text = text_of(fields, *at);
                    let clock = clock.map(|clock| text_of(fields, clock));
                    let time = clock.map_or_else(|| form.parse(text), |clock| form.parse_day(text, clock));
                    let is_local = *offset != 0 && !has_zone(clock.unwrap_or(text), clock.is_some());
                    time.map(|time| if is_local { time - offset } else { time })
                }
                Times::Rate(rate) => Ok((rows as f64 * (1e9 / rate)).round() as i128),
            };
            rows += 1;
            match time.and_then(|time| self.shift.apply(time)) {
                Ok(time) => take(Row { fields, line, time, end })?,
                Err(why) => {
                    let channel = layout.channel(fields).unwrap_or(self.instance);
                    let place = || match (&why, &layout.times) {
                        (TimeRefused::Form(_), Times::Column { at, clock, .. }) => {
                            let clock = clock.map(|clock| format!(" {}", text_of(fields, clock)));
                            let text = text_of(fields, *at).to_owned() + &clock.unwrap_or_default();
                            format!("line {line}, {:?}", shortened(text.trim()))
                        }
                        _ => format!("line {line}"),
                    };
                    defects.add_time(channel, place, &why)?;
                }
            }
        }
        Ok(no_utf8)
    }
}

fn text_of(fields: Fields<'_>, at: usize) -> &str {
    str::from_utf8(fields.get(at).unwrap_or_default()).unwrap_or_default()
}

/// Whether a line has spaces alone, where other lines have several fields.
fn is_blank(fields: Fields<'_>, width: usize) -> bool {
    fields.len() == 1 && width > 1 && fields.get(0).is_some_and(|field| field.trim_ascii().is_empty())
}

/// Removes empty fields after the last column; refuses other numbers of fields.
fn fit(fields: Fields<'_>, width: usize) -> Result<Fields<'_>, String> {
    let found = fields.len();
    if found == width || (found > width && fields.iter().skip(width).all(<[u8]>::is_empty)) {
        return Ok(fields.first(width));
    }
    Err(format!("{found} fields, expected {width}"))
}

/// Replaces bytes that are not UTF-8, and counts the fields with such bytes. Thousands separators in Windows-1252 are read as such.
fn make_utf8<'a>(
    fields: Fields<'a>,
    numbers: NumberForm,
    copies: &'a mut FieldBuffer,
    no_utf8: &mut u64,
) -> Fields<'a> {
    let is_damaged = |field: &[u8]| str::from_utf8(field).is_err();
    if fields.is_ascii() || !fields.iter().any(is_damaged) {
        return fields;
    }
    copies.clear();
    for field in fields.iter() {
        if !is_damaged(field) {
            copies.push(field);
            continue;
        }
        let number = (numbers.thousands != Thousands::None).then(|| windows_1252::decode(field));
        if let Some(number) = number.filter(|number| numbers.is_grouped(number.trim())) {
            copies.push(number.as_bytes());
        } else {
            *no_utf8 += 1;
            copies.push(String::from_utf8_lossy(field).as_bytes());
        }
    }
    copies.fields()
}

fn note_dialect(
    dialect: &Dialect,
    layout: &Layout,
    options: &InputOptions,
    series: &AllSeries,
    report: &mut Report,
) {
    if let Times::Column { at, form, clock, offset } = &layout.times {
        let name = |at: &usize| layout.names.get(*at).map_or("", String::as_str);
        let columns = match clock {
            Some(clock) => format!("columns {:?} and {:?}", name(at), name(clock)),
            None => format!("column {:?}", name(at)),
        };
        report.note(None, 1, format!("times are in the {columns}: {}", form.describe()));
        if *offset != 0 {
            let sign = if *offset < 0 { '-' } else { '+' };
            let minutes = offset.unsigned_abs() / 60_000_000_000;
            let text = format!(
                "times without a zone are {sign}{:02}:{:02} from UTC, by the header",
                minutes / 60,
                minutes % 60
            );
            report.note(None, 1, text);
        }
        if options.start.is_none() && series.is_relative(form) {
            let text = "times count from a start that the file does not name: they are in 1970; --start TIME gives the first sample its time";
            report.note(None, 1, text);
        }
    }
    if dialect.preamble > 0 {
        let text = format!("{} lines before the table are shorter: skipped", dialect.preamble);
        report.note(None, 1, text);
    }
    if dialect.units.is_some() {
        report.note(None, 1, "the line after the header has the units");
    }
    if dialect.numbers.has_comma {
        report.note(None, 1, "numbers have a decimal comma");
    }
    if dialect.numbers.thousands != Thousands::None {
        let name = dialect.numbers.thousands.name();
        report.note(None, 1, format!("numbers have thousands separators: {name} (--thousands)"));
    }
    let mut noted = series.note_separators(report);
    note_separators(dialect, layout, series, &mut noted, report);
    series.note_few_texts(&noted, report);
    if dialect.has_windows_1252_names {
        let text = "the names of columns are not UTF-8: read as Windows-1252. For texts, convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW";
        report.note(None, 1, text);
    }
    for (from, to) in &layout.renamed {
        report.note(Some(from), 1, format!("is the metric {to:?}: another column has its name"));
    }
}

/// Reports columns of texts that may be numbers with thousands separators.
fn note_separators(
    dialect: &Dialect,
    layout: &Layout,
    series: &AllSeries,
    noted: &mut HashSet<usize>,
    report: &mut Report,
) {
    let records = dialect.rows();
    for at in series.text_fields() {
        if noted.contains(&at) {
            continue;
        }
        let fields = || records.iter().filter_map(|record| record.get(at)).map(|field| field.trim());
        let Some((example, thousands)) =
            fields().find_map(|field| Some((field, notation::separator_of(field)?)))
        else {
            continue;
        };
        let is_number = |field: &str| {
            field.is_empty() || notation::separator_of(field).is_some() || series.is_number(field)
        };
        if fields().all(is_number) {
            let name = thousands.name();
            report.note(layout.names.get(at).map(String::as_str), 1, texts_note(example, name));
            noted.insert(at);
        }
    }
}

fn texts_note(example: &str, thousands: &str) -> String {
    format!("texts such as {example:?} may be numbers: --thousands {thousands} reads them so")
}

#[cfg(test)]
mod tests;
