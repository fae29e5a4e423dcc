//! Ready-made probes from outside.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod reference;
mod settings;
