//! Alarms from outside: what is kept, shown and sent, also after crashes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod actions;
mod bounds;
mod crashes;
mod kill;
mod messages;
mod moves;
mod opening;
mod recorded;
mod relayed;
mod support;
mod views;
