//! Queries of archives that are written here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod conditions;
mod duckdb;
mod logic;
mod plant;
