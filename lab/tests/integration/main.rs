//! The lab with real processes: small cells of experiments, and what becomes of runs.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod frizelle;
mod hosts;
mod million;
mod mueller;
mod show;
mod support;
