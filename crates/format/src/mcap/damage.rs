//! The damaged parts of a file that was read in part.

use super::records::FileDamage;
use std::{collections::BTreeMap, fmt};

/// Topics that a message about damage names.
const MAX_NAMED_TOPICS: usize = 10;

/// Damaged parts of a file, which were skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Number of damaged chunks.
    pub bad_chunks: u64,
    /// Number of all chunks.
    pub chunks: u64,
    /// Messages in damaged chunks, by topic.
    pub messages: BTreeMap<String, u64>,
    /// Messages of channels that only damaged chunks describe.
    pub unknown: u64,
    /// Damaged chunks that no index counts the messages of.
    pub uncounted: u64,
    /// Byte after the last complete record, if the file ends early.
    pub cut: Option<u64>,
    /// Whether all data precedes the cut.
    pub is_data_complete: bool,
    /// Whether records can be changed without notice.
    pub is_doubtful: bool,
    /// The first error.
    pub why: String,
}

impl Damage {
    /// Describes the damage that was found; `None` if there is none.
    pub(super) fn new(
        found: FileDamage,
        messages: BTreeMap<String, u64>,
        unknown: u64,
        uncounted: u64,
    ) -> Option<Self> {
        let (cut, is_doubtful) = (found.cut, found.is_doubtful());
        let why = found.why?;
        Some(Self {
            bad_chunks: found.bad_chunks.len() as u64,
            chunks: found.chunks,
            messages,
            unknown,
            uncounted,
            cut: cut.map(|(at, _)| at),
            is_data_complete: cut.is_none_or(|(_, is_data_complete)| is_data_complete),
            is_doubtful,
            why,
        })
    }

    /// Whether messages are lost.
    pub fn is_loss(&self) -> bool {
        self.bad_chunks > 0 || self.unknown > 0 || self.is_doubtful || !self.is_data_complete
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "damaged ({})", self.why)?;
        if !self.is_loss() {
            return to.write_str(": all messages are intact");
        }
        if self.is_doubtful {
            to.write_str(
                ": any message can be changed, because no damaged chunk explains the wrong checksum",
            )?;
        }
        if let Some(cut) = self.cut.filter(|_| !self.is_data_complete) {
            write!(to, ": the file ends in the record at byte {cut}, later messages are lost")?;
        }
        if self.bad_chunks > 0 {
            write!(to, ": {} of {} chunks skipped", self.bad_chunks, self.chunks)?;
            if self.uncounted > 0 {
                write!(to, ", {} of them with an unknown number of messages", self.uncounted)?;
            }
        }
        let known: u64 = self.messages.values().sum();
        if known + self.unknown > 0 {
            write!(to, ", {} messages lost", known + self.unknown)?;
            let named = self.messages.iter().take(MAX_NAMED_TOPICS);
            let named: Vec<_> = named.map(|(topic, messages)| format!("{topic} {messages}")).collect();
            let more = if self.messages.len() > MAX_NAMED_TOPICS { ", …" } else { "" };
            if !named.is_empty() {
                write!(to, " ({}{more})", named.join(", "))?;
            }
        }
        Ok(())
    }
}
