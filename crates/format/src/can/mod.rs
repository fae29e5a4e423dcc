//! Frames of CAN by databases (DBC): logs of candump and live buses have the same signals.
//!
//! `dbc` parses a database, `signal` the value of a signal, and `column` describes its values.
//!
//! ```
//! use oasis_format::{can::Database, columns::Cell};
//!
//! let text = b"BO_ 291 Engine: 2 ECU\n SG_ Speed : 0|16@1+ (0.25,0) [0|16383.75] \"rpm\" ECU\n";
//! let database = Database::parse(text)?;
//! let engine = &database.messages[0];
//! assert_eq!(engine.value(&engine.signals[0], &[0x10, 0x27]), Cell::Real(2_500.0));
//! # Ok::<(), oasis_format::can::BadDatabase>(())
//! ```

mod column;
mod dbc;
mod signal;

pub use column::signal_column;
pub use dbc::{BadDatabase, Database, MessageDescription, Selection, Signal, SignalForm};
