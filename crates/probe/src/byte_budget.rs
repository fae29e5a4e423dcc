//! Limit of the bytes of batches that a node sends in a second, for slow links.

use std::time::{Duration, Instant};

/// Time for which unused bytes are kept: a node that was idle sends no more than this at once.
const MAX_UNUSED_TIME: Duration = Duration::from_millis(100);

/// Bytes that may be sent. A batch of any size may go while some are left, and the next ones wait for its excess.
#[derive(Debug, Clone)]
pub struct ByteBudget {
    /// Bytes a second; without it there is no limit.
    rate: Option<f64>,
    /// Negative while what was sent exceeds the rate.
    left: f64,
    counted: Option<Instant>,
}

impl ByteBudget {
    /// Creates a budget of this many bytes a second, at least 1.
    pub fn new(rate: Option<u64>) -> Self {
        Self { rate: rate.map(|rate| rate.max(1) as f64), left: 0.0, counted: None }
    }

    /// Returns how long to wait before the next batch.
    pub fn wait(&mut self, now: Instant) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let passed =
            self.counted.replace(now).map_or(MAX_UNUSED_TIME, |before| now.saturating_duration_since(before));
        self.left = (self.left + rate * passed.as_secs_f64()).min(rate * MAX_UNUSED_TIME.as_secs_f64());
        if self.left > 0.0 {
            return Duration::ZERO;
        }
        // Rounded up: a node that wakes too early would wait again.
        Duration::from_secs_f64((-self.left / rate).min(60.0)) + Duration::from_millis(1)
    }

    /// Notes a batch that is sent. Returns whether another one may go at once.
    pub fn spend(&mut self, bytes: usize) -> bool {
        if self.rate.is_some() {
            self.left -= bytes as f64;
        }
        self.rate.is_none() || self.left > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_rate_everything_may_go() {
        let mut budget = ByteBudget::new(None);
        assert!(budget.spend(usize::MAX));
        assert_eq!(budget.wait(Instant::now()), Duration::ZERO);
    }

    #[test]
    fn over_a_second_as_many_bytes_go_as_the_rate_says() {
        let (mut budget, began) = (ByteBudget::new(Some(10_000)), Instant::now());
        let (mut now, mut sent) = (began, 0);
        while now < began + Duration::from_secs(10) {
            let wait = budget.wait(now);
            if wait.is_zero() {
                budget.spend(300);
                sent += 300;
            } else {
                now += wait;
            }
        }
        assert!((99_000..=101_500).contains(&sent), "{sent}");
    }

    #[test]
    fn a_batch_above_the_rate_goes_and_the_next_one_waits_for_it() {
        let (mut budget, now) = (ByteBudget::new(Some(1_000)), Instant::now());
        assert_eq!(budget.wait(now), Duration::ZERO);
        assert!(!budget.spend(5_000));
        let wait = budget.wait(now);
        assert!(wait > Duration::from_millis(4_800) && wait < Duration::from_secs(5), "{wait:?}");
        assert_eq!(budget.wait(now + wait), Duration::ZERO);
    }

    #[test]
    fn an_idle_node_keeps_a_tenth_of_a_second() {
        let (mut budget, now) = (ByteBudget::new(Some(1_000)), Instant::now());
        budget.wait(now);
        assert_eq!(budget.wait(now + Duration::from_secs(60)), Duration::ZERO);
        assert!(budget.spend(99) && !budget.spend(1));
    }
}
