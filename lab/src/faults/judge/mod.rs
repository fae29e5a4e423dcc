//! Whether a scenario was survived: samples, memory and reports of health.

pub mod account;
pub mod numbers;
pub mod outcome;
pub mod reader;
pub mod union;
pub mod watch;
