//! The one vocabulary of loss: one word for each reason why samples are missing.
//!
//! Ledgers, archives, doors, the HTTP API, SQL, exports and the page all use [`Cause`]. `docs/reference/loss.md`, the TypeScript and the Python
//! package are generated from [`TABLE`] (`OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::`).
//!
//! ```
//! use oasis_wire::loss::Cause;
//!
//! let cause: Cause = serde_json::from_str("\"ring_full\"")?;
//! assert_eq!((cause, cause.word()), (Cause::RingFull, "ring_full"));
//! // Archives and clients of earlier releases use former names.
//! assert_eq!(Cause::from_word("archive_behind"), Some(Cause::ArchiveLag));
//! # Ok::<(), serde_json::Error>(())
//! ```

use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Why samples are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// `ring_full`
    RingFull,
    /// `spool_full`
    SpoolFull,
    /// `invalid_row`
    InvalidRow,
    /// `not_taken`
    NotTaken,
    /// `kept_back`
    KeptBack,
    /// `node_dropped`
    NodeDropped,
    /// `node_restart`
    NodeRestart,
    /// `network`
    Network,
    /// `before_epoch`
    BeforeEpoch,
    /// `other_dac`
    OtherDac,
    /// `epoch_changed`
    EpochChanged,
    /// `log_retention`
    LogRetention,
    /// `latest`
    Latest,
    /// `unreadable`
    Unreadable,
    /// `archive_lag`
    ArchiveLag,
    /// `archive_stopped`
    ArchiveStopped,
    /// `disk_full`
    DiskFull,
    /// `disk_error`
    DiskError,
    /// `archive_retention`
    ArchiveRetention,
    /// `copy_lag`
    CopyLag,
    /// `copy_refused`
    CopyRefused,
    /// `damaged`
    Damaged,
    /// `read_error`
    ReadError,
    /// `not_recorded`
    NotRecorded,
    /// `unexplained`
    Unexplained,
}

/// The place where samples were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossPlace {
    /// In the node.
    Node,
    /// Between node and DAC.
    Channel,
    /// In the DAC.
    Dac,
    /// In the archive.
    Archive,
    /// In the copy to NATS JetStream; the topic log and the archive may have them.
    Copy,
    /// On the way to one reader; other readers may have them.
    Reader,
    /// Unknown.
    Unknown,
}

impl LossPlace {
    /// Its name in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Channel => "channel",
            Self::Dac => "DAC",
            Self::Archive => "archive",
            Self::Copy => "copy",
            Self::Reader => "reader",
            Self::Unknown => "unknown",
        }
    }
}

/// A cause with its properties.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The cause.
    pub cause: Cause,
    /// Its word in JSON, SQL, exports and messages.
    pub word: &'static str,
    /// Words that earlier releases used for it, still read from clients, recordings and archives.
    pub former: &'static [&'static str],
    /// The place where samples were lost.
    pub place: LossPlace,
    /// Whether the loss is unwanted. A flight recorder keeps samples back on purpose.
    pub is_loss: bool,
    /// One sentence for people, without its full stop.
    pub meaning: &'static str,
}

const fn entry(
    cause: Cause,
    word: &'static str,
    former: &'static [&'static str],
    place: LossPlace,
    is_loss: bool,
    meaning: &'static str,
) -> Entry {
    Entry { cause, word, former, place, is_loss, meaning }
}

/// All causes, in the order in which a sample meets them.
pub const TABLE: [Entry; 25] = {
    use Cause::{
        ArchiveLag, ArchiveRetention, ArchiveStopped, BeforeEpoch, CopyLag, CopyRefused, Damaged, DiskError,
        DiskFull, EpochChanged, InvalidRow, KeptBack, Latest, LogRetention, Network, NodeDropped,
        NodeRestart, NotRecorded, NotTaken, OtherDac, ReadError, RingFull, SpoolFull, Unexplained,
        Unreadable,
    };
    [
        entry(RingFull, "ring_full", &["dropped_ring"], LossPlace::Node, true, "the probe's ring was full"),
        entry(
            SpoolFull,
            "spool_full",
            &["dropped_spool"],
            LossPlace::Node,
            true,
            "the node's spool was full, or its file is damaged",
        ),
        entry(
            InvalidRow,
            "invalid_row",
            &["invalid"],
            LossPlace::Node,
            true,
            "their rows did not fit their schema, or were too long for the ring or a batch",
        ),
        entry(
            NotTaken,
            "not_taken",
            &[],
            LossPlace::Node,
            true,
            "the node did not call its probe for a second or more: it was stopped, or its host was busy",
        ),
        entry(
            KeptBack,
            "kept_back",
            &[],
            LossPlace::Node,
            false,
            "the probe's flight recorder kept them back because no trigger fired near them",
        ),
        entry(
            NodeDropped,
            "node_dropped",
            &[],
            LossPlace::Node,
            true,
            "the node did not take or dropped them; which of its causes it was is not known",
        ),
        entry(
            NodeRestart,
            "node_restart",
            &[],
            LossPlace::Node,
            true,
            "the node's process ended before it could send them",
        ),
        entry(
            Network,
            "network",
            &[],
            LossPlace::Channel,
            true,
            "they were sent as datagrams, or by a device to its gateway, and did not arrive",
        ),
        entry(
            BeforeEpoch,
            "before_epoch",
            &[],
            LossPlace::Dac,
            true,
            "they were delivered to an earlier run of the DAC, or to another DAC before the node came here",
        ),
        entry(
            OtherDac,
            "other_dac",
            &[],
            LossPlace::Dac,
            false,
            "they were delivered to another DAC while the node was there",
        ),
        entry(
            EpochChanged,
            "epoch_changed",
            &[],
            LossPlace::Dac,
            true,
            "the reader's position belongs to an earlier run of the DAC, and no archive has its samples",
        ),
        entry(
            LogRetention,
            "log_retention",
            &[],
            LossPlace::Reader,
            true,
            "the topic log had evicted them when the reader asked for them",
        ),
        entry(Latest, "latest", &[], LossPlace::Reader, false, "the reader asked for the newest sample only"),
        entry(Unreadable, "unreadable", &[], LossPlace::Reader, true, "their bytes do not fit their schema"),
        entry(
            ArchiveLag,
            "archive_lag",
            &["archive_behind"],
            LossPlace::Archive,
            true,
            "the topic log evicted them before the archive had read them",
        ),
        entry(
            ArchiveStopped,
            "archive_stopped",
            &[],
            LossPlace::Archive,
            true,
            "the archive was stopped, and the topic log evicted them meanwhile",
        ),
        entry(
            DiskFull,
            "disk_full",
            &[],
            LossPlace::Archive,
            true,
            "the archive's disk was full, and the topic log evicted them meanwhile",
        ),
        entry(
            DiskError,
            "disk_error",
            &[],
            LossPlace::Archive,
            true,
            "the archive's disk failed, and the topic log evicted them meanwhile",
        ),
        entry(
            ArchiveRetention,
            "archive_retention",
            &[],
            LossPlace::Archive,
            true,
            "the archive evicted them by its retention rules",
        ),
        entry(
            CopyLag,
            "copy_lag",
            &[],
            LossPlace::Copy,
            true,
            "the topic log evicted them before NATS JetStream had acknowledged a copy",
        ),
        entry(
            CopyRefused,
            "copy_refused",
            &[],
            LossPlace::Copy,
            true,
            "NATS JetStream takes no message of this size",
        ),
        entry(
            Damaged,
            "damaged",
            &[],
            LossPlace::Archive,
            true,
            "their bytes on the disk are not the bytes that were written",
        ),
        entry(
            ReadError,
            "read_error",
            &[],
            LossPlace::Archive,
            true,
            "the disk failed to read them; another attempt may succeed",
        ),
        entry(
            NotRecorded,
            "not_recorded",
            &[],
            LossPlace::Channel,
            false,
            "the recording that is replayed does not contain them",
        ),
        entry(
            Unexplained,
            "unexplained",
            &["unknown"],
            LossPlace::Unknown,
            true,
            "no part of OASIS accounts for them: please report this",
        ),
    ]
};

impl Cause {
    /// Its row of the table.
    pub const fn entry(self) -> &'static Entry {
        // The table is in the order of the enum, which a test checks.
        &TABLE[self as usize]
    }

    /// Its word in JSON, SQL, exports and messages.
    pub const fn word(self) -> &'static str {
        self.entry().word
    }

    /// Whether the ledger of an instance uses it: samples that never reached the topic log.
    pub const fn is_of_ledger(self) -> bool {
        matches!(
            self,
            Self::RingFull
                | Self::SpoolFull
                | Self::InvalidRow
                | Self::KeptBack
                | Self::NodeRestart
                | Self::Network
                | Self::BeforeEpoch
                | Self::OtherDac
                | Self::NotRecorded
                | Self::Unexplained
        )
    }

    /// The cause with this word, or with this former word.
    pub fn from_word(word: &str) -> Option<Self> {
        let is_meant = |entry: &&Entry| entry.word == word || entry.former.contains(&word);
        TABLE.iter().find(is_meant).map(|entry| entry.cause)
    }
}

/// Reads a cause of another release or of a foreign recording: an unknown word becomes [`Cause::Unexplained`].
///
/// # Errors
/// If the value is not a string.
pub fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Cause, D::Error> {
    let word = alloc::borrow::Cow::<str>::deserialize(from)?;
    Ok(Cause::from_word(&word).unwrap_or(Cause::Unexplained))
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;
        impl serde::de::Visitor<'_> for Word {
            type Value = Cause;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a cause of loss: ")?;
                TABLE.iter().enumerate().try_for_each(|(at, entry)| {
                    write!(f, "{}{}", if at == 0 { "" } else { ", " }, entry.word)
                })
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Cause, E> {
                Cause::from_word(word)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(word), &self))
            }
        }
        deserializer.deserialize_str(Word).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, string::ToString};

    #[test]
    fn each_cause_has_its_row_and_each_word_means_one_cause() {
        for (at, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.cause as usize, at, "{}", entry.word);
            assert_eq!(Cause::from_word(entry.word), Some(entry.cause));
            assert!(entry.former.iter().all(|word| Cause::from_word(word) == Some(entry.cause)));
        }
        let words: BTreeSet<_> = TABLE
            .iter()
            .flat_map(|entry| [entry.word].into_iter().chain(entry.former.iter().copied()))
            .collect();
        assert_eq!(words.len(), TABLE.iter().map(|entry| 1 + entry.former.len()).sum::<usize>());
    }

    #[test]
    fn an_unknown_cause_is_refused_with_a_list_of_the_known_ones() {
        let error = serde_json::from_str::<Cause>("\"rain\"").unwrap_err().to_string();
        assert!(error.contains("rain") && error.contains("ring_full, spool_full"), "{error}");
        assert_eq!(serde_json::to_string(&Cause::ArchiveLag).unwrap(), "\"archive_lag\"");
    }
}
