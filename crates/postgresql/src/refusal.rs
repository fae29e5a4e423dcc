//! What the database does not take: which samples, and what it says.

use oasis_store::Series;
use serde::Serialize;
use tokio_postgres::Error;

/// Longest word of the database that is kept, characters.
const MAX_SAID: usize = 500;
/// Classes of SQLSTATE (PostgreSQL's appendix "Error Codes") that speak of what a statement brings, or of the table that it goes to: data, constraints, definitions,
/// limits, what a trigger raises, and a table or an index that is damaged. All others speak of the connection or the server, and are tried again.
const OF_DATA: [&str; 8] = ["0A", "22", "23", "42", "44", "54", "P0", "XX"];
/// Of those, "insufficient privilege": it may be given, and then nothing is to be missing.
const PERMISSION: &str = "42501";

/// Why samples were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// PostgreSQL's SQLSTATE; none if they were not even sent.
    pub code: Option<String>,
    /// What PostgreSQL says.
    pub detail: String,
}

impl Why {
    /// If the error is a refusal of data.
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

/// Samples of a table that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Name of the table, without its schema.
    pub table: String,
    /// PostgreSQL's SQLSTATE; none if they were not even sent.
    pub code: Option<String>,
    /// What PostgreSQL says.
    pub detail: String,
    /// How many.
    pub samples: u64,
    /// The node of one of them.
    pub node: String,
    /// Its instance.
    pub instance: String,
    /// Its number in its run.
    pub sequence: u64,
}

impl Refusal {
    /// Of so many samples, of which this is one.
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
