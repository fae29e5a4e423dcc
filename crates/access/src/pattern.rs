//! Patterns of node and instance names.

use oasis_wire::pattern::matches;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// Longest pattern, bytes.
const MAX_PATTERN_BYTES: usize = 256;
/// Most stars in a pattern: they bound the time of a match.
const MAX_STARS: usize = 16;

/// A name in which each `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// `*`: every name.
    All,
    /// Another text.
    Text(Box<str>),
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Empty or too long.
    #[error("a pattern has 1 to {MAX_PATTERN_BYTES} bytes, not {0}")]
    Length(usize),
    /// Control characters would hide what it matches.
    #[error("the pattern {0:?} has a control character")]
    Control(String),
    /// Too many stars.
    #[error("the pattern {0:?} has more than {MAX_STARS} stars")]
    Stars(String),
}

impl Pattern {
    /// Whether the name matches.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Text(pattern) => matches(pattern, name),
        }
    }

    /// Whether every name matches, whatever it is.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

impl FromStr for Pattern {
    type Err = PatternError;
    fn from_str(text: &str) -> Result<Self, PatternError> {
        if !(1..=MAX_PATTERN_BYTES).contains(&text.len()) {
            return Err(PatternError::Length(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::Control(text.into()));
        }
        let stars = text.bytes().filter(|byte| *byte == b'*').count();
        match stars {
            _ if stars == text.len() => Ok(Self::All),
            0..=MAX_STARS => Ok(Self::Text(text.into())),
            _ => Err(PatternError::Stars(text.into())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Text(pattern) => f.write_str(pattern),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stars_match_everything() {
        for (text, name, is_match) in
            [("*", "", true), ("**", "x/y", true), ("a*", "ab", true), ("a*", "b", false), ("a", "ab", false)]
        {
            assert_eq!(text.parse::<Pattern>().unwrap().matches(name), is_match, "{text} {name}");
        }
        assert!("**".parse::<Pattern>().unwrap().is_all());
    }

    #[test]
    fn hostile_patterns_are_refused() {
        assert_eq!("".parse::<Pattern>(), Err(PatternError::Length(0)));
        assert_eq!("x".repeat(257).parse::<Pattern>(), Err(PatternError::Length(257)));
        assert!(matches!("a\u{1b}".parse::<Pattern>(), Err(PatternError::Control(_))));
        assert!(matches!("a*".repeat(17).parse::<Pattern>(), Err(PatternError::Stars(_))));
    }
}
