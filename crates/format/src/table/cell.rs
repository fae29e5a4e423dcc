//! The value of a sample in one column.

use base64::{Engine, prelude::BASE64_STANDARD};
use std::{borrow::Cow, fmt};

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// The sample does not have it.
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
    /// A string, the name of an enumerator, or the JSON of a vector.
    Text(Cow<'a, str>),
    /// The bytes of a file.
    Blob(&'a [u8]),
}

/// Formats a cell as the shortest exact text; [`Cell::Nothing`] is empty, and bytes are base64.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Int(value) => value.fmt(f),
            Self::Uint(value) => value.fmt(f),
            // The same words as in JSON lines: spreadsheets show them as text, scripts parse them as numbers.
            Self::Real32(value) if value.is_infinite() => f.write_str(infinity(value.is_sign_negative())),
            Self::Real64(value) if value.is_infinite() => f.write_str(infinity(value.is_sign_negative())),
            Self::Real32(value) => value.fmt(f),
            Self::Real64(value) => value.fmt(f),
            Self::Boolean(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Blob(bytes) => f.write_str(&BASE64_STANDARD.encode(bytes)),
        }
    }
}

fn infinity(is_negative: bool) -> &'static str {
    if is_negative { "-Infinity" } else { "Infinity" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_have_the_same_names_everywhere() {
        let texts = [f64::INFINITY, f64::NEG_INFINITY, 0.5].map(|value| Cell::Real64(value).to_string());
        assert_eq!(texts, ["Infinity", "-Infinity", "0.5"]);
        assert_eq!(Cell::Real32(f32::NEG_INFINITY).to_string(), "-Infinity");
    }
}
