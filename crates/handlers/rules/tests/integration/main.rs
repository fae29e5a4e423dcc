//! Rules in a DAC, without processes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod arrivals;
mod common;
mod homes;
mod live;
mod seeds;
mod threads;
