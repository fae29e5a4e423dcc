//! The language server of rules.

mod grammar;
mod session;
