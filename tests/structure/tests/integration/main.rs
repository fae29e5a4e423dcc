//! How the parts of this repository depend on each other, and how new ones become a part of it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod code_graph;
mod commit_subjects;
mod crate_order;
mod import_cycles;
mod offline_crates;
mod one_version;
mod plain_names;
mod published_crates;
mod recipes;
mod test_binaries;
