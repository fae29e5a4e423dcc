//! Names of DACs.

use serde::{Deserialize, Deserializer, Serialize};
use std::{fmt, str::FromStr};

/// Longest name, bytes.
const MAX_NAME_BYTES: usize = 64;

/// The name of a DAC: 1 to 64 letters, digits and `- _ . @ +`, but not `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct DacName(String);

/// A text that names no DAC.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a DAC: use 1 to 64 letters, digits and - _ . @ +, and not . or .. alone (--dac-name, tem.name)"
)]
pub struct DacNameError(String);

impl DacName {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DacName {
    type Err = DacNameError;

    fn from_str(text: &str) -> Result<Self, DacNameError> {
        let is_good = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.@+".contains(&letter);
        // They mean folders in paths, also in those of the API.
        let is_dots = matches!(text, "." | "..");
        match (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_good) && !is_dots {
            true => Ok(Self(text.into())),
            // An error must not carry a text of any length.
            false => Err(DacNameError(text.chars().take(MAX_NAME_BYTES).collect())),
        }
    }
}

impl fmt::Display for DacName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DacName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}
