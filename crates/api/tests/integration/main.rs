//! The API from outside, without processes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod matrix;
mod rules;
