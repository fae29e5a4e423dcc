//! Tests of the dependencies between parts of this repository, and of the steps by which new ones become a part of it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod bounds;
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
