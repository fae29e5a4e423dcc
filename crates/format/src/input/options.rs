//! Options of a recording: facts that its content lacks or states wrongly.

use super::TimeUnit;

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

/// A CAN database file.
#[derive(Debug, Clone)]
pub struct Dbc {
    /// Its path, for messages.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
}
