//! Waits for conditions.

use anyhow::bail;
use std::{
    fmt::Display,
    thread,
    time::{Duration, Instant},
};

/// Timeout of a recovery on a busy machine.
pub const RECOVERY_TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls until there is a result; `Err` is the state so far, for the message.
pub fn until<T, S: Display>(
    what: &str,
    patience: Duration,
    mut look: impl FnMut() -> Result<T, S>,
) -> anyhow::Result<T> {
    let began = Instant::now();
    loop {
        match look() {
            Ok(seen) => return Ok(seen),
            Err(state) if began.elapsed() > patience => {
                bail!("not within {} s: {what}; last seen: {state}", patience.as_secs())
            }
            Err(_) => thread::sleep(POLL_INTERVAL),
        }
    }
}
