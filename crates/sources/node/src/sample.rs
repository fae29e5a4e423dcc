//! A sample of a source.

use oasis_format::columns::Cell;
use std::borrow::Cow;

/// A sample of a source.
#[derive(Debug, Clone, Copy)]
pub struct SourceSample<'a> {
    /// The name of its node.
    pub node: &'a str,
    /// The name of its instance.
    pub instance: &'a str,
    /// The name of the instance's type.
    pub type_name: &'a str,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// Names and values. Of several fields of one name the last one counts.
    pub fields: &'a [(Cow<'a, str>, Cell<'a>)],
}
