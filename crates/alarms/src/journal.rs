//! The journal: what happened to alarms, and results of all other rules.

use crate::EventKey;
use oasis_rules::{EventKind, Standing, program::Severity};
use oasis_wire::quantity::Nanos;

/// Declares the kinds of entries: variant, name, meaning.
macro_rules! kinds {
    ($($kind:ident $name:literal $meaning:literal,)*) => {
        /// Kind of an entry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum JournalKind {
            $(#[doc = $meaning] $kind,)*
        }

        impl JournalKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// As in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// Returns its meaning, for people.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$kind => $meaning),* }
            }
        }
    };
}

kinds! {
    Raised "raised" "An alarm was raised",
    Cleared "cleared" "The condition of an alarm is over",
    Unknown "unknown" "The condition of a rule is unknown from here on",
    Known "known" "The condition of an alarm is known again",
    Matched "matched" "An event happened, and what must follow it did",
    Violated "violated" "What must follow an event did not, or what must hold did not",
    Satisfied "satisfied" "What must hold did",
    Acknowledged "acknowledged" "An operator has acknowledged the alarm",
    Shelved "shelved" "An operator has shelved the alarm",
    Unshelved "unshelved" "A shelve has ended, by an operator or as its cause says",
    Suppressed "suppressed" "An operator has suppressed the alarm",
    Unsuppressed "unsuppressed" "An operator has ended the suppression",
    OutOfService "out_of_service" "An operator has taken the alarm out of service",
    InService "in_service" "An operator has put the alarm into service again",
    RuleRemoved "rule_removed" "The rule is gone, and the alarm with it",
    Moved "moved" "The node has gone to another DAC, and the alarm with it",
    TakenOver "taken_over" "The node has come from another DAC, and the alarm with it",
    NotificationsDropped "notifications_dropped" "A destination had too many messages waiting: its oldest ones were dropped",
    NotificationFailed "notification_failed" "A message was given up",
}

impl JournalKind {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl From<EventKind> for JournalKind {
    fn from(kind: EventKind) -> Self {
        match kind {
            EventKind::Raised => Self::Raised,
            EventKind::Cleared => Self::Cleared,
            EventKind::Matched => Self::Matched,
            EventKind::Violated => Self::Violated,
            EventKind::Satisfied => Self::Satisfied,
            EventKind::Unknown => Self::Unknown,
            EventKind::Known => Self::Known,
        }
    }
}

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry {
    /// Its number: greater for later entries.
    pub id: u64,
    /// The identity of the event, if a rule caused it.
    pub key: Option<EventKey>,
    /// When it happened, nanoseconds: on the node's clock for results of rules, otherwise on the DAC's.
    pub time: u64,
    /// When the DAC received the sample, or had the action, nanoseconds on the DAC's clock.
    pub dac_time: u64,
    /// When it was written, nanoseconds on the DAC's clock.
    pub written: u64,
    /// The rule.
    pub rule: String,
    /// The node of the instance.
    pub node: String,
    /// The instance.
    pub instance: String,
    /// Kind of the entry.
    pub kind: JournalKind,
    /// The state of the alarm after it; none for rules that are no alarms.
    pub state: Option<Standing>,
    /// Urgency of the alarm.
    pub severity: Option<Severity>,
    /// Whether the condition is known.
    pub is_known: bool,
    /// The value that was compared.
    pub value: Option<f64>,
    /// The limit that the value was compared with.
    pub limit: Option<f64>,
    /// The unit of both.
    pub unit: Option<String>,
    /// The sequence number of the sample.
    pub sequence: Option<u64>,
    /// Since when the condition has been true.
    pub since: Option<u64>,
    /// Samples that are missing, if that is why something is unknown.
    pub missing: Option<u64>,
    /// Why.
    pub cause: Option<String>,
    /// Whether the samples came too late to act on.
    pub late: bool,
    /// Principal of the action.
    pub principal: Option<String>,
    /// The operator's comment.
    pub comment: Option<String>,
}

/// Most entries of a page.
pub const MAX_PAGE_ENTRIES: usize = 1_000;

/// Which entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalFilter {
    /// That happened no earlier ([`JournalEntry::time`]).
    pub from: Option<Nanos>,
    /// That happened earlier.
    pub to: Option<Nanos>,
    /// Entries of this rule.
    pub rule: Option<String>,
    /// Entries of this node.
    pub node: Option<String>,
    /// Entries of instances with this name.
    pub instance: Option<String>,
    /// Entries of this kind.
    pub kind: Option<JournalKind>,
    /// Older than the entry with this number.
    pub after: Option<u64>,
    /// Maximum number of entries, 1 to 1,000; 0 for 1,000.
    pub most: usize,
}

/// Entries, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalPage {
    /// The entries.
    pub entries: Vec<JournalEntry>,
    /// [`JournalFilter::after`] for the next ones; none after the last one.
    pub next: Option<u64>,
}
