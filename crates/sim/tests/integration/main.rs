//! Simulations from seeds, and models of which each state is visited.
//!
//! `oasis_sim` replaces functions of the C library in the whole program; threads that simulate no machine get the system's answer.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod model;
mod relaying_dacs;
mod seeds;
mod several_dacs;

/// Whether `OASIS_SIM_FULL` asks for all states and seeds of docs/evidence/failover.md: a minute and a half, instead of seconds.
fn is_full() -> bool {
    std::env::var_os("OASIS_SIM_FULL").is_some()
}
