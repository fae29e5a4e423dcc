//! What generated probe code looks like to a node.

use crate::value::RowWriter;

/// One sample of a probe type, generated from PDL.
pub trait Sample: Send + 'static {
    /// Scoped PDL name.
    const NAME: &'static str;
    /// The type's UUID.
    const UUID: &'static str;
    /// Its schema as JSON ([`crate::schema::ProbeType`]).
    const SCHEMA: &'static str;

    /// Writes the metrics in order.
    fn write(&self, row: &mut RowWriter<'_>);
}
