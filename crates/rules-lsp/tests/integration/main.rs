//! The language server of rules from outside.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod grammar;
mod session;
