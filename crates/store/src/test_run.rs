//! Test runs: times with a name. Samples belong to one by their time alone; a pinned one keeps them from retention.

use crate::{
    catalogue::error::CatalogueError,
    text::{BadText, check_lines, check_name},
};
use oasis_wire::quantity::Nanos;
use serde::Serialize;
use std::ops::Range;

/// Most test runs of an archive.
pub const MAX_TEST_RUNS: u64 = 10_000;
/// Longest name, in bytes.
pub const LONGEST_NAME: usize = 256;
/// Longest notes, in bytes.
pub const MAX_NOTES_BYTES: usize = 16 * 1024;
/// Most tags of a test run.
pub const MAX_TAGS: usize = 32;
/// Longest tag, in bytes.
pub const MAX_TAG_BYTES: usize = 64;

/// A test run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestRun {
    /// Its number: names can change.
    pub id: u64,
    /// Its unique name.
    pub name: String,
    /// When it was started, on the DAC's clock.
    pub started: Nanos,
    /// When it was stopped; `None` while it runs.
    pub stopped: Option<Nanos>,
    /// Notes of people.
    pub notes: String,
    /// In alphabetical order, without duplicates.
    pub tags: Vec<String>,
    /// Whether retention keeps its samples.
    pub pinned: bool,
    /// The principal that started it.
    pub who: String,
}

impl TestRun {
    /// Its time span, nanoseconds since 1970; up to `now` while it runs.
    pub fn span(&self, now: Nanos) -> Range<u64> {
        self.started.0..self.stopped.unwrap_or(now).0
    }
}

/// The description of a test run, set at its start or later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its notes.
    pub notes: String,
    /// Its tags, in any order.
    pub tags: Vec<String>,
    /// Whether retention keeps its samples.
    pub pinned: bool,
}

impl Description {
    /// Checks the texts of a test run.
    pub fn check(&mut self) -> Result<()> {
        check_name("name", &self.name, LONGEST_NAME)?;
        check_lines("notes", &self.notes, MAX_NOTES_BYTES)?;
        self.tags.sort_unstable();
        self.tags.dedup();
        if self.tags.len() > MAX_TAGS {
            return Err(TestRunError::TooManyTags(self.tags.len()));
        }
        Ok(self.tags.iter().try_for_each(|tag| check_name("tags", tag, MAX_TAG_BYTES))?)
    }
}

impl From<TestRun> for Description {
    fn from(TestRun { name, notes, tags, pinned, .. }: TestRun) -> Self {
        Self { name, notes, tags, pinned }
    }
}

/// A filter for test runs, which are listed newest first.
#[derive(Debug, Clone, Default)]
pub struct TestRunFilter {
    /// Only those with smaller numbers, to continue a list.
    pub before: Option<u64>,
    /// Only the one with this name.
    pub name: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
}

/// Errors of test runs.
#[derive(Debug, thiserror::Error)]
pub enum TestRunError {
    /// An invalid text.
    #[error("{0}")]
    Text(#[from] BadText),
    /// Too many tags.
    #[error("a test run has at most {MAX_TAGS} tags, got {0}")]
    TooManyTags(usize),
    /// Too many test runs.
    #[error("limit of {MAX_TEST_RUNS} test runs reached: delete one first")]
    TooMany,
    /// The name exists.
    #[error("test run {0:?} already exists: choose another name")]
    Taken(String),
    /// No such number.
    #[error("no test run with number {0}")]
    Unknown(u64),
    /// No such name.
    #[error("no test run with the name {0:?}")]
    UnknownName(String),
    /// Already stopped.
    #[error("test run {0:?} is already stopped")]
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
