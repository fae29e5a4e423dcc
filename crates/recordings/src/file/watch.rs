//! Observers of a recording that is read.

use oasis_format::{input::Report, visible::Visible};
use std::path::Path;

/// A step of reading.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// A compressed file is unpacked.
    Unpack {
        /// The file.
        file: &'a Path,
        /// Bytes written so far.
        bytes: u64,
    },
    /// A file is read.
    Read {
        /// The file.
        file: &'a Path,
        /// Its position, in bytes.
        position: u64,
        /// Its size.
        total: u64,
        /// Batches found so far.
        batches: u64,
    },
    /// Segment files are read.
    Segments {
        /// The number of files read.
        done: usize,
        /// All of them.
        total: usize,
    },
}

/// A remark about a file.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// The file.
    pub file: &'a Path,
    /// The channel, field or column; none for the file.
    pub subject: Option<&'a str>,
    /// The remark.
    pub text: &'a str,
}

/// The reading was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Receives the progress of reading, and can cancel it.
pub trait Watch {
    /// Called often: it must return at once.
    fn on_step(&self, step: Step<'_>);

    /// Receives a remark about a file.
    fn on_note(&self, note: Note<'_>);

    /// Whether to stop reading.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Reports the content of a file that its samples do not have.
pub(super) fn note_report(watch: &dyn Watch, file: &Path, report: &Report) {
    for finding in report.findings.iter().filter(|finding| !finding.text.is_empty()) {
        let text = Visible(&finding.text).to_string();
        watch.on_note(Note { file, subject: finding.subject.as_deref(), text: &text });
    }
}
