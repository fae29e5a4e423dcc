//! Conditions of a search.

use super::cursor::{Cursor, Key};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;

/// Words and fields of a search.
const MOST_PARTS: usize = 16;
/// Upper bound of a word, or of a field's name and value, in bytes.
const MAX_WORD_BYTES: usize = 256;
/// Records of a page.
const MOST_RECORDS: usize = 1_000;

/// Which records come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

impl Order {
    /// Whether a time certainly comes before another one.
    pub(super) fn is_before(self, time: u64, other: u64) -> bool {
        match self {
            Self::Newest => time > other,
            Self::Oldest => time < other,
        }
    }
}

/// A search that cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// Too many words and fields.
    #[error("a search has at most 16 words and fields")]
    TooMany,
    /// A word that is too long.
    #[error("a word, or a field with its value, has at most 256 bytes: {0}… has more")]
    TooLong(String),
    /// A field without a name or value.
    #[error("a field is written NAME=VALUE, which {0:?} is not")]
    Field(String),
}

/// Conditions that a record must meet to be found.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// Each is part of one of its texts, or of the name of a value of an enum; upper and lower case are the same.
    pub(super) words: Vec<Word>,
    /// The least severity, by the name of an enumerator; records of types without a level are not found.
    pub(super) level: Option<String>,
    /// Metrics, or named fields, and their values as text.
    pub(super) fields: Vec<(String, String)>,
    /// Nanoseconds since 1970 on the node's clock.
    pub(super) times: Range<u64>,
    pub(super) order: Order,
    pub(super) most: usize,
    pub(super) after: Option<Key>,
}

/// A word to be found.
#[derive(Debug, Clone)]
pub struct Word {
    pub text: String,
    pub pattern: Regex,
}

impl Word {
    fn new(word: &str) -> Result<Self, SearchError> {
        let pattern = RegexBuilder::new(&regex::escape(word)).case_insensitive(true).build();
        // An escaped word is a valid pattern, and short enough.
        let pattern = pattern.map_err(|_| SearchError::TooLong(shortened(word)))?;
        Ok(Self { text: word.to_owned(), pattern })
    }
}

impl SearchQuery {
    /// All records of a time, newest first, at most `most` (1 to 1,000) a page.
    pub fn of(times: Range<u64>, most: usize) -> Self {
        let most = most.clamp(1, MOST_RECORDS);
        let (words, fields) = (Vec::new(), Vec::new());
        Self { words, level: None, fields, times, order: Order::default(), most, after: None }
    }

    /// With all these words, separated by blanks.
    ///
    /// # Errors
    /// If there are more than 16, or one is longer than 256 bytes.
    pub fn with_words(mut self, text: &str) -> Result<Self, SearchError> {
        for word in text.split_whitespace() {
            self.check_part(word)?;
            self.words.push(Word::new(word)?);
        }
        Ok(self)
    }

    /// Requires this level or above, by the name of an enumerator (`WARN`).
    #[must_use]
    pub fn with_level(mut self, level: Option<String>) -> Self {
        self.level = level;
        self
    }

    /// With a metric, or a named field, that has a value: `NAME=VALUE`.
    ///
    /// # Errors
    /// If it is not written so, too long, or one too many.
    pub fn with_field(mut self, field: &str) -> Result<Self, SearchError> {
        self.check_part(field)?;
        let parts = field.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let (name, value) = parts.ok_or_else(|| SearchError::Field(shortened(field)))?;
        self.fields.push((name.to_owned(), value.to_owned()));
        Ok(self)
    }

    /// In this order, from this place on.
    #[must_use]
    pub fn in_order(mut self, order: Order, after: Option<&Cursor>) -> Self {
        self.order = order;
        if let Some(after) = after {
            let Range { start, end } = self.times;
            self.times = match order {
                Order::Newest => start..end.min(after.time.saturating_add(1)),
                Order::Oldest => start.max(after.time)..end,
            };
        }
        self.after = after.and_then(|after| after.key(order));
        self
    }

    pub(super) fn is_after_cursor(&self, key: &Key) -> bool {
        self.after.as_ref().is_none_or(|after| after < key)
    }

    fn check_part(&self, part: &str) -> Result<(), SearchError> {
        if self.words.len() + self.fields.len() >= MOST_PARTS {
            return Err(SearchError::TooMany);
        }
        if part.len() > MAX_WORD_BYTES { Err(SearchError::TooLong(shortened(part))) } else { Ok(()) }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(32).collect()
}
