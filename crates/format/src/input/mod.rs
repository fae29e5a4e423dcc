//! Reads recordings of other programs, and of OASIS: each format is a folder of this crate with one [`InputFormat`].
//!
//! Every format is read in the same order. [`crate::inputs::find`] detects it by content, then by the ending of the file name. Its reader surveys the file
//! where types depend on the values, then returns one batch at a time with its [`RecordedSeries`], and at the end a [`Report`] of what the
//! samples do not have. A description is the same reading without an archive: [`Description`] counts the batches.
//!
//! Files are not trusted. Readers stream, check each declared length before they allocate, and stop at the bounds of `bounds`. A defect
//! of a record ends the reading with an [`InputError`] that names place and remedy, unless [`InputOptions::is_partial`] is set: then the
//! record is left out and counted.

pub(crate) mod bounds;
pub mod columns;
mod defects;
mod description;
mod early_times;
mod error;
mod field_budget;
pub(crate) mod infer;
#[cfg_attr(not(feature = "mcap"), allow(dead_code, reason = "only MCAP files have JSON Schemas"))]
pub(crate) mod json;
mod lost;
pub(crate) mod names;
mod number;
mod options;
mod recorded_series;
mod report;
pub(crate) mod samples;
mod series_set;
mod text_lines;
mod time;
mod time_shift;
mod units;
pub(crate) mod windows_1252;

pub(crate) use columns::{Cell, Column, ColumnTable};
pub(crate) use defects::Defects;
pub use description::{DescribedSeries, Description};
pub use error::InputError;
pub(crate) use field_budget::FieldBudget;
pub use infer::described;
pub use json::unique::{BadJson, parse as parse_json};
pub use lost::Lost;
pub(crate) use names::FreeNames;
pub use number::Thousands;
pub(crate) use number::{Number, NumberForm};
pub use options::{Dbc, InputOptions};
pub use recorded_series::RecordedSeries;
pub use report::{Finding, Report};
pub(crate) use series_set::SeriesSet;
pub(crate) use text_lines::{BYTE_ORDER_MARK, TextLines};
pub(crate) use time::{DateOrder, TIME_NAMES, TimeForm, longer_unit_of_name, time_unit_of_name};
pub use time::{TimeRefused, TimeUnit, checked as checked_time, parse_time};
pub(crate) use time_shift::TimeShift;
pub(crate) use units::{split_unit, unit_of, unit_of_column};

use std::{
    error::Error,
    io::{Read, Seek},
    path::Path,
};

/// Bytes of a file that its format is detected by.
pub const DETECT_BYTES: usize = 64 * 1024;

/// A format that recordings are read from.
#[derive(Debug)]
pub struct InputFormat {
    /// Its name in options and descriptions.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// Its content, for the reference.
    pub help: &'static str,
    /// The endings of its files, without the dot, in lower case.
    pub extensions: &'static [&'static str],
    /// Returns whether a file that begins with these bytes has this format.
    pub detect: fn(&[u8]) -> bool,
    /// Reads a file to its end.
    pub read: ReadInput,
}

/// Reads a file to its end: each batch goes to the function, the rest is returned.
pub type ReadInput = fn(&mut InputFile<'_>, &InputOptions, &mut TakeBatch<'_>) -> Result<Report, InputError>;

/// A file to read.
pub struct InputFile<'a> {
    /// Its path, for names and for formats that a library opens by path.
    pub path: &'a Path,
    /// Its content, from the first byte.
    pub content: &'a mut dyn RecordingFile,
}

impl InputFile<'_> {
    /// The file name without its extension, for a format whose files have no other name of an instance.
    pub(crate) fn stem(&self) -> String {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("recording");
        names::without_controls(stem)
    }
}

/// A file that is read more than once.
pub trait RecordingFile: Read + Seek {}

impl<T: Read + Seek> RecordingFile for T {}

/// Receives a batch.
pub type TakeBatch<'a> = dyn FnMut(&RecordedSeries, &[u8]) -> Result<(), TakeError> + 'a;

/// The error of a receiver of batches.
pub type TakeError = Box<dyn Error + Send + Sync>;
