//! Samples that the database refuses, and the reason that it reports.

use oasis_store::Series;
use serde::Serialize;
use tokio_postgres::Error;

/// Longest reason that is kept, in characters.
const MAX_SAID: usize = 500;
/// Classes of SQLSTATE (PostgreSQL's appendix "Error Codes") that concern the data of a statement or its table: data,
/// constraints, definitions, limits, errors raised by triggers, and a damaged table or index. All others concern the
/// connection or the server, and are retried.
const OF_DATA: [&str; 8] = ["0A", "22", "23", "42", "44", "54", "P0", "XX"];
/// The code "insufficient privilege", which is retried: it may be granted, and then no sample must be missing.
const PERMISSION: &str = "42501";

/// Why samples were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// PostgreSQL's SQLSTATE; none if the samples were not sent.
    pub code: Option<String>,
    /// PostgreSQL's message.
    pub detail: String,
}

impl Why {
    /// Returns the reason if the error is a refusal of data.
    pub fn of(error: &Error) -> Option<Self> {
        let said = error.as_db_error()?;
        let code = said.code().code();
        let is_of_data = code != PERMISSION && OF_DATA.iter().any(|class| code.starts_with(class));
        is_of_data.then(|| Self {
            code: Some(code.to_owned()),
            detail: said.message().chars().take(MAX_SAID).collect(),
        })
    }
}

/// Samples of a table that were refused for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Name of the table, without its schema.
    pub table: String,
    /// PostgreSQL's SQLSTATE; none if the samples were not sent.
    pub code: Option<String>,
    /// PostgreSQL's message.
    pub detail: String,
    /// Number of samples.
    pub samples: u64,
    /// The node of one of them.
    pub node: String,
    /// Its instance.
    pub instance: String,
    /// Its sequence number in its run.
    pub sequence: u64,
}

impl Refusal {
    /// Creates a refusal of this many samples, with one of them as an example.
    pub fn new(table: &str, why: Why, samples: u64, (series, sequence): (&Series, u64)) -> Self {
        Self {
            table: table.into(),
            code: why.code,
            detail: why.detail,
            samples,
            node: series.node.as_ref().into(),
            instance: series.instance.as_ref().into(),
            sequence,
        }
    }
}
