//! Keeps what the instrumentation costs under a budget by lowering rates, least important probes first.
//!
//! Once a second it is told what the node's threads and each periodic probe cost. It halves rates until what it expects of the next second is within the
//! budget, and gives them back, one step at a time, when there has been room for a while. Pushed probes cost what the application makes of
//! them, so they are not touched.

use std::time::Duration;

/// How often it looks.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// The lowest a rate gets: a 64th.
const MOST_HALVINGS: u32 = 6;
/// How often it has to see room before it gives a rate back.
const CALM: u32 = 3;
/// A rate is given back only if what is expected then stays under this share of the budget; otherwise it would be taken again at once.
const ROOM: f64 = 0.8;

/// How much a probe matters when rates have to be lowered: the lowest number is lowered first. 0 unless said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Importance(pub u8);

/// What an instance has cost since the last look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Load {
    /// How much it matters; none if its rate is not the node's to choose.
    pub importance: Option<Importance>,
    /// Time within its callback.
    pub callbacks: Duration,
    /// Samples taken.
    pub samples: u64,
}

/// What the whole node has cost since the last look.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// How long ago that was.
    pub length: Duration,
    /// Processor time of the node's threads.
    pub cpu: Duration,
}

/// What is done about the cost.
#[derive(Debug)]
pub struct Governor {
    /// Share of one core, if there is a bound.
    budget: Option<f64>,
    /// How many times each instance's rate is halved.
    halvings: Vec<u32>,
    /// Looks in a row that saw room.
    calm: u32,
    exhausted: bool,
}

impl Governor {
    /// Nothing is lowered yet. `budget` is a share of one core: 0.02 is 2 %.
    pub fn new(budget: Option<f64>, instances: usize) -> Self {
        Self { budget, halvings: vec![0; instances], calm: 0, exhausted: false }
    }

    /// What of an instance's rate is left.
    pub fn share(&self, instance: usize) -> f64 {
        self.halvings.get(instance).map_or(1.0, |&halvings| 0.5_f64.powi(halvings.cast_signed()))
    }

    /// Whether no rate can be lowered further that the last look would have lowered.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Looks at what was, and decides. Says whether a rate changes.
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
        if self.calm <= CALM {
            return false;
        }
        let raised = self.raise(budget * ROOM - cost, &costs, loads);
        self.calm = if raised { 0 } else { CALM };
        raised
    }

    /// Halves rates until `excess` is expected to be gone.
    fn lower(&mut self, mut excess: f64, costs: &[f64], loads: &[Load]) -> bool {
        let mut expected = costs.to_vec();
        let mut has_lowered = false;
        while excess > 0.0 {
            let candidates = (0..self.halvings.len())
                .filter(|&index| self.halvings[index] < MOST_HALVINGS && expected[index] > 0.0)
                .filter_map(|index| Some((loads[index].importance?, index)));
            // Of those that matter alike, the one that costs most.
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

    /// Doubles the rate of the most important lowered instance if that is expected to fit.
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

/// The share of a core that each instance takes: its callback, and its part of what the node does with samples.
fn costs(window: Window, loads: &[Load]) -> Vec<f64> {
    let callbacks: f64 = loads.iter().map(|load| load.callbacks.as_secs_f64()).sum();
    let samples: u64 = loads.iter().map(|load| load.samples).sum();
    // A callback that sleeps takes time and no processor.
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
        // 10 % and 10 % of a core, 12 % allowed: an 8th of the lesser one has to do.
        let mut plant = Plant::new(0.12, &[(Some(5), 100.0, 1000), (Some(1), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [1.0, 0.125]);
        assert!(plant.cost() <= 0.12);
    }

    #[test]
    fn the_more_important_is_lowered_when_the_lesser_ones_do_not_suffice() {
        let mut plant = Plant::new(0.04, &[(Some(5), 100.0, 1000), (Some(1), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [0.25, 0.015_625]);
        assert!(plant.cost() <= 0.04);
    }

    #[test]
    fn of_equals_the_dearest_is_lowered() {
        let mut plant = Plant::new(0.25, &[(Some(0), 100.0, 1000), (Some(0), 100.0, 2000)]);
        assert_eq!(plant.seconds(1), [1.0, 0.5]);
    }

    #[test]
    fn pushed_probes_are_left_alone() {
        let mut plant = Plant::new(0.01, &[(None, 100.0, 1000)]);
        assert_eq!(plant.seconds(9), [1.0]);
    }

    #[test]
    fn rates_settle_and_come_back_when_there_is_room() {
        let mut plant = Plant::new(0.06, &[(Some(0), 100.0, 1000)]);
        assert_eq!(plant.seconds(1), [0.5]);
        // 5 % now; 10 % would not fit.
        assert_eq!(plant.seconds(30), [0.5]);
        plant.per_sample[0] = Duration::from_micros(300);
        assert_eq!(plant.seconds(CALM + 1), [1.0]);
        assert_eq!(plant.seconds(30), [1.0]);
    }

    #[test]
    fn what_the_node_does_with_samples_counts_for_those_who_bring_them() {
        let window = Window { length: INTERVAL, cpu: Duration::from_millis(40) };
        let few = Load { samples: 100, ..Load::default() };
        let many = Load { samples: 300, ..Load::default() };
        let percent: Vec<_> = costs(window, &[few, many]).iter().map(|cost| (cost * 100.0).round()).collect();
        assert_eq!(percent, [1.0, 3.0]);
    }
}
