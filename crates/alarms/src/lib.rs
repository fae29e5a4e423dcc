//! The alarms of a DAC.
//!
//! Rules report [`RuleEvent`]s; [`Alarms`] makes states of them that are the same for every reader, takes [`Action`]s of operators, and keeps a journal and the
//! messages that wait for delivery. A [`Round`] of events, with the checkpoints of the rules that found them, becomes durable as a whole and is shown only
//! then. So an evaluation that begins again after a crash has the effect of one evaluation.
//!
//! ```
//! use oasis_alarms::{Alarms, At, EventIdentity, EventKey, Filter, Limits, Round, RuleEvent, RuleFacts};
//! use oasis_rules::{EventKind, Standing, program::Severity};
//! use oasis_wire::quantity::Nanos;
//!
//! let directory = tempfile::tempdir()?;
//! let alarms = Alarms::open(directory.path(), Limits::default())?;
//! let facts = RuleFacts { name: "Hot".into(), severity: Severity::High, latch: false, message: None, notify: None };
//! alarms.set_rules(&[facts])?;
//!
//! let (rule, node, instance, kind) = ("Hot", "plant", "pump", EventKind::Raised);
//! let key = EventKey::new(EventIdentity { rule, node, instance, run: None, at: At::Sequence(7), kind, index: 0 });
//! let event = RuleEvent { standing: Some(Standing::Active), sequence: Some(7), ..RuleEvent::new(key, rule, (node, instance), kind) };
//! let committed = alarms.commit(Round { now: Nanos(1_000), events: vec![event.clone(), event], checkpoints: vec![] })?;
//! assert_eq!((committed.events, committed.duplicates), (1, 1));
//! assert_eq!(alarms.list(&Filter::default()).alarms[0].state, Standing::Active);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod alarm;
mod alarms;
mod chatter;
mod chatter_report;
mod checkpoint;
mod copies;
mod database;
mod draft;
mod error;
mod event;
mod handover;
mod handover_log;
mod journal;
mod limits;
mod machine;
mod memory;
mod moves;
pub mod names;
mod node_connection;
mod outbox;
mod recorded;
mod relayed;
pub mod rows;
mod standing;
mod statistics;
mod tables;
mod unknown_destinations;

pub use action::{Action, ActionError, ActionVerb, Conflict};
pub use alarm::{AlarmKey, AlarmList, AlarmView, Changes, Filter, MAX_COUNTED_RAISES};
pub use alarms::Alarms;
pub use chatter_report::Chatter;
pub use checkpoint::{Checkpoint, CheckpointKey, CommitSummary, Position, Round};
pub use copies::{CopiedDac, Copies, CopyFigures, CopyLookup};
pub use database::NAME as DATABASE;
pub use error::AlarmsError;
pub use event::{At, EventIdentity, EventKey, RuleEvent, RuleFacts};
pub use handover::{Arrival, HandedAlarm, HandedCheckpoint, Handover, HandoverPage};
pub use journal::{JournalEntry, JournalFilter, JournalKind, JournalPage};
pub use limits::Limits;
pub use node_connection::NodeConnection;
pub use outbox::{DestinationFigures, Message, MessageKind, OutboxFigures, Outcome};
pub use recorded::RecordedAlarms;
pub use relayed::{
    AlarmHop, AlarmQuestion, NotUnderstood, RelayedAlarm, RelayedAlarms, RelayedChanges, UpstreamAlarms,
    UpstreamAnswer, UpstreamRefusal, UpstreamRequest,
};
pub use statistics::Statistics;
