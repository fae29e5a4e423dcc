//! Test runs: times with a name. Samples belong to one by their time alone; a pinned one keeps them from retention.

use crate::{
    catalogue::error::CatalogueError,
    text::{BadText, check_lines, check_name},
};
use oasis_wire::quantity::Nanos;
use serde::Serialize;
use std::ops::Range;

/// Most test runs of an archive.
pub const MOST_TEST_RUNS: u64 = 10_000;
/// Longest name, in bytes.
pub const LONGEST_NAME: usize = 256;
/// Longest notes, in bytes.
pub const LONGEST_NOTES: usize = 16 * 1024;
/// Most tags of a test run.
pub const MOST_TAGS: usize = 32;
/// Longest tag, in bytes.
pub const LONGEST_TAG: usize = 64;

/// A test run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestRun {
    /// Its number: names may be anything, and may change.
    pub id: u64,
    /// No other test run has it.
    pub name: String,
    /// When it was started, on the DAC's clock.
    pub started: Nanos,
    /// When it was stopped; none while it goes on.
    pub stopped: Option<Nanos>,
    /// What people want to remember of it.
    pub notes: String,
    /// In alphabetical order, none twice.
    pub tags: Vec<String>,
    /// Whether retention leaves its samples alone.
    pub pinned: bool,
    /// The principal that started it.
    pub who: String,
}

impl TestRun {
    /// From when to when its samples are, nanoseconds since 1970; up to `now` while it goes on.
    pub fn span(&self, now: Nanos) -> Range<u64> {
        self.started.0..self.stopped.unwrap_or(now).0
    }
}

/// What is said of a test run at its start, or later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its notes.
    pub notes: String,
    /// Its tags, in any order.
    pub tags: Vec<String>,
    /// Whether retention leaves its samples alone.
    pub pinned: bool,
}

impl Description {
    /// Refuses what no text of a test run may have.
    pub fn check(&mut self) -> Result<()> {
        check_name("name", &self.name, LONGEST_NAME)?;
        check_lines("notes", &self.notes, LONGEST_NOTES)?;
        self.tags.sort_unstable();
        self.tags.dedup();
        if self.tags.len() > MOST_TAGS {
            return Err(TestRunError::TooManyTags(self.tags.len()));
        }
        Ok(self.tags.iter().try_for_each(|tag| check_name("tags", tag, LONGEST_TAG))?)
    }
}

impl From<TestRun> for Description {
    fn from(TestRun { name, notes, tags, pinned, .. }: TestRun) -> Self {
        Self { name, notes, tags, pinned }
    }
}

/// Which test runs to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct TestRunFilter {
    /// Only those with smaller numbers: what an earlier list has not shown.
    pub before: Option<u64>,
    /// Only the one with this name.
    pub name: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
}

/// Why a test run is not started, changed or shown.
#[derive(Debug, thiserror::Error)]
pub enum TestRunError {
    /// A text is not taken.
    #[error("{0}")]
    Text(#[from] BadText),
    /// More tags than allowed.
    #[error("a test run has {MOST_TAGS} tags at most, and these are {0}")]
    TooManyTags(usize),
    /// More test runs than allowed.
    #[error("there are {MOST_TEST_RUNS} test runs, as many as allowed: delete one first")]
    TooMany,
    /// Another one has the name.
    #[error("another test run has the name {0:?}: give this one a name of its own")]
    Taken(String),
    /// None has this number.
    #[error("no test run has the number {0}")]
    Unknown(u64),
    /// None has this name.
    #[error("no test run has the name {0:?}")]
    UnknownName(String),
    /// It has been stopped before.
    #[error("test run {0:?} was stopped already")]
    Stopped(String),
    /// The catalogue.
    #[error("{0}")]
    Catalogue(#[from] CatalogueError),
}

impl From<rusqlite::Error> for TestRunError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Catalogue(error.into())
    }
}

pub(crate) type Result<T> = std::result::Result<T, TestRunError>;
