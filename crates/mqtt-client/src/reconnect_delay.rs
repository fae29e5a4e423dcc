//! Pauses between attempts to connect.

use std::time::Duration;

/// Pause before the second attempt to connect; each further one doubles it.
const MIN_RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Longest pause between two attempts.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(30);

/// The pause before the next attempt.
#[derive(Debug, Clone, Copy)]
pub struct ReconnectDelay(Duration);

impl Default for ReconnectDelay {
    fn default() -> Self {
        Self(MIN_RECONNECT_DELAY)
    }
}

impl ReconnectDelay {
    /// Returns the pause after a connection that has ended. `was_accepted` tells whether the broker had accepted it.
    pub fn after(&mut self, was_accepted: bool) -> Duration {
        let delay = if was_accepted { MIN_RECONNECT_DELAY } else { self.0 };
        self.0 = (delay * 2).min(MAX_RECONNECT_DELAY);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_until_a_broker_accepts_the_connection() {
        let mut delay = ReconnectDelay::default();
        let pauses: Vec<u64> = (0..7).map(|_| delay.after(false).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!((delay.after(true).as_secs(), delay.after(false).as_secs()), (1, 2));
    }
}
