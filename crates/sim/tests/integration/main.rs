//! DACs, a node and a relay, step by step: by random ways from seeds, and in each state of a model.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod model;
mod relaying_dacs;
mod several_dacs;

/// Whether `OASIS_SIM_FULL` asks for all states and seeds of docs/evidence/failover.md: a minute and a half, instead of seconds.
fn is_full() -> bool {
    std::env::var_os("OASIS_SIM_FULL").is_some()
}
