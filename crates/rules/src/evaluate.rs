//! Evaluates rules over samples, in columns: each part of an expression is computed for all samples of a batch at once.
//!
//! An [`Engine`] takes batches in the order of DAC time, topic and sequence number. Between two batches a frontier says up to which DAC time everything has
//! come: silence is noticed there. Nothing else is a clock, so the same batches give the same events.

mod alarm;
mod binding;
mod derive;
mod edge;
mod engine;
mod event;
mod exact;
mod expression;
mod extreme;
mod group;
mod instance;
mod kleene;
mod obligation;
mod rows;
mod silence;
mod totals;
mod window;

pub use binding::Binding;
pub use engine::{Engine, InstanceId};
pub use event::{Event, EventKind, Standing};
pub use group::{
    CLOCK_VALIDITY_NANOS, Clock, ClockOffset, Evaluated, FeedState, Group, GroupFigures, JOIN_WAIT_NANOS,
    QUEUE_BYTES,
};
pub use instance::{Derived, Instance, SavedState, State};
pub use obligation::Obligation;
pub use rows::{RESTART, Rows};
pub use totals::Totals;
pub use window::{Entry, Memory};
