//! Activity of a shard in the last second, from its counters before and after.

use oasis_dac::ShardFigures;
use std::time::Duration;

/// Figures of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Processor time, as a share of one core.
    pub cpu: f64,
    /// Bytes written a second.
    pub bytes: f64,
    /// Wakeups a second.
    pub wakeups: f64,
    /// Mean time from ready to written.
    pub lag: Duration,
}

impl Rates {
    /// Returns what happened in `elapsed`. Counters that decreased belong to another shard with the same number.
    pub fn between(before: &ShardFigures, after: &ShardFigures, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let before = if after.wakeups < before.wakeups { &ShardFigures::default() } else { before };
        let deliveries =
            u32::try_from(after.deliveries.saturating_sub(before.deliveries)).unwrap_or(u32::MAX);
        Self {
            // One thread: more than a core only shows that both times were not taken at once.
            cpu: (after.cpu.saturating_sub(before.cpu).as_secs_f64() / seconds).min(1.0),
            bytes: after.bytes.saturating_sub(before.bytes) as f64 / seconds,
            wakeups: (after.wakeups - before.wakeups) as f64 / seconds,
            lag: after.lag.saturating_sub(before.lag).checked_div(deliveries).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_differences_over_time_and_begin_anew_with_another_shard() {
        let millis = Duration::from_millis;
        let before = ShardFigures { bytes: 100, wakeups: 10, cpu: millis(50), ..ShardFigures::default() };
        let after = ShardFigures {
            bytes: 300,
            wakeups: 20,
            cpu: millis(550),
            deliveries: 4,
            lag: millis(8),
            ..ShardFigures::default()
        };
        let rates = Rates::between(&before, &after, millis(2_000));
        assert_eq!(rates, Rates { cpu: 0.25, bytes: 100.0, wakeups: 5.0, lag: millis(2) });
        let young = ShardFigures { bytes: 8, wakeups: 2, ..ShardFigures::default() };
        assert_eq!(Rates::between(&after, &young, millis(1_000)).bytes, 8.0);
        assert_eq!(Rates::between(&after, &after, Duration::ZERO), Rates::default());
        assert_eq!(Rates::between(&before, &after, Duration::ZERO).cpu, 1.0, "a thread has one core");
    }
}
