//! Names of users and roles.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

/// Longest name, bytes.
const MAX_NAME_BYTES: usize = 64;

/// A name of a user, a role or a token: plain ASCII, so that two names that look alike are alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(Arc<str>);

/// A text that is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot be a name: write 1 to {MAX_NAME_BYTES} letters, digits and - _ . @ + of ASCII, beginning with a letter or a digit"
)]
pub struct NameError(String);

impl Name {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@+".contains(&byte);
        let begins_plain = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins_plain && text.len() <= MAX_NAME_BYTES && text.bytes().all(is_plain) {
            return Ok(Self(text.into()));
        }
        Err(NameError(text.chars().take(MAX_NAME_BYTES).collect()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for name in ["ada", "ada@example.org", "7", "night-shift_2"] {
            assert_eq!(name.parse::<Name>().unwrap().as_str(), name);
        }
        for name in ["", "-ada", "ä", "a b", "a\n", &"a".repeat(65)] {
            assert!(name.parse::<Name>().is_err(), "{name:?}");
        }
    }
}
