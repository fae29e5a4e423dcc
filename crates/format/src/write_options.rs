//! Options of writing samples, by format.

use crate::CsvDialect;

/// Options of writing samples. Each format ignores those of others.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The dialect of comma-separated values.
    pub dialect: CsvDialect,
}
