//! The language of rules: alarms, events, derived instances and checks over the samples of a system.
//!
//! Text becomes a [`Program`] in three steps: tokens (`lexer`), declarations (`parser`), names, types and units looked up (`compile`). A [`Report`] has all
//! errors, and the rules without errors. An [`Engine`] evaluates a program over [`Rows`]: the samples of an instance in columns, which a [`Binding`] takes
//! from native batches. The crate reads no files and asks no clock, so the same samples give the same [`Event`]s.
//!
//! ```
//! use oasis_rules::{Engine, EventKind, RESTART, Rows, compile};
//! use oasis_wire::schema::{Metric, MetricType, ProbeType};
//!
//! let metrics = vec![Metric::new("temperature", MetricType::Real64)];
//! let uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse()?;
//! let pump = ProbeType { name: "Pump".into(), uuid, version: "1.0".into(), doc: None, rate: None, metrics };
//!
//! let text = "input pump = \"*/pump\" : Pump; alarm Hot { raise pump.temperature > 95; }";
//! let report = compile("hot.rules".as_ref(), text, &[pump.into()]);
//! assert!(report.is_ok());
//!
//! let mut engine = Engine::new(report.program);
//! let plant = engine.add(0).ok_or("too many instances")?;
//! // Two samples, a second apart, after nothing.
//! let rows = Rows {
//!     times: vec![0, 1_000_000_000],
//!     sequences: vec![1, 2],
//!     missing: vec![RESTART, 0],
//!     columns: vec![vec![80.0, 99.0]],
//!     origins: vec![0, 1],
//! };
//! let mut events = Vec::new();
//! engine.batch(plant, 0, rows, &mut |_, event| events.push((event.kind, event.sequence)));
//! assert_eq!(events, [(EventKind::Raised, Some(2))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ast;
mod bound;
mod code;
mod compile;
mod display;
mod editor;
mod evaluate;
mod explain;
mod fingerprint;
mod format;
mod lexer;
mod limits;
mod message;
mod parser;
mod partner;
pub mod program;
mod state;
mod unit;
mod witness;

pub use code::{Code, Diagnostic};
pub use compile::{DeclaredAlarm, Report, compile};
pub use display::displayed;
pub use editor::{
    Completion, CompletionKind, Completions, EditorCatalog, Hover, KnownInstance, OutlineItem, complete,
    hover, outline,
};
pub use evaluate::{
    Binding, CLOCK_VALIDITY_NANOS, ClockOffset, Derived, Engine, Evaluated, Event, EventKind, Group,
    GroupFigures, Instance, InstanceId, JOIN_WAIT_NANOS, RESTART, Rows, SavedState, Standing,
};
pub use format::format;
pub use limits::{Limits, limits};
pub use message::{Placeholder, fill, readable};
pub use program::Program;
pub use state::{FileState, Loaded, LoadedFile, LoadedRule, Problem, RulesState, TextRange};
