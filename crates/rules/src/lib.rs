//! The language of rules: alarms, events, derived instances and checks over the samples of a system.

mod ast;
mod bound;
mod code;
mod compile;
mod evaluate;
mod explain;
mod format;
mod lexer;
mod parser;
pub mod program;
mod unit;

pub use code::{Code, Diagnostic};
pub use compile::{Report, compile};
pub use evaluate::{Binding, Engine, Event, EventKind, InstanceId, RESTART, Rows, Standing};
pub use format::format;
pub use program::Program;
