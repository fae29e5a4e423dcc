//! The interface of generated probe code to a node.

use crate::{
    reader::{Malformed, Reader},
    value::RowWriter,
};

/// One sample of a probe type, generated from PDL.
pub trait Sample: Sized + Send + 'static {
    /// Scoped PDL name.
    const NAME: &'static str;
    /// The type's UUID.
    const UUID: &'static str;
    /// Its schema as JSON ([`crate::schema::ProbeType`]).
    const SCHEMA: &'static str;

    /// Writes the metrics in order.
    fn write(&self, row: &mut RowWriter<'_>);

    /// Reads the metrics in order.
    ///
    /// # Errors
    /// Any error of [`Reader`]; an undeclared number of an enum is [`Malformed::Range`].
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed>;
}
