//! Derived instances and results reach their readers.

use super::Work;
use crate::output::Output;
use oasis_dac::Instance;
use oasis_rules::Derived;
use std::sync::Arc;

impl Work<'_> {
    /// Connects the node of derived instances and results, if that has not been done and there is something to read.
    pub(super) fn connect(&mut self) {
        let is_wanted = self.set.count() > 0 || self.config.all_clocks;
        if self.output.is_some() || self.config.node.is_empty() || !is_wanted {
            return;
        }
        let connected = Output::connect(self.dac.clone(), &self.config.node, self.archive.is_some());
        self.shared.lock().no_output = connected.as_ref().err().map(|failure| failure.message.clone());
        self.output = connected.ok();
        self.register_output();
    }

    /// Makes derived instances and results known to readers.
    pub(super) fn register_output(&mut self) {
        let nodes = self.nodes_with_clocks();
        let Some(output) = &mut self.output else { return };
        let history = self.archive.as_ref().map(|archive| archive.history());
        let node = &*self.config.node;
        let newest = |instance: &str| {
            let reach = history.as_ref().and_then(|history| history.reach_of(node, instance).ok().flatten());
            reach.map_or(0, |(_, newest)| newest)
        };
        let set = &self.set;
        let of_sources = self.sources.values().map(|source| (&source.instance, source.derived(set)));
        let of_joints = self.joints.all.iter().map(|joint| (&joint.driver, joint.derived(set)));
        let registered = output.register(&self.set, of_sources.chain(of_joints), newest);
        let registered = output.register_clocks(nodes).and(registered);
        let mut state = self.shared.lock();
        state.no_output = registered.err().map(|failure| failure.message);
        state.outputs_left_out = output.left_out;
        state.clocks_left_out = self.clocks.left_out;
    }

    /// Gives samples of derived instances to their readers.
    pub(super) fn give_derived(&mut self, derived: Vec<(Arc<Instance>, usize, Derived)>) {
        let Some(output) = &mut self.output else { return };
        for (source, program, (rule, rows)) in derived {
            let rules = self.set.programs.get(program).map_or(&[][..], |loaded| &loaded.program.rules);
            if let Some(rule) = rules.get(rule) {
                output.derived(&rule.name, &source, &rows);
            }
        }
        output.flush();
    }
}
