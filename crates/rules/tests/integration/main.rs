//! Rules from outside.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod clocks;
mod common;
mod compile;
mod editor;
mod evaluators;
mod fingerprint;
mod format;
mod gaps;
mod guide;
mod hostile;
mod joins;
mod limits;
mod memory;
mod naive;
mod random;
mod semantics;
