//! The language servers from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod pdl;
mod rules;
