//! Labels: free `key=value` pairs of a node or an instance.

use oasis_wire::{pattern::matches, quantity::Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most labels of a node or of an instance.
pub const MOST_LABELS: usize = 32;
/// Longest key of a label, in bytes.
pub const LONGEST_KEY: usize = 64;
/// Longest value of a label, in bytes.
pub const LONGEST_VALUE: usize = 256;
/// Pairs of one filter.
const MOST_PAIRS: usize = 16;

/// Labels by key.
pub type LabelMap = BTreeMap<String, String>;

/// A label with its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its value.
    pub value: String,
    /// Principal that set it.
    pub by: String,
    /// When, on the DAC's clock.
    pub at: Nanos,
}

/// Why a label is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Its key is none.
    #[error(
        "{0:?} cannot be the key of a label: 1 to {LONGEST_KEY} bytes without = and comma, control characters, and space at its ends"
    )]
    Key(String),
    /// Its value is none.
    #[error(
        "the value of label {key:?} is too long or has control characters: at most {LONGEST_VALUE} bytes of text"
    )]
    Value {
        /// Its key.
        key: String,
    },
    /// There are too many.
    #[error("a node or an instance has at most {MOST_LABELS} labels: remove one first")]
    TooMany,
    /// A filter that is none.
    #[error(
        "{0:?} is no filter of labels: write KEY=VALUE, separated by commas; a * in them matches any text"
    )]
    Filter(String),
}

/// Checks the key of a label.
///
/// # Errors
/// If it cannot be one.
pub fn check_key(key: &str) -> Result<(), LabelError> {
    let is_plain = |character: char| !character.is_control() && !matches!(character, '=' | ',');
    let is_key = (1..=LONGEST_KEY).contains(&key.len()) && key.chars().all(is_plain) && key.trim() == key;
    if is_key { Ok(()) } else { Err(LabelError::Key(key.chars().take(LONGEST_KEY).collect())) }
}

/// Checks a label.
///
/// # Errors
/// If its key or value cannot be one.
pub fn check_label(key: &str, value: &str) -> Result<(), LabelError> {
    check_key(key)?;
    if value.len() > LONGEST_VALUE || value.chars().any(char::is_control) {
        return Err(LabelError::Value { key: key.into() });
    }
    Ok(())
}

/// Whether all labels of another DAC are such that this one would have taken them.
pub fn are_valid(labels: &LabelMap) -> bool {
    labels.len() <= MOST_LABELS && labels.iter().all(|(key, value)| check_label(key, value).is_ok())
}

/// Which labels something must have: all of these pairs, whose keys and values may have a `*`. An empty filter passes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LabelFilter(Vec<(String, String)>);

impl LabelFilter {
    /// Reads `site=graz, rack=*`.
    ///
    /// # Errors
    /// If a part has no `=`, or there are more than 16 parts.
    pub fn parse(text: &str) -> Result<Self, LabelError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let pair =
            |part: &str| part.split_once('=').map(|(key, value)| (key.trim().into(), value.trim().into()));
        let refused = || LabelError::Filter(text.chars().take(LONGEST_VALUE).collect());
        let pairs: Option<Vec<_>> = parts.map(pair).collect();
        pairs.filter(|pairs| pairs.len() <= MOST_PAIRS).map(Self).ok_or_else(refused)
    }

    /// Whether it passes everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether these labels pass.
    pub fn passes(&self, labels: &LabelMap) -> bool {
        self.0
            .iter()
            .all(|(key, value)| labels.iter().any(|(has, its)| matches(key, has) && matches(value, its)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_and_plain_and_values_are_text() {
        for key in ["site", "Standort", "größe", "a b", "<img>", "a:b/c"] {
            assert_eq!(check_label(key, "<script>alert(1)</script>"), Ok(()), "{key}");
        }
        for key in ["", " a", "a ", "a=b", "a,b", "a\nb", &"k".repeat(65)] {
            assert!(matches!(check_label(key, ""), Err(LabelError::Key(_))), "{key:?}");
        }
        for value in ["a\u{0}", "\u{1b}[31m", &"v".repeat(257)] {
            assert_eq!(check_label("key", value), Err(LabelError::Value { key: "key".into() }), "{value:?}");
        }
    }

    #[test]
    fn a_filter_asks_for_all_its_pairs() {
        let labels = LabelMap::from([("site".into(), "graz".into()), ("rack".into(), "7".into())]);
        for (filter, passes) in [
            ("", true),
            ("site=graz", true),
            ("site=g*", true),
            ("site=*, rack=7", true),
            ("*=7", true),
            ("site=wien", false),
            ("site=graz,room=*", false),
        ] {
            assert_eq!(LabelFilter::parse(filter).unwrap().passes(&labels), passes, "{filter}");
        }
        assert!(LabelFilter::parse("site").is_err());
        assert!(LabelFilter::parse(&"a=b,".repeat(17)).is_err());
    }
}
