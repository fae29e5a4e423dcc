//! Pauses between attempts.

use std::time::Duration;

/// Delay after the first failure.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
/// Upper bound of the delay.
const MAX_BACKOFF: Duration = Duration::from_secs(300);

/// The pause after this many failures in a row, at least one: each doubles it. A random part of it, at least a half, lest many wait for the same moment.
pub fn pause(failures: u32) -> Duration {
    let doubled = MIN_BACKOFF.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(MAX_BACKOFF);
    doubled.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_up_to_five_minutes() {
        for (failures, most) in [(0, 1), (1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (u32::MAX, 300)] {
            let most = Duration::from_secs(most);
            let pause = pause(failures);
            assert!(pause >= most / 2 && pause <= most, "{failures}: {pause:?}");
        }
    }
}
