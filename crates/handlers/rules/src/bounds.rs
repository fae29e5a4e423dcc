//! Bounds of one round.

/// Bounds of a round. They are the same for every number of threads, and so is what it finds.
#[derive(Debug, Clone, Copy)]
pub struct RoundBounds {
    /// Approximate bound of the evaluations of one instance: samples times rules.
    pub of_instance: u64,
    /// Approximate bound of the evaluations of all instances; beyond that the others wait for the next round.
    pub of_all: u64,
    /// Events in a round, and at least a batch with events of each of its instances.
    pub events: usize,
    /// Bytes of events and derived samples, in the same way.
    pub bytes: usize,
    /// Evaluations that are worth a thread: with fewer, the hand-over costs more than it gains.
    pub of_thread: u64,
}

impl Default for RoundBounds {
    fn default() -> Self {
        Self { of_instance: 65_536, of_all: 262_144, events: 10_000, bytes: 16 << 20, of_thread: 8_192 }
    }
}

/// Remaining budget of an instance in a round.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub evaluations: u64,
    pub events: usize,
    pub bytes: usize,
}

impl RoundBounds {
    /// Returns the budget of each of `instances` instances in one round.
    pub fn of_each(&self, instances: usize) -> Budget {
        let share = |of: usize, least: usize| (of / instances.max(1)).max(least.min(of));
        let (events, bytes) = (share(self.events, 256), share(self.bytes, 64 << 10));
        Budget { evaluations: self.of_instance, events, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_share_events_and_bytes_and_each_has_some() {
        let bounds = RoundBounds::default();
        let share = |instances| {
            let Budget { events, bytes, .. } = bounds.of_each(instances);
            (events, bytes)
        };
        assert_eq!(share(0), (10_000, 16 << 20));
        assert_eq!(share(4), (2_500, 4 << 20));
        assert_eq!(share(20_000), (256, 64 << 10));
        let one = RoundBounds { events: 1, bytes: 1, ..bounds };
        assert_eq!((one.of_each(7).events, one.of_each(7).bytes), (1, 1));
    }
}
