//! Looks once a second at what the node costs its host, has the [governor](crate::governor) act on it, and says so.

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
    /// The collector's own part of it.
    thread: ThreadTime,
    /// When it looked last, and what the threads had used by then.
    looked: (Instant, Duration),
    /// Rates are as low as they get, and it is still too much: said once.
    exhausted: bool,
}

impl OverheadWatch {
    /// Begins to measure. To be called on the collector thread.
    pub fn new(budget: Option<f64>, cpu: CpuTime, instances: usize, now: Instant) -> Self {
        let governor = Governor::new(budget, instances);
        let (thread, total) = (cpu.this_thread(), cpu.total());
        Self { governor, budget, cpu, thread, looked: (now, total), exhausted: false }
    }

    /// When it wants to look next.
    pub fn due(&self) -> Instant {
        self.looked.0 + INTERVAL
    }

    /// Looks if it is time to.
    pub fn look(&mut self, now: Instant, instances: &mut [Instance]) -> Option<Overhead> {
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
        self.tell_exhausted(cpu);
        let lowered =
            instances.iter().filter_map(|instance| Some((instance.name.clone(), instance.lowered()?.get())));
        Some(Overhead {
            cpu,
            callbacks: share(loads.iter().map(|load| load.callbacks).sum()),
            budget: self.budget,
            lowered: lowered.collect(),
        })
    }

    fn tell_exhausted(&mut self, cpu: f64) {
        let exhausted = self.governor.is_exhausted() && self.budget.is_some_and(|budget| cpu > budget);
        if exhausted && !self.exhausted {
            tracing::warn!(
                cpu,
                budget = self.budget,
                "no rate can be lowered further, and the node costs more than its budget"
            );
        }
        self.exhausted = exhausted;
    }
}
