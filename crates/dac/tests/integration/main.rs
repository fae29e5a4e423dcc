//! The DAC from outside, without processes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod demand;
mod kept_settings;
mod local_node;
mod model;
mod protected_datagrams;
mod session;
