//! Finds delimiter, notation of numbers and header in the beginning of a file.

use super::notation::{self, is_absent_word};
use crate::input::{InputError, InputOptions, NumberForm, TimeForm, unit_of, windows_1252};
use csv::ReaderBuilder;

/// Delimiters in the order in which they are tried.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// Records that a dialect is found by.
const MAX_RECORDS: usize = 200;
/// Fields that a dialect is found by: whole records up to this number, and a part of one.
const MAX_FIELDS: usize = 1 << 20;

/// The quality of a delimiter, by what matters most first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Whether the first record, which may be the header, has as many fields as most others.
    fits_first: bool,
    /// Whether most fields contain no other delimiter, decimal commas aside.
    is_clean: bool,
    /// The number of fields that most records have; 0 if fewer than six of ten have it.
    width: usize,
    /// Whether nine of ten records have it, and it is more than one.
    is_certain: bool,
}

/// Delimiter and quoting of a file.
#[derive(Debug, Clone)]
pub struct Dialect {
    pub delimiter: u8,
    pub numbers: NumberForm,
    pub has_header: bool,
    /// Units of the columns, in a line of their own after the header.
    pub units: Option<Vec<Option<String>>>,
    /// Names in a comment line before the first record.
    pub comment_names: Option<Vec<String>>,
    /// The byte of the first record.
    pub start: u64,
    /// Lines before it.
    pub skipped_lines: u64,
    /// Records before the table, which are shorter: names and values of a data logger.
    pub preamble: usize,
    /// Whether the names of columns are not UTF-8, but Windows-1252.
    pub has_windows_1252_names: bool,
    /// The first records, also the header.
    pub records: Vec<Vec<String>>,
    /// Whether the records have the same number of fields, and more than one.
    pub is_certain: bool,
}

impl Dialect {
    /// Finds the dialect of a file that begins with these bytes.
    ///
    /// # Errors
    /// If it is no text.
    pub fn detect(beginning: &[u8], options: &InputOptions) -> Result<Self, InputError> {
        if beginning.starts_with(b"\xff\xfe") || beginning.starts_with(b"\xfe\xff") {
            return Err(InputError::file(
                "the text is UTF-16",
                "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW",
            ));
        }
        if beginning.contains(&0) {
            return Err(InputError::file("the file is no text", "check its ending: it is read as CSV"));
        }
        let bom = if beginning.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let (own, named) = match separator_line(&beginning[bom..]) {
            Some((delimiter, bytes)) => (bytes, Some(delimiter)),
            None => (0, None),
        };
        let (start, comments, comment) = skip_comments(beginning, bom + own);
        let skipped_lines = comments + u64::from(own > 0);
        if comment.is_some_and(|comment| comment.starts_with(b"default,")) {
            return Err(InputError::file(
                "the file is annotated CSV of InfluxDB, which is not supported",
                "export line protocol: influxd inspect export-lp",
            ));
        }
        let is_windows_1252 = windows_1252::is_likely(beginning);
        // Lines that end after these bytes are not judged.
        let text = beginning.get(start..).unwrap_or_default();
        let whole = match text.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) if beginning.len() >= crate::input::DETECT_BYTES => &text[..=at],
            _ => text,
        };
        let candidates = match options.delimiter.or(named) {
            Some(delimiter) => vec![delimiter],
            None => DELIMITERS.to_vec(),
        };
        let mut best: Option<(Score, u8, Vec<Vec<String>>)> = None;
        for delimiter in candidates {
            let records = records(whole, delimiter, is_windows_1252);
            let score = score(&records, delimiter);
            if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, delimiter, records));
            }
        }
        let (Score { is_certain, .. }, delimiter, mut records) = best.unwrap_or_default();
        let preamble = preamble(&records);
        let (bytes, lines) = position(whole, delimiter, preamble);
        records.drain(..preamble);
        let has_special_names =
            records.first().is_some_and(|names| names.iter().any(|name| !name.is_ascii()));
        let numbers = notation::find(&records, delimiter, options)?;
        let comment_names = comment.and_then(|comment| names_in(comment, delimiter, &records));
        let has_header =
            options.has_header.unwrap_or_else(|| comment_names.is_none() && is_header(&records, numbers));
        let has_times = options.rate.is_none();
        let units = has_header.then(|| unit_line(&records, numbers, has_times)).flatten();
        Ok(Self {
            delimiter,
            numbers,
            has_header,
            units,
            comment_names,
            start: start as u64 + bytes,
            skipped_lines: skipped_lines + lines,
            preamble,
            has_windows_1252_names: is_windows_1252 && has_header && has_special_names,
            records,
            is_certain,
        })
    }
}

impl Dialect {
    /// The number of records before the first row.
    pub fn header_records(&self) -> usize {
        usize::from(self.has_header) + usize::from(self.units.is_some())
    }

    /// The first rows.
    pub fn rows(&self) -> &[Vec<String>] {
        self.records.get(self.header_records()..).unwrap_or_default()
    }
}

/// Returns the delimiter of a line such as `sep=;`, which Excel reads, and its bytes.
fn separator_line(text: &[u8]) -> Option<(u8, usize)> {
    let length = text.iter().take(16).position(|byte| *byte == b'\n')?;
    match text[..length].trim_ascii_end() {
        [name @ .., delimiter] if name.eq_ignore_ascii_case(b"sep=") => Some((*delimiter, length + 1)),
        // The delimiter is a tab.
        name if name.eq_ignore_ascii_case(b"sep=") => Some((b'\t', length + 1)),
        _ => None,
    }
}

/// Returns the byte after lines that begin with `#`, their number and the last of them.
fn skip_comments(text: &[u8], mut at: usize) -> (usize, u64, Option<&[u8]>) {
    let (mut lines, mut last) = (0, None);
    while text.get(at) == Some(&b'#') {
        let Some(length) = text[at..].iter().position(|byte| *byte == b'\n') else { break };
        last = Some(text[at + 1..at + length].trim_ascii());
        at += length + 1;
        lines += 1;
    }
    (at, lines, last)
}

/// The number of records before the first one that fills more than half of the columns, if that one has names. Values there are those of rows.
fn preamble(records: &[Vec<String>]) -> usize {
    let filled = |record: &Vec<String>| {
        record.iter().rposition(|field| !field.trim().is_empty()).map_or(0, |last| last + 1)
    };
    let widths: Vec<usize> = records.iter().map(filled).collect();
    let most_frequent = widths.iter().copied().max_by_key(|width| count(&widths, *width)).unwrap_or(0);
    if most_frequent < 2 || count(&widths, most_frequent) * 2 < widths.len() {
        return 0;
    }
    let count = widths.iter().take_while(|width| **width * 2 <= most_frequent).count();
    let is_value = |field: &String| {
        let field = field.trim();
        let is_number = |comma| NumberForm::with_mark(comma).parse(field.as_bytes()).is_some();
        is_number(false) || is_number(true) || TimeForm::is_date(field)
    };
    records.get(count).filter(|names| !names.iter().any(is_value)).map_or(0, |_| count)
}

/// The bytes and lines before a record.
fn position(text: &[u8], delimiter: u8, record: usize) -> (u64, u64) {
    if record == 0 {
        return (0, 0);
    }
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    let found = reader.byte_records().filter_map(Result::ok).nth(record);
    let position = found.as_ref().and_then(|record| record.position());
    position.map_or((0, 0), |position| (position.byte(), position.line() - 1))
}

/// The units in the second record, if it has nothing else, and the third one a number in one of these columns. Without times, which tell rows from
/// units, no record may have a text in these columns: `F` and `A` are hexadecimal digits too.
fn unit_line(records: &[Vec<String>], numbers: NumberForm, has_times: bool) -> Option<Vec<Option<String>>> {
    let [names, fields, rows @ ..] = records else { return None };
    let first = rows.first()?;
    let bare = |field: &str| field.trim().trim_matches(['[', ']', '(', ')']).trim().to_owned();
    let is_unit = |field: &String| matches!(&*bare(field), "" | "-") || unit_of(&bare(field)).is_some();
    if fields.len() != names.len() || !fields.iter().all(is_unit) {
        return None;
    }
    let units: Vec<_> = fields.iter().map(|field| unit_of(&bare(field))).collect();
    let is_number = |field: &String| numbers.parse(field.trim().as_bytes()).is_some();
    let is_proof = units.iter().zip(first).any(|(unit, field)| unit.is_some() && is_number(field));
    let is_absent =
        |field: &String| matches!(field.trim().as_bytes(), text if text.is_empty() || is_absent_word(text));
    let fits = |row: &Vec<String>| {
        units.iter().zip(row).all(|(unit, field)| unit.is_none() || is_number(field) || is_absent(field))
    };
    let is_certain = has_times || rows.iter().all(fits);
    (is_proof && is_certain && !fields.iter().any(is_number)).then_some(units)
}

fn names_in(comment: &[u8], delimiter: u8, records: &[Vec<String>]) -> Option<Vec<String>> {
    let width = records.first()?.len();
    let names = self::records(comment, delimiter, false).into_iter().next()?;
    (width > 1 && names.len() == width).then_some(names)
}

fn records(text: &[u8], delimiter: u8, is_windows_1252: bool) -> Vec<Vec<String>> {
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    let text = |field: &[u8]| match is_windows_1252 {
        true => windows_1252::decode(field),
        false => String::from_utf8_lossy(field).into_owned(),
    };
    let mut left = MAX_FIELDS;
    let records = reader.byte_records().take(MAX_RECORDS).filter_map(Result::ok);
    let bounded = records.map_while(|record| {
        let fields = (left > 0).then(|| record.iter().take(left).map(text).collect::<Vec<_>>())?;
        left -= fields.len();
        Some(fields)
    });
    bounded.collect()
}

fn score(records: &[Vec<String>], delimiter: u8) -> Score {
    let widths: Vec<usize> = records.iter().map(Vec::len).collect();
    let Some(width) = widths.iter().copied().max_by_key(|width| count(&widths, *width)) else {
        return Score::default();
    };
    let tenths = count(&widths, width) * 10 / widths.len();
    Score {
        fits_first: width > 1 && widths.first() == Some(&width),
        is_clean: is_clean(records, delimiter),
        width: if tenths >= 6 { width } else { 0 },
        is_certain: tenths >= 9 && width > 1,
    }
}

/// Whether at most a third of the fields contain another delimiter. A number with a decimal comma or thousands separators does not.
fn is_clean(records: &[Vec<String>], delimiter: u8) -> bool {
    let with_comma = NumberForm::with_mark(true);
    let is_number =
        |field: &str| with_comma.parse(field.as_bytes()).is_some() || notation::separator_of(field).is_some();
    let is_divided = |field: &&String| {
        let has_other = |other: &u8| *other != delimiter && field.as_bytes().contains(other);
        DELIMITERS.iter().any(has_other) && !is_number(field.trim())
    };
    let fields = records.iter().map(Vec::len).sum::<usize>();
    records.iter().flatten().filter(is_divided).count() * 3 <= fields
}

fn count(widths: &[usize], width: usize) -> usize {
    widths.iter().filter(|other| **other == width).count()
}

/// Whether the first record has names: no numbers, and another record has a number or a date where it has a text.
fn is_header(records: &[Vec<String>], numbers: NumberForm) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let is_value = |field: &String| {
        let field = field.trim();
        numbers.parse(field.as_bytes()).is_some() || TimeForm::of_dates(&[field]).is_some()
    };
    let is_named = !first.iter().any(is_value) && first.iter().any(|field| !field.trim().is_empty());
    is_named && (rest.is_empty() || rest.iter().any(|record| record.iter().any(is_value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str) -> Dialect {
        Dialect::detect(text.as_bytes(), &InputOptions::default()).unwrap()
    }

    #[test]
    fn delimiters_decimal_marks_and_headers_are_found() {
        for (text, delimiter, has_comma, has_header) in [
            ("time,x\n1,2.5\n2,3.5\n", b',', false, true),
            ("time;x;y\n1,5;2,5;a,b\n2,0;3,5;c\n", b';', true, true),
            ("1\t2\n3\t4\n", b'\t', false, false),
            ("a|b\n1|2\n", b'|', false, true),
            ("time;a;b\n0,0;1,5;2,5\n0,1;1,6;2,5\n", b';', true, true),
            ("0,0;1,5;2,5\n0,1;1,6;2,5\n", b';', true, false),
            ("Zeit\tDruck\n0,0\t1,5\n0,1\t1,6\n", b'\t', true, true),
            ("time;bounds;x\n1;[0,5,10,25];2\n2;[0,5,10,25];3\n", b';', false, true),
            ("20111104T014428.936763,1,14,-16.3\n20111104T014428.936786,120,14,-16.1\n", b',', false, false),
        ] {
            let found = detect(text);
            let found = (found.delimiter, found.numbers.has_comma, found.has_header, found.is_certain);
            assert_eq!(found, (delimiter, has_comma, has_header, true), "{text}");
        }
        assert!(!detect("a text\nof lines\n").is_certain);
    }

    #[test]
    fn comments_before_the_records_may_name_the_columns() {
        let found = detect("\u{feff}# made by a logger\n# time, speed\n1,2\n3,4\n");
        assert_eq!((found.skipped_lines, found.has_header), (2, false));
        assert_eq!(found.comment_names, Some(vec!["time".to_owned(), " speed".to_owned()]));
    }

    #[test]
    fn lines_of_a_data_logger_come_before_the_table() {
        for (text, preamble, skipped_lines, start) in [
            ("Logger: A\nSerial: 7\n\ntime,x,y\n1,2,3\n2,3,4\n3,4,5\n", 2, 2, 20),
            ("Logger;A;;\r\ntime;x;y;z\r\n1;2;3;4\r\n2;3;4;5\r\n", 1, 0, 11),
            ("x\n1,\n2,\n", 0, 0, 0),
            ("time,x,y\n1,2,3,\n2,3,4,\n", 0, 0, 0),
            ("time,x,y,z\n1,,,\n2,,,\n", 0, 0, 0),
            ("time,spectrum,,\n1,2,3,4\n2,3,4,5\n", 0, 0, 0),
            ("# time,a,b,c\n1700000000,5,,\n1700000001,1,2,3\n1700000002,1,2,3\n", 0, 1, 13),
            ("2024-03-01;5;;\n2024-03-02;a;b;c\n2024-03-03;a;b;c\n", 0, 0, 0),
        ] {
            let found = detect(text);
            let place = (found.preamble, found.skipped_lines, found.start);
            assert_eq!(place, (preamble, skipped_lines, start), "{text:?}");
        }
    }

    #[test]
    fn units_may_have_a_line_of_their_own() {
        let units =
            |text: &str| detect(text).units.map(|units| units.into_iter().flatten().collect::<Vec<_>>());
        let expected = |of: &[&str]| Some(of.iter().map(|unit| (*unit).to_owned()).collect());
        assert_eq!(units("time,v,t\ns,m/s,[\u{b0}C]\n1,2,3\n"), expected(&["s", "m/s", "Cel"]));
        assert_eq!(units("time,v,t\n,-,(m)\n1,2,3\n"), expected(&["m"]));
        for text in ["x,state\n,A\n1,A\n", "time,v\ns,left\n1,2\n", "time,v\n1,m\n2,3\n", "time,v\ns,m\n"] {
            assert_eq!(units(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_without_times_has_a_line_of_units_only_above_numbers() {
        let units = |text: &str| {
            let options = InputOptions { rate: Some(10.0), ..InputOptions::default() };
            Dialect::detect(text.as_bytes(), &options).unwrap().units.is_some()
        };
        assert!(!units("byte\nF\n3\nA\n") && !units("byte,x\nF,\n3,1\n,1\nA,1\n"));
        assert!(units("speed\nm/s\n3\n4\n") && units("v,state\nm/s,\n3,on\nNA,off\n,on\n"));
    }

    #[test]
    fn few_fields_of_long_lines_are_kept() {
        let line = ",".repeat(MAX_FIELDS / 2) + "\n";
        let records = records(line.repeat(5).as_bytes(), b',', false);
        assert_eq!(records.iter().map(Vec::len).sum::<usize>(), MAX_FIELDS);
    }

    #[test]
    fn a_first_line_may_name_the_delimiter() {
        for (text, delimiter) in
            [("\u{feff}sep=;\r\na,b;c\r\n1;2\r\n", b';'), ("SEP=|\na;b|c\n", b'|'), ("sep=\t\na\tb\n", b'\t')]
        {
            let found = detect(text);
            assert_eq!(
                (found.delimiter, found.skipped_lines, found.records[0].len()),
                (delimiter, 1, 2),
                "{text}"
            );
        }
    }

    #[test]
    fn other_files_are_refused_with_a_remedy() {
        let error = |bytes: &[u8]| Dialect::detect(bytes, &InputOptions::default()).unwrap_err().to_string();
        assert!(error(b"\xff\xfea\0,\0b\0").contains("iconv"));
        assert!(error(b"a\0b").starts_with("the file is no text"));
        let annotated = b"#group,false,false\n#datatype,string,long\n#default,_result,\n,result,table\n,,0\n";
        assert!(error(annotated).contains("export line protocol"));
    }
}
