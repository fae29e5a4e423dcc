//! The choices of a person about a recording, as the command line and the API take them.

use oasis_format::{
    input::{Dbc, InputFormat, InputOptions, Thousands, TimeUnit},
    inputs::{INPUTS, by_name},
};
use serde::{Deserialize, Serialize};

/// Facts that the content of a recording lacks, or states wrongly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Choices {
    /// Prefix for the names of imported nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether defective records are left out.
    pub partial: bool,
    /// Name of the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Instance of a file that names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Time of the first sample, nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Character between fields, or `tab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether numbers have a comma in place of a point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal_comma: Option<bool>,
    /// Character between groups of three digits: `comma`, `point`, `space`, `apostrophe` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<String>,
    /// Whether the first line has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Name or number of the column of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_column: Option<String>,
    /// Form of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_format: Option<String>,
    /// Samples in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Unit of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
}

/// A choice is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{choice} is {why}")]
pub struct BadChoice {
    /// The choice, as the API calls it.
    pub choice: &'static str,
    /// The value, and what is expected.
    pub why: String,
}

fn refuse<T>(choice: &'static str, why: String) -> Result<T, BadChoice> {
    Err(BadChoice { choice, why })
}

impl Choices {
    /// Returns the format, if one is named.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn format(&self) -> Result<Option<&'static InputFormat>, BadChoice> {
        let Some(name) = &self.format else { return Ok(None) };
        let names: Vec<_> = INPUTS.iter().map(|format| format.name).collect();
        match by_name(name) {
            Some(format) => Ok(Some(format)),
            None => refuse("format", format!("{name:?}: write one of {}", names.join(", "))),
        }
    }

    /// Returns the options of reading, with these CAN databases.
    ///
    /// # Errors
    /// If a choice is invalid.
    pub fn options(&self, dbc: Vec<Dbc>) -> Result<InputOptions, BadChoice> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some(text) => match text.as_bytes() {
                [byte] if byte.is_ascii() => Some(*byte),
                _ => return refuse("delimiter", format!("{text:?}: write one ASCII character, or tab")),
            },
        };
        if let Some(rate) = self.rate.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
            return refuse("rate", format!("{rate}: write the samples in a second, such as 100"));
        }
        if self.rate.is_some() && (self.time_column.is_some() || self.time_format.is_some()) {
            return refuse("rate", "given with the times of a column: leave out one of them".into());
        }
        let thousands = match self.thousands.as_deref().map(|name| (name, Thousands::named(name))) {
            None => None,
            Some((name, None)) => {
                let names = Thousands::ALL.map(Thousands::name).join(", ");
                return refuse("thousands", format!("{name:?}: write one of {names}"));
            }
            Some((_, thousands)) => thousands,
        };
        let precision = match self.precision.as_deref().map(|unit| (unit, TimeUnit::of(unit))) {
            None => None,
            Some((unit, None)) => return refuse("precision", format!("{unit:?}: write s, ms, us or ns")),
            Some((_, unit)) => unit,
        };
        Ok(InputOptions {
            is_partial: self.partial,
            instance: self.instance.clone(),
            start: self.start,
            delimiter,
            decimal_comma: self.decimal_comma,
            thousands,
            has_header: self.header,
            time_column: self.time_column.clone(),
            time_format: self.time_format.clone(),
            rate: self.rate,
            precision,
            dbc,
        })
    }
}
