//! The language server of PDL from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod common;
mod grammar;
mod hostile;
mod session;
