//! The language server of PDL.

mod common;
mod grammar;
mod hostile;
mod session;
