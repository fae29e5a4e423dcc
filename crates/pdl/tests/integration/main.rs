//! The compiler of PDL from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod common;
mod compatibility;
mod corpus;
mod diagnostics;
mod enums;
mod error_docs;
mod format;
mod format_properties;
mod growth;
mod hostile;
mod limits;
mod summary;
mod words;
