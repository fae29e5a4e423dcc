//! The lanes of a retention rule: small instances (`store::fair_share`) have files apart from large ones, so that the size limit can
//! evict the samples of a heavy node and leave those of others.

use super::Writer;
use std::sync::Arc;

/// Lane in which the samples of some instances are written: a file at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Index of the retention rule.
    pub rule: usize,
    /// Whether it is that of the large instances.
    pub is_large: bool,
}

impl Lane {
    /// Returns all lanes of `rules` rules.
    pub fn all(rules: usize) -> impl Iterator<Item = Self> {
        (0..rules).flat_map(|rule| [false, true].map(|is_large| Self { rule, is_large }))
    }

    /// Index of its open file.
    pub fn slot(self) -> usize {
        self.rule * 2 + usize::from(self.is_large)
    }
}

/// Node and instance.
pub type Names = (Arc<str>, Arc<str>);

impl Writer {
    /// Returns the lane of an instance.
    pub(super) fn lane_of(&self, rule: usize, node: &Arc<str>, instance: &Arc<str>) -> Lane {
        let is_large = self.retaining.large.contains(&(node.clone(), instance.clone()));
        Lane { rule, is_large }
    }

    /// Divides the instances of the rules that have sealed a full file since the last call: once a rule has half of its bytes, instances
    /// that have more than their share of this half are large.
    pub(super) fn divide(&mut self) {
        for rule in std::mem::take(&mut self.retaining.full) {
            let changed = self.changed(rule);
            if changed.is_empty() {
                continue;
            }
            // The samples of an instance are in the order of the files' numbers, so those of its new lane go to a new file.
            self.end_files(|lane| lane.rule == rule);
            for names in changed {
                if !self.retaining.large.remove(&names) {
                    self.retaining.large.insert(names);
                }
            }
            for at in 0..self.tracked.len() {
                let (rule, instance) = (self.tracked[at].lane.rule, self.tracked[at].instance.clone());
                self.tracked[at].lane = self.lane_of(rule, &instance.node, &instance.name);
            }
        }
    }

    /// Returns the instances of a rule that should be in its other lane.
    fn changed(&self, rule: usize) -> Vec<Names> {
        let of_rule = &self.config.retention[rule];
        let usage = self.retaining.usage_of(&of_rule.instances).filter(|_| of_rule.bytes > 0);
        let Some(usage) = usage else { return Vec::new() };
        let shares = usage.shares_of(of_rule.bytes / 2);
        let large = &self.retaining.large;
        let is_of_rule = |(node, instance): &&Names| self.config.rule_for(node, instance) == Some(rule);
        let left =
            large.iter().filter(is_of_rule).filter(|(node, instance)| shares.is_small_again(node, instance));
        let all = usage.names().map(|(node, instance)| (node.clone(), instance.clone()));
        let come = all.filter(|names| !large.contains(names) && !shares.is_small(&names.0, &names.1));
        left.cloned().chain(come).collect()
    }
}
