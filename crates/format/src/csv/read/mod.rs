//! Reads CSV and TSV files of any program.
//!
//! `dialect` finds delimiter, decimal mark and header in the first 64 KiB, `layout` the columns of times, names and values. The file is read
//! twice: a survey finds the type of each column, then each row becomes a sample.

mod dialect;
mod layout;
mod lines;
mod series;

use crate::input::{
    DETECT_BYTES, Defects, InputError, InputFile, InputFormat, InputOptions, Report, TakeBatch, TimeShift,
};
use csv::ByteRecord;
use dialect::Dialect;
use layout::{Layout, Times};
use lines::Lines;
use series::AllSeries;
use std::io::{Read, SeekFrom};

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
    let mut beginning = Vec::new();
    Read::take(&mut *file.content, DETECT_BYTES as u64).read_to_end(&mut beginning)?;
    let dialect = Dialect::detect(&beginning, options)?;
    let layout = Layout::find(&dialect, options)?;
    let instance = options.instance.clone().unwrap_or_else(|| file.stem());
    let mut series = AllSeries::new(layout.clone(), dialect.numbers, instance.clone());

    let mut report = Report::default();
    // Both readings find the same defects: the second one counts them.
    let mut rows = Rows {
        file,
        dialect: &dialect,
        layout: &layout,
        instance: &instance,
        shift: TimeShift::new(options.start),
    };
    rows.each(&mut Defects::new(options.is_partial), |row| series.survey(&row))?;
    series.end_survey()?;
    let mut defects = Defects::new(options.is_partial);
    let no_utf8 = rows.each(&mut defects, |row| series.sample(&row, take))?;
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

/// A row with the fields that every row of the file has, and its time.
struct Row<'a> {
    fields: &'a ByteRecord,
    /// Nanoseconds since 1970.
    time: u64,
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
    /// Reads all rows. Returns the number of texts that are not UTF-8.
    fn each(
        &mut self,
        defects: &mut Defects,
        mut take: impl FnMut(Row<'_>) -> Result<(), InputError>,
    ) -> Result<u64, InputError> {
        let (dialect, layout) = (self.dialect, self.layout);
        self.file.content.seek(SeekFrom::Start(dialect.start))?;
        let mut lines = Lines::new(&mut *self.file.content, dialect);
        let (mut fields, mut rows, mut no_utf8) = (ByteRecord::new(), 0_u64, 0);
        while lines.next(&mut fields)? {
            if rows == 0 && dialect.has_header && lines.is_first() {
                continue;
            }
            let line = lines.line();
            if let Err(why) = fit(&mut fields, layout.width) {
                defects.add(|| format!("line {line}"), why)?;
                continue;
            }
            no_utf8 += make_utf8(&mut fields);
            let time = match &layout.times {
                Times::Column { at, form, clock: None } => form.parse(text_of(&fields, *at)),
                Times::Column { at, form, clock: Some(clock) } => {
                    form.parse(&format!("{} {}", text_of(&fields, *at).trim(), text_of(&fields, *clock)))
                }
                Times::Rate(rate) => Ok((rows as f64 * (1e9 / rate)).round() as i128),
            };
            rows += 1;
            match time.and_then(|time| self.shift.apply(time)) {
                Ok(time) => take(Row { fields: &fields, time })?,
                Err(why) => {
                    let channel = layout.channel(&fields).unwrap_or(self.instance);
                    defects.add_time(channel, || format!("line {line}"), &why)?;
                }
            }
        }
        Ok(no_utf8)
    }
}

fn text_of(fields: &ByteRecord, at: usize) -> &str {
    str::from_utf8(fields.get(at).unwrap_or_default()).unwrap_or_default()
}

/// Removes empty fields after the last column; refuses other numbers of fields.
fn fit(fields: &mut ByteRecord, width: usize) -> Result<(), String> {
    let found = fields.len();
    if found > width && fields.iter().skip(width).all(<[u8]>::is_empty) {
        fields.truncate(width);
    }
    match fields.len() {
        same if same == width => Ok(()),
        _ => Err(format!("{found} fields, expected {width}")),
    }
}

/// Replaces bytes that are not UTF-8. Returns the number of fields with such bytes.
fn make_utf8(fields: &mut ByteRecord) -> u64 {
    if fields.as_slice().is_ascii() || fields.iter().all(|field| str::from_utf8(field).is_ok()) {
        return 0;
    }
    let changed = fields.iter().filter(|field| str::from_utf8(field).is_err()).count();
    let texts: Vec<String> = fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    *fields = ByteRecord::from(texts);
    changed as u64
}

fn note_dialect(
    dialect: &Dialect,
    layout: &Layout,
    options: &InputOptions,
    series: &AllSeries,
    report: &mut Report,
) {
    if let Times::Column { at, form, clock } = &layout.times {
        let name = |at: &usize| layout.names.get(*at).map_or("", String::as_str);
        let columns = match clock {
            Some(clock) => format!("columns {:?} and {:?}", name(at), name(clock)),
            None => format!("column {:?}", name(at)),
        };
        report.note(None, 1, format!("times are in the {columns}: {}", form.describe()));
        if options.start.is_none() && series.is_relative(form) {
            let text = "times count from a start that the file does not name: they are in 1970; --start TIME gives the first sample its time";
            report.note(None, 1, text);
        }
    }
    if dialect.numbers.has_comma {
        report.note(None, 1, "numbers have a decimal comma");
    }
    if dialect.has_windows_1252_names {
        let text = "the names of columns are not UTF-8: read as Windows-1252. For texts, convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW";
        report.note(None, 1, text);
    }
    for (from, to) in &layout.renamed {
        report.note(Some(from), 1, format!("is the metric {to:?}: another column has its name"));
    }
}

#[cfg(test)]
mod tests;
