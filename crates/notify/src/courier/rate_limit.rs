//! The limit of messages a minute.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

/// Limits the messages of a minute by the generic cell rate algorithm: after a quiet minute all at once, then one in each equal part.
#[derive(Debug)]
pub struct RateLimit {
    interval: Duration,
    /// The longest time from now to `full_at`.
    tolerance: Duration,
    /// When the whole minute is available again.
    full_at: Option<Instant>,
}

impl RateLimit {
    /// Creates a limit of `most` messages a minute.
    pub fn per_minute(most: NonZeroU32) -> Self {
        let interval = Duration::from_secs(60) / most.get();
        Self { interval, tolerance: interval * (most.get() - 1), full_at: None }
    }

    /// Returns the time until the next message is permitted; zero if one is now.
    pub fn wait(&self, now: Instant) -> Duration {
        let ahead = self.full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        ahead.saturating_sub(self.tolerance)
    }

    /// Counts a message.
    pub fn take(&mut self, now: Instant) {
        self.full_at = Some(self.full_at.map_or(now, |at| at.max(now)) + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_equal_intervals() {
        let start = Instant::now();
        let mut limit = RateLimit::per_minute(NonZeroU32::new(30).unwrap());
        for _ in 0..30 {
            assert_eq!(limit.wait(start), Duration::ZERO);
            limit.take(start);
        }
        assert_eq!(limit.wait(start), Duration::from_secs(2));
        let later = start + Duration::from_secs(2);
        assert_eq!(limit.wait(later), Duration::ZERO);
        limit.take(later);
        assert_eq!(limit.wait(later), Duration::from_secs(2));
        assert_eq!(limit.wait(later + Duration::from_secs(60)), Duration::ZERO);
    }
}
