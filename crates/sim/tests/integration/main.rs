//! Simulations from seeds, and models of which each state is visited.
//!
//! `oasis_sim` replaces functions of the C library in the whole program; threads that simulate no machine get the system's answer.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod model;
mod relaying_dacs;
mod seeds;
mod several_dacs;
