//! Measures the node's cost once a second, lets the [governor](crate::governor) act on it, and reports it.

use crate::{
    cpu_time::{CpuTime, ThreadTime},
    governor::{Governor, INTERVAL, Window},
    instance::Instance,
};
use oasis_channel::Overhead;
use std::time::{Duration, Instant};

/// Lives on the collector thread.
pub struct OverheadWatch {
    governor: Governor,
    budget: Option<f64>,
    cpu: CpuTime,
    /// The collector's own share.
    thread: ThreadTime,
    /// Time of the last measurement, and the threads' processor time by then.
    looked: (Instant, Duration),
    /// Set while rates are at their lowest and the cost is still above the budget: logged once.
    exhausted: bool,
}

impl OverheadWatch {
    /// Starts to measure. Must be called on the collector thread.
    pub fn new(budget: Option<f64>, cpu: CpuTime, instances: usize, now: Instant) -> Self {
        let governor = Governor::new(budget, instances);
        let (thread, total) = (cpu.this_thread(), cpu.total());
        Self { governor, budget, cpu, thread, looked: (now, total), exhausted: false }
    }

    /// Makes room for instances that were added after the start.
    pub fn grow(&mut self, instances: usize) {
        self.governor.grow(instances);
    }

    /// Returns the time of the next measurement.
    pub fn due(&self) -> Instant {
        self.looked.0 + INTERVAL
    }

    /// Measures, if it is time to.
    pub fn measure(&mut self, now: Instant, instances: &mut [Instance]) -> Option<Overhead> {
        if now < self.due() {
            return None;
        }
        self.thread.settle();
        let total = self.cpu.total();
        let window = Window { length: now - self.looked.0, cpu: total.saturating_sub(self.looked.1) };
        self.looked = (now, total);
        let loads: Vec<_> = instances.iter_mut().map(Instance::take_load).collect();
        if self.governor.review(window, &loads) {
            for instance in &mut *instances {
                instance.set_share(self.governor.share(instance.index), now);
            }
        }
        let share = |time: Duration| time.as_secs_f64() / window.length.as_secs_f64();
        let cpu = share(window.cpu);
        self.log_exhausted(cpu);
        let lowered =
            instances.iter().filter_map(|instance| Some((instance.name.clone(), instance.lowered()?.get())));
        Some(Overhead {
            cpu,
            callbacks: share(loads.iter().map(|load| load.callbacks).sum()),
            budget: self.budget,
            lowered: lowered.collect(),
        })
    }

    fn log_exhausted(&mut self, cpu: f64) {
        let exhausted = self.governor.is_exhausted() && self.budget.is_some_and(|budget| cpu > budget);
        if exhausted && !self.exhausted {
            tracing::warn!(
                cpu,
                budget = self.budget,
                "node exceeds its overhead budget although all rates are at their lowest"
            );
        }
        self.exhausted = exhausted;
    }
}
