//! Samples of a source.

use oasis_format::columns::Cell;
use oasis_wire::schema::ProbeType;
use std::{borrow::Cow, sync::Arc};

/// A sample of a source whose type follows its fields.
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
    /// Names and values. Of several fields of one name the last one counts, and the others are left out.
    pub fields: &'a [(Cow<'a, str>, Cell<'a>)],
}

/// A sample of a source that declares its type.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredSample<'a> {
    /// The name of its node.
    pub node: &'a str,
    /// The name of its instance.
    pub instance: &'a str,
    /// Its type. The UUID must follow from the metrics.
    pub probe_type: &'a Arc<ProbeType>,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// The packed values ([`oasis_wire::value::RowWriter`]).
    pub row: &'a [u8],
}
