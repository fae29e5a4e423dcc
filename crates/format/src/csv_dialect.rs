//! The dialect of a CSV file that is written.

use crate::input::{TimeForm, TimeUnit};
use jiff::{Timestamp, fmt::strtime};

/// Characters that numbers, words and quoted fields have.
const RESERVED: &[u8] = b"\"\r\n+-.#";

/// Delimiter, decimal mark, times and header. The default is RFC 4180 with dates of RFC 3339.
#[derive(Debug, Clone)]
pub struct CsvDialect {
    pub(crate) delimiter: u8,
    pub(crate) has_decimal_comma: bool,
    pub(crate) has_units: bool,
    times: TimeForm,
}

/// Properties of a dialect; `None` stands for the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct CsvOptions<'a> {
    /// The character between fields: a comma, or a semicolon if numbers have commas.
    pub delimiter: Option<u8>,
    /// Whether numbers have a comma in place of the point.
    pub has_decimal_comma: bool,
    /// The form of the column `time`: `iso`, `s`, `ms`, `us`, `ns`, or a pattern of `strftime`.
    pub time_format: Option<&'a str>,
    /// Whether the header has units: `level [m]`.
    pub has_units: bool,
}

/// Why options are no dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDialect {
    /// A delimiter that fields have.
    #[error("the delimiter {0:?} is part of numbers, names or quotation marks: use a comma, ;, | or tab")]
    Delimiter(char),
    /// A comma for both.
    #[error("the comma cannot be both delimiter and decimal mark: use ; as the delimiter")]
    Comma,
    /// An unknown form of times.
    #[error(
        "the form of times {0:?} is unknown: use iso, s, ms, us, ns, or a pattern such as %d.%m.%Y %H:%M:%S"
    )]
    Times(String),
}

impl CsvDialect {
    /// Checks the options.
    ///
    /// # Errors
    /// If a file in this dialect could not be read back.
    pub fn new(options: CsvOptions<'_>) -> Result<Self, BadDialect> {
        let CsvOptions { delimiter, has_decimal_comma, time_format, has_units } = options;
        let delimiter = delimiter.unwrap_or(if has_decimal_comma { b';' } else { b',' });
        if !delimiter.is_ascii() || delimiter.is_ascii_alphanumeric() || RESERVED.contains(&delimiter) {
            return Err(BadDialect::Delimiter(delimiter.into()));
        }
        if has_decimal_comma && delimiter == b',' {
            return Err(BadDialect::Comma);
        }
        let name = time_format.unwrap_or("iso");
        let bad = || BadDialect::Times(name.to_owned());
        let is_written = |form: &TimeForm| !matches!(form, TimeForm::SerialDays { .. });
        let times = TimeForm::named(name, has_decimal_comma).filter(is_written).ok_or_else(bad)?;
        if let TimeForm::Pattern(pattern) = &times {
            strtime::format(pattern, Timestamp::UNIX_EPOCH).map_err(|_| bad())?;
        }
        Ok(Self { delimiter, has_decimal_comma, has_units, times })
    }

    /// Formats a number with the decimal mark of the dialect.
    pub(crate) fn number(&self, number: String) -> String {
        if self.has_decimal_comma { number.replace('.', ",") } else { number }
    }

    /// Formats a time, nanoseconds since 1970, with all digits.
    pub(crate) fn time(&self, nanoseconds: u64) -> String {
        let time = || Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
        match &self.times {
            TimeForm::Number { unit, .. } => self.number(decimal(nanoseconds, *unit)),
            // RFC 3339, UTC, with all nine digits of a second: texts sort as times do.
            TimeForm::Date(_) | TimeForm::SerialDays { .. } => format!("{:.9}", time()),
            TimeForm::Pattern(pattern) => strtime::format(pattern, time()).unwrap_or_default(),
        }
    }

    /// Returns the name of a column, with its unit if the header has units.
    pub(crate) fn heading(&self, name: &str, unit: Option<&str>) -> String {
        match unit.filter(|_| self.has_units) {
            // A unit such as [degF] has brackets of its own.
            Some(unit) if unit.contains(['[', ']']) => format!("{name} ({unit})"),
            Some(unit) => format!("{name} [{unit}]"),
            None => name.to_owned(),
        }
    }
}

impl Default for CsvDialect {
    fn default() -> Self {
        let times = TimeForm::Date(crate::input::DateOrder::YearMonthDay);
        Self { delimiter: b',', has_decimal_comma: false, has_units: false, times }
    }
}

/// A number of a unit, with all digits of its nanoseconds.
fn decimal(nanoseconds: u64, unit: TimeUnit) -> String {
    let (scale, digits) = match unit {
        TimeUnit::Seconds => (1_000_000_000, 9),
        TimeUnit::Milliseconds => (1_000_000, 6),
        TimeUnit::Microseconds => (1_000, 3),
        TimeUnit::Nanoseconds => return nanoseconds.to_string(),
    };
    format!("{}.{:0digits$}", nanoseconds / scale, nanoseconds % scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_700_000_000_012_345_678;

    #[test]
    fn times_have_each_form_and_all_digits() {
        let time = |time_format, has_decimal_comma| {
            let options =
                CsvOptions { time_format: Some(time_format), has_decimal_comma, ..CsvOptions::default() };
            CsvDialect::new(options).unwrap().time(T)
        };
        assert_eq!(time("iso", false), "2023-11-14T22:13:20.012345678Z");
        assert_eq!(time("s", false), "1700000000.012345678");
        assert_eq!(time("ms", true), "1700000000012,345678");
        assert_eq!(time("us", false), "1700000000012345.678");
        assert_eq!(time("ns", true), "1700000000012345678");
        assert_eq!(time("%d.%m.%Y %H:%M:%S%.3f", true), "14.11.2023 22:13:20.012");
        assert_eq!(CsvDialect::default().time(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }

    #[test]
    fn dialects_that_cannot_be_read_back_are_refused() {
        let refused = |options| CsvDialect::new(options).unwrap_err();
        let delimiter = |delimiter| CsvOptions { delimiter: Some(delimiter), ..CsvOptions::default() };
        for byte in *b"\"\n.-5e\xe4" {
            assert_eq!(refused(delimiter(byte)), BadDialect::Delimiter(byte.into()));
        }
        assert_eq!(refused(CsvOptions { has_decimal_comma: true, ..delimiter(b',') }), BadDialect::Comma);
        for format in ["rfc", "excel", "%", "%!"] {
            let options = CsvOptions { time_format: Some(format), ..CsvOptions::default() };
            assert_eq!(refused(options), BadDialect::Times(format.into()));
        }
        let german =
            CsvDialect::new(CsvOptions { has_decimal_comma: true, ..CsvOptions::default() }).unwrap();
        assert_eq!(german.delimiter, b';');
    }

    #[test]
    fn headings_have_units_that_the_import_finds() {
        let options = CsvOptions { has_units: true, ..CsvOptions::default() };
        let dialect = CsvDialect::new(options).unwrap();
        for (unit, heading) in [("m/s2", "a.b [m/s2]"), ("[degF]", "a.b ([degF])")] {
            assert_eq!(dialect.heading("a.b", Some(unit)), heading);
            assert_eq!(crate::input::split_unit(heading), ("a.b".to_owned(), Some(unit.to_owned())));
        }
        assert_eq!(CsvDialect::default().heading("a.b", Some("m")), "a.b");
    }
}
