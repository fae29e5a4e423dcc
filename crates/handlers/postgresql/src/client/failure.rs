//! Why the database did not take what was written.

use super::refusal::Why;
use std::time::Duration;
use tokio_postgres::{Error, error::SqlState};

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error of PostgreSQL or the system.
    #[error("{}", explain(.0))]
    Sql(#[from] Error),
    /// Timeout.
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// Another DAC writes under this name.
    #[error(
        "another DAC writes to the database as {name:?} (process {process}, since {since}): give each DAC a name of its own (postgresql.writer, --dac-name or tem.name)"
    )]
    NameTaken {
        /// The name.
        name: String,
        /// Its process, 0 if the database does not know it yet.
        process: i64,
        /// When it connected.
        since: String,
    },
}

/// Returns the error with its causes: its own text alone is not specific enough.
fn explain(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl Failure {
    /// Returns the database's reason if it refuses the data.
    ///
    /// # Errors
    /// The failure, if it is of another kind.
    pub fn refusal(self) -> Result<Why, Self> {
        match &self {
            Self::Sql(error) => Why::of(error).ok_or(self),
            Self::Timeout(_) | Self::NameTaken { .. } => Err(self),
        }
    }

    /// Returns without error if the database cannot encode a text.
    ///
    /// # Errors
    /// The failure, if it is of another kind.
    pub fn refusal_of_text(self) -> Result<(), Self> {
        match &self {
            Self::Sql(error) if error.code() == Some(&SqlState::UNTRANSLATABLE_CHARACTER) => Ok(()),
            _ => Err(self),
        }
    }
}
