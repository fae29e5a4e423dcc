//! The directory of DACs from outside.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod directory;
mod liveness;
