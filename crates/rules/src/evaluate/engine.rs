//! All instances of all inputs.

use super::{event::Event, instance::Instance, rows::Rows};
use crate::program::Program;
use std::collections::BTreeSet;

/// Most instances that inputs match, in total.
const MAX_INSTANCES: usize = 20_000;

/// Samples of one evaluation step: their columns stay in the cache, and their events are few.
pub(super) const EVALUATION_CHUNK_SAMPLES: usize = 1_024;

/// Evaluates the rules of a program.
#[derive(Debug)]
pub struct Engine {
    program: Program,
    instances: Vec<Instance>,
    /// Instances by the DAC time at which their silence would be noticed.
    deadlines: BTreeSet<(u64, usize)>,
}

/// An instance that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(usize);

impl Engine {
    /// Without instances.
    pub fn new(program: Program) -> Self {
        Self { program, instances: Vec::new(), deadlines: BTreeSet::new() }
    }

    /// The rules.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Adds an instance of an input; `None` if there are too many.
    pub fn add(&mut self, input: usize) -> Option<InstanceId> {
        if self.instances.len() == MAX_INSTANCES {
            return None;
        }
        self.instances.push(Instance::new(&self.program, input));
        Some(InstanceId(self.instances.len() - 1))
    }

    /// Takes the next samples. Batches come in the order of DAC time, topic and sequence number; silence before this DAC time is reported first.
    pub fn batch(
        &mut self,
        id: InstanceId,
        dac_time: u64,
        rows: Rows,
        report: &mut dyn FnMut(InstanceId, Event),
    ) {
        self.frontier(dac_time.saturating_sub(1), report);
        let Some(instance) = self.instances.get_mut(id.0).filter(|_| !rows.is_empty()) else { return };
        if let Some(deadline) = instance.deadline(&self.program) {
            self.deadlines.remove(&(deadline, id.0));
        }
        for part in rows.parts(EVALUATION_CHUNK_SAMPLES) {
            let events = instance.batch(&self.program, dac_time, part, &mut Vec::new());
            events.into_iter().for_each(|event| report(id, Event { dac_time, ..event }));
        }
        self.schedule(id.0);
    }

    /// Reports silence up to this DAC time, of which all samples have come.
    pub fn frontier(&mut self, dac_time: u64, report: &mut dyn FnMut(InstanceId, Event)) {
        while let Some(&(deadline, at)) = self.deadlines.first()
            && deadline <= dac_time
        {
            self.deadlines.pop_first();
            for event in self.instances[at].frontier(&self.program, deadline) {
                report(InstanceId(at), Event { dac_time: deadline, ..event });
            }
            self.schedule(at);
        }
    }

    /// The DAC has started again at this time. It was not silence that nothing came before: silence begins anew.
    pub fn restart(&mut self, dac_time: u64) {
        self.deadlines.clear();
        for at in 0..self.instances.len() {
            self.instances[at].restart(&self.program, dac_time);
            self.schedule(at);
        }
    }

    fn schedule(&mut self, at: usize) {
        if let Some(deadline) = self.instances[at].deadline(&self.program) {
            self.deadlines.insert((deadline, at));
        }
    }
}
