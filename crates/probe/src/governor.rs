//! Keeps the cost of the instrumentation within a budget: lowers rates, those of the least important probes first.
//!
//! Once a second it receives the cost of the node's threads and of each periodic probe. It halves rates until the
//! expected cost of the next second is within the budget. It raises them again, one step at a time, when the cost has
//! been below the budget for a while. The application decides the cost of pushed probes, so their rates stay.

use std::time::Duration;

/// Time between two reviews.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// Most halvings: the lowest rate is a 64th.
const MOST_HALVINGS: u32 = 6;
/// Number of reviews below the budget before a rate is raised.
const REVIEWS_BEFORE_RAISE: u32 = 3;
/// A rate is raised only if the expected cost stays below this share of the budget; otherwise it would be lowered
/// again at once.
const ROOM: f64 = 0.8;

/// Importance of a probe when rates must be lowered: the lowest number is lowered first. The default is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Importance(pub u8);

/// Cost of an instance since the last review.
#[derive(Debug, Clone, Copy, Default)]
pub struct Load {
    /// Its importance; none if the node does not choose its rate.
    pub importance: Option<Importance>,
    /// Time within its callback.
    pub callbacks: Duration,
    /// Samples taken.
    pub samples: u64,
}

/// Cost of the whole node since the last review.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Time since the last review.
    pub length: Duration,
    /// Processor time of the node's threads.
    pub cpu: Duration,
}

/// Decides which rates to lower.
#[derive(Debug)]
pub struct Governor {
    /// Limit as a share of one core, if there is one.
    budget: Option<f64>,
    /// Number of halvings of each instance's rate.
    halvings: Vec<u32>,
    /// Consecutive reviews below the budget.
    calm: u32,
    exhausted: bool,
}

impl Governor {
    /// Creates a governor without lowered rates. `budget` is a share of one core: 0.02 is 2 %.
    pub fn new(budget: Option<f64>, instances: usize) -> Self {
        Self { budget, halvings: vec![0; instances], calm: 0, exhausted: false }
    }

    /// Makes room for instances that were added after the start.
    pub fn grow(&mut self, instances: usize) {
        self.halvings.resize(instances.max(self.halvings.len()), 0);
    }

    /// Returns the remaining share of an instance's rate.
    pub fn share(&self, instance: usize) -> f64 {
        self.halvings.get(instance).map_or(1.0, |&halvings| 0.5_f64.powi(halvings.cast_signed()))
    }

    /// Returns whether the last review wanted to lower a rate, but all are at their lowest.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Reviews the last second, and decides. Returns whether a rate changes.
    pub fn review(&mut self, window: Window, loads: &[Load]) -> bool {
        let Some(budget) = self.budget else { return false };
        let costs = costs(window, loads);
        let cost = window.cpu.as_secs_f64() / window.length.as_secs_f64();
        self.exhausted = false;
        if cost > budget {
            self.calm = 0;
            return self.lower(cost - budget, &costs, loads);
        }
        self.calm += 1;
        if self.calm <= REVIEWS_BEFORE_RAISE {
            return false;
        }
        let raised = self.raise(budget * ROOM - cost, &costs, loads);
        self.calm = if raised { 0 } else { REVIEWS_BEFORE_RAISE };
        raised
    }

    /// Halves rates until the expected cost falls by `excess`.
    fn lower(&mut self, mut excess: f64, costs: &[f64], loads: &[Load]) -> bool {
        let mut expected = costs.to_vec();
        let mut has_lowered = false;
        while excess > 0.0 {
            let candidates = (0..self.halvings.len())
                .filter(|&index| self.halvings[index] < MOST_HALVINGS && expected[index] > 0.0)
                .filter_map(|index| Some((loads[index].importance?, index)));
            // The most expensive one of those that are equally important.
            let least = candidates.min_by(|&(a, first), &(b, second)| {
                a.cmp(&b).then(expected[second].total_cmp(&expected[first]))
            });
            let Some((_, index)) = least else {
                self.exhausted = true;
                break;
            };
            self.halvings[index] += 1;
            expected[index] /= 2.0;
            excess -= expected[index];
            has_lowered = true;
        }
        has_lowered
    }

    /// Doubles the rate of the most important lowered instance if the expected cost allows.
    fn raise(&mut self, room: f64, costs: &[f64], loads: &[Load]) -> bool {
        let lowered = (0..self.halvings.len()).filter(|&index| self.halvings[index] > 0);
        let first = lowered.max_by(|&first, &second| {
            let by_importance = loads[first].importance.cmp(&loads[second].importance);
            by_importance.then(costs[second].total_cmp(&costs[first]))
        });
        let Some(index) = first.filter(|&index| costs[index] <= room) else { return false };
        self.halvings[index] -= 1;
        true
    }
}

/// Returns the share of a core that each instance uses: its callback, and its part of the node's work on samples.
fn costs(window: Window, loads: &[Load]) -> Vec<f64> {
    let callbacks: f64 = loads.iter().map(|load| load.callbacks.as_secs_f64()).sum();
    let samples: u64 = loads.iter().map(|load| load.samples).sum();
    // A callback that sleeps uses time, but no processor.
    let processing = (window.cpu.as_secs_f64() - callbacks).max(0.0);
    let one_sample = processing / samples.max(1) as f64;
    let cost = |load: &Load| load.callbacks.as_secs_f64() + load.samples as f64 * one_sample;
    loads.iter().map(|load| cost(load) / window.length.as_secs_f64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node whose probes cost `per_sample` at their rates.
    struct Plant {
        governor: Governor,
        importance: Vec<Option<Importance>>,
        hertz: Vec<f64>,
        per_sample: Vec<Duration>,
    }

    impl Plant {
        fn new(budget: f64, probes: &[(Option<u8>, f64, u64)]) -> Self {
            Self {
                governor: Governor::new(Some(budget), probes.len()),
                importance: probes.iter().map(|probe| probe.0.map(Importance)).collect(),
                hertz: probes.iter().map(|probe| probe.1).collect(),
                per_sample: probes.iter().map(|probe| Duration::from_micros(probe.2)).collect(),
            }
        }

        fn loads(&self) -> Vec<Load> {
            let load = |index: usize| {
                let samples = self.hertz[index] * self.governor.share(index);
                let callbacks = self.per_sample[index].mul_f64(samples);
                Load { importance: self.importance[index], callbacks, samples: samples as u64 }
            };
            (0..self.hertz.len()).map(load).collect()
        }

        fn cost(&self) -> f64 {
            self.loads().iter().map(|load| load.callbacks.as_secs_f64()).sum()
        }

        fn seconds(&mut self, seconds: u32) -> Vec<f64> {
            for _ in 0..seconds {
                let cpu = Duration::from_secs_f64(self.cost());
                self.governor.review(Window { length: INTERVAL, cpu }, &self.loads());
            }
            (0..self.hertz.len()).map(|index| self.governor.share(index)).collect()
        }
    }

    #[test]
    fn without_a_budget_nothing_is_lowered() {
        let mut governor = Governor::new(None, 1);
        let load = Load { importance: Some(Importance(0)), callbacks: INTERVAL, samples: 9 };
        assert!(!governor.review(Window { length: INTERVAL, cpu: INTERVAL }, &[load]));
    }

    #[test]
    fn the_least_important_is_lowered_first_and_only_as_far_as_needed() {
        // 10 % and 10 % of a core, 12 % allowed: an 8th of the less important rate is required.
        let mut plant = Plant::new(0.12, &[(Some(5), 100.0, 1000), (Some(1), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [1.0, 0.125]);
        assert!(plant.cost() <= 0.12);
    }

    #[test]
    fn more_important_probes_are_lowered_if_lowering_the_others_is_not_enough() {
        let mut plant = Plant::new(0.04, &[(Some(5), 100.0, 1000), (Some(1), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [0.25, 0.015_625]);
        assert!(plant.cost() <= 0.04);
    }

    #[test]
    fn of_equally_important_probes_the_most_expensive_is_lowered() {
        let mut plant = Plant::new(0.25, &[(Some(0), 100.0, 1000), (Some(0), 100.0, 2000)]);
        assert_eq!(plant.seconds(1), [1.0, 0.5]);
    }

    #[test]
    fn rates_of_pushed_probes_stay() {
        let mut plant = Plant::new(0.01, &[(None, 100.0, 1000)]);
        assert_eq!(plant.seconds(9), [1.0]);
    }

    #[test]
    fn rates_settle_and_rise_again_below_the_budget() {
        let mut plant = Plant::new(0.06, &[(Some(0), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [0.5]);
        // 5 % now; 10 % would not fit.
        assert_eq!(plant.seconds(30), [0.5]);
        plant.per_sample[0] = Duration::from_micros(300);
        assert_eq!(plant.seconds(REVIEWS_BEFORE_RAISE + 1), [1.0]);
        assert_eq!(plant.seconds(30), [1.0]);
    }

    #[test]
    fn the_work_of_the_node_counts_for_the_instances_that_cause_it() {
        let window = Window { length: INTERVAL, cpu: Duration::from_millis(40) };
        let few = Load { samples: 100, ..Load::default() };
        let many = Load { samples: 300, ..Load::default() };
        let percent: Vec<_> = costs(window, &[few, many]).iter().map(|cost| (cost * 100.0).round()).collect();
        assert_eq!(percent, [1.0, 3.0]);
    }
}
