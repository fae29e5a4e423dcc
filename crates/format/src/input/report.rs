//! The report of an import: contents that the samples lack, and changed values.

use super::Lost;
use std::fmt;

/// The rest of a file besides its samples.
#[derive(Debug, Default)]
pub struct Report {
    /// Content that was left out, changed or renamed.
    pub findings: Vec<Finding>,
    /// Missing samples.
    pub lost: Vec<Lost>,
    /// Whether parts of the file are damaged, so that samples are lost.
    pub is_damaged: bool,
}

/// Content that was left out, changed or renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The channel, field or column; none for the file.
    pub subject: Option<String>,
    /// The number of messages, lines or values.
    pub count: u64,
    /// The number, the unit and the reason, and the remedy if there is one.
    pub text: String,
    /// Whether the samples lack something that the file has.
    pub is_loss: bool,
}

impl Finding {
    /// Returns a finding about content that the samples lack.
    pub fn loss(subject: Option<&str>, count: u64, text: impl Into<String>) -> Self {
        Self { subject: subject.map(str::to_owned), count, text: text.into(), is_loss: true }
    }

    /// Returns a finding about a change that loses nothing.
    pub fn note(subject: Option<&str>, count: u64, text: impl Into<String>) -> Self {
        Self { is_loss: false, ..Self::loss(subject, count, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Some(subject) => write!(to, "{subject}: {}", self.text),
            None => to.write_str(&self.text),
        }
    }
}

impl Report {
    /// Whether the samples have all that the file has.
    pub fn is_complete(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_loss)
    }

    /// Adds content that the samples lack; a count of zero adds nothing.
    pub(crate) fn lose(&mut self, subject: Option<&str>, count: u64, text: impl Into<String>) {
        if count > 0 {
            self.findings.push(Finding::loss(subject, count, text));
        }
    }

    /// Adds a change that loses nothing; a count of zero adds nothing.
    pub(crate) fn note(&mut self, subject: Option<&str>, count: u64, text: impl Into<String>) {
        if count > 0 {
            self.findings.push(Finding::note(subject, count, text));
        }
    }
}
