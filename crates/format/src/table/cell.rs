//! What a sample has in one column.

use std::borrow::Cow;

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// The sample is not of the table's type.
    Nothing,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A real of 32 bits.
    Real32(f32),
    /// A real of 64 bits.
    Real64(f64),
    /// True or false.
    Boolean(bool),
    /// A text, the name of an enum's value, or the JSON of a vector.
    Text(Cow<'a, str>),
}
