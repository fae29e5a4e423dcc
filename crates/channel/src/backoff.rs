//! Backoff of a node before it connects again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pause after the first failed attempt.
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
/// Upper bound of the pause, which doubles: a DAC that is back has its nodes again within 3 s.
const MAX_BACKOFF: Duration = Duration::from_secs(1);
/// A connection that lasted longer has worked: the next attempt begins with the first pause.
const MIN_UPTIME: Duration = Duration::from_millis(200);

/// Backoff between attempts to reach a DAC: 50 ms, then doubling up to 1 s.
#[derive(Debug, Clone)]
pub struct Backoff {
    pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { pause: INITIAL_BACKOFF }
    }
}

impl Backoff {
    /// Returns the pause after an attempt whose connection lasted `connected`; zero if it failed or was refused.
    pub fn after(&mut self, connected: Duration) -> Duration {
        if connected > MIN_UPTIME {
            self.pause = INITIAL_BACKOFF;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(MAX_BACKOFF);
        jittered(pause)
    }

    /// Returns the pause before an attempt to reach another DAC, after an attempt like that of [`Backoff::after`].
    pub fn before_another(&mut self, connected: Duration) -> Duration {
        if connected > MIN_UPTIME {
            self.pause = INITIAL_BACKOFF;
        }
        jittered(INITIAL_BACKOFF)
    }
}

/// Adds or subtracts up to a quarter, so that a hundred nodes do not reconnect in the same millisecond.
fn jittered(pause: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let sixteenths = 12 + now.subsec_micros() % 9;
    pause * sixteenths / 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(pause: Duration, milliseconds: u64) -> bool {
        let quarter = Duration::from_millis(milliseconds) / 4;
        (3 * quarter..=5 * quarter).contains(&pause)
    }

    #[test]
    fn pauses_grow_up_to_a_bound_and_restart_after_a_connection_that_lasted() {
        let mut backoff = Backoff::default();
        for milliseconds in [50, 100, 200, 400, 800, 1_000, 1_000] {
            let pause = backoff.after(Duration::from_millis(100));
            assert!(is_about(pause, milliseconds), "{pause:?} instead of {milliseconds} ms");
        }
        assert!(is_about(backoff.after(Duration::from_millis(300)), 50));
        assert!(is_about(backoff.after(Duration::ZERO), 100));
        assert!(is_about(backoff.before_another(Duration::ZERO), 50));
        assert!(is_about(backoff.after(Duration::ZERO), 200));
        assert!(is_about(backoff.before_another(Duration::from_millis(300)), 50));
        assert!(is_about(backoff.after(Duration::ZERO), 50));
    }
}
