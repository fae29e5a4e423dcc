//! Options of a recording: facts that its content lacks or states wrongly.

use super::{Thousands, TimeUnit};

/// Options of reading. Each format ignores those that it does not know.
#[derive(Debug, Clone, Default)]
pub struct InputOptions {
    /// Leave defective records out and count them, instead of refusing the file.
    pub is_partial: bool,
    /// The instance of a file that names none.
    pub instance: Option<String>,
    /// The time of the first sample, nanoseconds since 1970; all others move with it.
    pub start: Option<u64>,
    /// CSV: the character between fields.
    pub delimiter: Option<u8>,
    /// CSV: whether numbers have a comma in place of a point.
    pub decimal_comma: Option<bool>,
    /// CSV: the character between groups of three digits.
    pub thousands: Option<Thousands>,
    /// CSV: whether the first line has names.
    pub has_header: Option<bool>,
    /// CSV: name or number of the column of times.
    pub time_column: Option<String>,
    /// CSV: the form of times: a unit, or a pattern of `strptime`.
    pub time_format: Option<String>,
    /// CSV: samples in a second, of a file without times.
    pub rate: Option<f64>,
    /// Line protocol: the unit of times.
    pub precision: Option<TimeUnit>,
    /// candump: the databases that describe the frames.
    pub dbc: Vec<Dbc>,
}

impl InputOptions {
    /// Names the options that the format with this title does not know.
    pub fn unused_by(&self, title: &str) -> Vec<&'static str> {
        const TABLES: &[&str] = &["CSV", "Arrow", "Parquet", "JSON lines"];
        let of_csv: &[&str] = &["CSV"];
        let given = [
            ("a delimiter", self.delimiter.is_some(), of_csv),
            ("a decimal mark", self.decimal_comma.is_some(), of_csv),
            ("a thousands separator", self.thousands.is_some(), of_csv),
            ("a header", self.has_header.is_some(), of_csv),
            ("a column of times", self.time_column.is_some(), TABLES),
            ("a form of times", self.time_format.is_some(), TABLES),
            ("a rate", self.rate.is_some(), &["CSV", "Arrow", "Parquet"]),
            ("a unit of times", self.precision.is_some(), &["line protocol"]),
            ("a CAN database", !self.dbc.is_empty(), &["candump"]),
        ];
        let unused = given.into_iter().filter(|(_, is_given, of)| *is_given && !of.contains(&title));
        unused.map(|(name, ..)| name).collect()
    }
}

/// A CAN database file.
#[derive(Debug, Clone)]
pub struct Dbc {
    /// Its path, for messages.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_other_formats_are_named() {
        let options = InputOptions { delimiter: Some(b';'), rate: Some(1.0), ..InputOptions::default() };
        assert_eq!(options.unused_by("JSON lines"), ["a delimiter", "a rate"]);
        assert_eq!(options.unused_by("Parquet"), ["a delimiter"]);
        assert!(options.unused_by("CSV").is_empty());
    }
}
