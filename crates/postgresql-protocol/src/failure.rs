//! Errors as PostgreSQL reports them: a code of its Appendix A, a message, and a position in the statement.

use std::fmt;

/// An error for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlFailure {
    /// The SQLSTATE.
    pub code: &'static str,
    /// The error, for people.
    pub message: String,
    /// Byte of the statement that it is about.
    pub at: Option<usize>,
}

/// Codes of errors, each used in one sense.
pub mod code {
    pub const PROTOCOL: &str = "08P01";
    pub const UNSUPPORTED: &str = "0A000";
    pub const BAD_TEXT: &str = "22021";
    pub const BAD_VALUE: &str = "22P02";
    pub const BAD_BINARY: &str = "22P03";
    pub const READ_ONLY: &str = "25006";
    pub const FAILED_TRANSACTION: &str = "25P02";
    pub const UNKNOWN_STATEMENT: &str = "26000";
    pub const NOT_AUTHENTICATED: &str = "28000";
    pub const WRONG_PASSWORD: &str = "28P01";
    pub const UNKNOWN_PORTAL: &str = "34000";
    pub const FORBIDDEN: &str = "42501";
    pub const SYNTAX: &str = "42601";
    pub const UNKNOWN_COLUMN: &str = "42703";
    pub const UNKNOWN_SETTING: &str = "42704";
    pub const UNKNOWN_FUNCTION: &str = "42883";
    pub const UNKNOWN_TABLE: &str = "42P01";
    pub const TAKEN_STATEMENT: &str = "42P05";
    pub const MEMORY: &str = "53200";
    pub const TOO_MANY: &str = "53300";
    pub const LIMIT: &str = "54000";
    pub const CANCELED: &str = "57014";
    pub const ENDING: &str = "57P01";
    pub const NOT_AVAILABLE: &str = "57P03";
    pub const FILES: &str = "58030";
    pub const INTERNAL: &str = "XX000";
}

impl SqlFailure {
    /// An error without a position.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), at: None }
    }

    /// The same error, about a byte of the statement.
    #[must_use]
    pub fn at(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }

    /// A construct of PostgreSQL that is not there.
    pub fn unsupported(message: impl Into<String>, at: usize) -> Self {
        Self::new(code::UNSUPPORTED, message).at(at)
    }
}

impl fmt::Display for SqlFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for SqlFailure {}
