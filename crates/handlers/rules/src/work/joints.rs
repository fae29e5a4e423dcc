//! Rules that read several inputs: which instances belong together, and their evaluation up to a common DAC time.

mod alarms;
mod places;

use super::{JOIN_SAMPLES, MAX_WAIT, Work, commits::RETRY_DELAY};
use crate::{
    joint::{Beginning, Joint},
    source::{Begin, EvaluationContext, EvaluationOutput, StandingAlarms},
};
use alarms::JointAlarms;
use oasis_alarms::{AlarmsError, Checkpoint, CheckpointKey};
use oasis_dac::{Instance, NodeHome};
use oasis_rules::GroupFigures;
use oasis_rules_history::CLOCK_TYPE;
use oasis_wire::quantity::Nanos;
use places::{Candidate, JointLocation};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

/// Most of them.
const MAX_JOINTS: usize = 1_000;

/// Rules that read several inputs, each with the instances that belong together.
#[derive(Default)]
pub struct Joints {
    pub all: Vec<Joint>,
    /// Checkpoints of the joints before a reload.
    kept: Vec<(CheckpointKey, Checkpoint)>,
    /// All topics are known that have samples of this DAC time or before.
    pub known_until: u64,
    evaluated: Option<Instant>,
    /// Whether there are samples that were not evaluated yet.
    pub is_behind: bool,
    /// Places of the nodes that decide which DAC evaluates.
    homes: BTreeMap<String, Option<NodeHome>>,
    /// Joints that another DAC has evaluated until now.
    elsewhere: HashSet<CheckpointKey>,
    pub alarms: JointAlarms,
}

impl Joints {
    /// Whether it is time to evaluate.
    fn is_due(&self) -> bool {
        self.is_behind || self.evaluated.is_none_or(|evaluated| evaluated.elapsed() >= MAX_WAIT)
    }
}

impl Work<'_> {
    /// Keeps the states of all joints, and ends them: other rules follow.
    pub(super) fn end_joints(&mut self, before: &crate::ruleset::RuleSet) {
        self.joints.kept = self.joints.all.drain(..).filter_map(|joint| joint.checkpoint(before)).collect();
    }

    /// Whether such a rule can read an instance: one of a node, or a measured clock.
    fn is_joined(&self, instance: &Instance) -> bool {
        !self.is_own(instance) || instance.probe_type.name == CLOCK_TYPE
    }

    /// Begins with instances that belong together, and ends with those that are gone.
    pub(super) fn follow_joints(&mut self, instances: &[Arc<Instance>], standing: &StandingAlarms) {
        let mut by_name: HashMap<(&str, &str), Vec<&Arc<Instance>>> = HashMap::new();
        for instance in instances.iter().filter(|instance| self.is_joined(instance)) {
            by_name.entry((&instance.node, &instance.name)).or_default().push(instance);
        }
        let (candidates, mut left_out) = self.candidates(instances);
        self.note_joint_alarms(&candidates);
        self.end_absent_joints(&candidates);
        left_out += self.begin_joints(&candidates, standing);
        let begin = self.begin;
        for joint in &mut self.joints.all {
            joint.offer(&by_name, begin);
        }
        self.count_joints(&candidates, left_out);
        let is_new = |joint: &mut Joint| std::mem::take(&mut joint.is_new);
        let new: Vec<_> = self
            .joints
            .all
            .iter_mut()
            .filter_map(|joint| is_new(joint).then(|| joint.checkpoint(&self.set)))
            .collect();
        // After a crash the evaluation begins here again.
        self.pending.checkpoints.extend(new.into_iter().flatten());
        self.forget_ended();
    }

    /// A rule that is gone begins anew should it come back.
    fn forget_ended(&mut self) {
        let known: HashSet<CheckpointKey> = self.joints.all.iter().map(Joint::key).collect();
        for (key, mut checkpoint) in std::mem::take(&mut self.joints.kept) {
            if !known.contains(&key) {
                (checkpoint.rule_hash, checkpoint.state) = (String::new(), Vec::new());
                self.pending.checkpoints.retain(|(pending, _)| *pending != key);
                self.pending.checkpoints.push((key, checkpoint));
            }
        }
    }

    /// Ends the joints that are evaluated elsewhere now, or whose first instance is gone, once what had come before is evaluated.
    fn end_absent_joints(&mut self, candidates: &[Candidate]) {
        let places: HashMap<&CheckpointKey, &JointLocation> =
            candidates.iter().map(|candidate| (&candidate.key, &candidate.place)).collect();
        let stays = |joint: &Joint| match places.get(&joint.key()) {
            // Until it is known where the others are, this DAC evaluates without them.
            Some(JointLocation::Here | JointLocation::Waiting(_)) => true,
            Some(JointLocation::Elsewhere(_)) => joint.has_rest(),
            None => joint.has_news(),
        };
        let (all, gone) = std::mem::take(&mut self.joints.all).into_iter().partition(stays);
        self.joints.all = all;
        for joint in gone {
            let is_elsewhere = matches!(places.get(&joint.key()), Some(JointLocation::Elsewhere(_)))
                || self.homes.is_elsewhere(&joint.driver.node);
            match is_elsewhere {
                // If it comes back, its rules begin anew.
                true => self.joints.kept.extend(joint.checkpoint(&self.set)),
                false => self.keep_joint(&joint),
            }
        }
        let elsewhere = candidates.iter().filter(|of| matches!(of.place, JointLocation::Elsewhere(_)));
        self.joints.elsewhere.extend(elsewhere.map(|of| of.key.clone()));
        self.joints.elsewhere.retain(|key| places.contains_key(key));
    }

    /// Returns how many are too many.
    fn begin_joints(&mut self, candidates: &[Candidate], standing: &StandingAlarms) -> usize {
        let known: HashSet<CheckpointKey> = self.joints.all.iter().map(Joint::key).collect();
        let (mut left_out, mut has_failed) = (0, false);
        for candidate in candidates {
            let is_here = match candidate.place {
                JointLocation::Here => true,
                // The joint continues after a reload.
                JointLocation::Waiting(_) => self.joints.kept.iter().any(|(key, _)| *key == candidate.key),
                JointLocation::Elsewhere(_) => false,
            };
            if !is_here || known.contains(&candidate.key) {
                continue;
            }
            if self.joints.all.len() >= MAX_JOINTS {
                left_out += 1;
                continue;
            }
            match self.begin_joint(candidate, standing) {
                Ok(has_begun) => has_failed |= !has_begun,
                Err(error) => {
                    has_failed = true;
                    self.fail(&error.to_string());
                }
            }
        }
        if has_failed {
            // The joints are chosen again.
            self.seen = None;
        }
        left_out
    }

    /// Returns whether it was the time for it.
    fn begin_joint(&mut self, candidate: &Candidate, standing: &StandingAlarms) -> Result<bool, AlarmsError> {
        let Some(taken) = self.take_joint_alarms(candidate.numbers, &candidate.key)? else {
            return Ok(false);
        };
        let checkpoint = self.joint_checkpoint(&candidate.key)?;
        let is_moved = self.joints.elsewhere.remove(&candidate.key);
        let with = Beginning {
            set: &self.set,
            standing,
            archive: self.archive.as_ref(),
            clocks: &self.config.node,
            is_moved,
        };
        let driver = candidate.driver.clone();
        let mut joint = Joint::new(candidate.numbers, driver, checkpoint.as_ref(), with);
        for (rule, standing) in taken {
            joint.iter_mut().for_each(|joint| joint.stand(rule, standing));
        }
        self.joints.all.extend(joint);
        Ok(true)
    }

    fn count_joints(&self, candidates: &[Candidate], left_out: usize) {
        let known: HashSet<CheckpointKey> = self.joints.all.iter().map(Joint::key).collect();
        let waiting = candidates.iter().filter(|of| !known.contains(&of.key));
        let mut waiting = waiting.filter_map(|of| match &of.place {
            JointLocation::Waiting(node) => Some(node),
            JointLocation::Here | JointLocation::Elsewhere(_) => None,
        });
        let elsewhere =
            candidates.iter().filter(|of| matches!(of.place, JointLocation::Elsewhere(_))).count();
        let mut state = self.shared.lock();
        state.joins_elsewhere = elsewhere;
        (state.joins, state.joins_left_out) = (self.joints.all.len(), left_out);
        state.missing_node = waiting.next().cloned();
        state.joins_waiting = waiting.count() + usize::from(state.missing_node.is_some());
    }

    fn joint_checkpoint(&self, key: &CheckpointKey) -> Result<Option<Checkpoint>, AlarmsError> {
        let kept = self.joints.kept.iter().chain(&self.pending.checkpoints);
        if let Some((_, kept)) = kept.into_iter().find(|(known, _)| known == key) {
            return Ok(Some(kept.clone()));
        }
        // An added rule has not seen earlier samples.
        if self.begin == Begin::Next { Ok(None) } else { self.alarms.checkpoint(key) }
    }

    /// Evaluates what has come, up to the DAC time of which all is known.
    pub(super) fn round_joints(&mut self, now: Nanos, is_last: bool, found: &mut EvaluationOutput) {
        if !is_last && !self.joints.is_due() {
            return;
        }
        (self.joints.evaluated, self.joints.is_behind) = (Some(Instant::now()), false);
        let _reading = self.pulse.begin("read samples for rules");
        let (archive, runtime) = (self.archive.as_ref(), &self.runtime);
        let flush = || {
            if let Some(archive) = archive {
                drop(runtime.block_on(archive.flush()));
            }
        };
        let around = EvaluationContext { dac: &self.dac, set: &self.set, before: self.before, now };
        let until = self.joints.known_until;
        let mut failure = None;
        for joint in &mut self.joints.all {
            if found.events.len() >= self.bounds.events || found.bytes >= self.bounds.bytes {
                self.joints.is_behind = true;
                break;
            }
            match joint.advance(around, until, JOIN_SAMPLES, &flush, found) {
                Ok(has_more) => self.joints.is_behind |= has_more,
                Err(error) => failure = Some(error),
            }
        }
        let figures = self.joints.all.iter_mut().map(Joint::take_figures);
        let sums = |sum: [u64; 3], of: GroupFigures| {
            [sum[0] + of.late, sum[1] + of.overflowed, sum[2] + of.unaligned]
        };
        let [late, overflowed, unaligned] = figures.fold([0; 3], sums);
        let waiting = self.joints.all.iter().map(Joint::waiting).sum();
        let mut state = self.shared.lock();
        state.waiting = waiting;
        if failure.is_none() && !self.joints.is_behind {
            state.joined_until = until;
        }
        state.late += late;
        state.overflowed += overflowed;
        state.unaligned += unaligned;
        if let Some(error) = failure {
            state.failure = Some(format!("cannot read the archive: {error}"));
            self.joints.is_behind = true;
            self.pending.retry = Some(Instant::now() + RETRY_DELAY);
        }
    }

    fn keep_joint(&mut self, joint: &Joint) {
        let checkpoint = joint.checkpoint(&self.set);
        self.pending.checkpoints.retain(|(key, _)| *key != joint.key());
        self.pending.checkpoints.extend(checkpoint);
    }

    /// Keeps the states that have changed. Returns the bytes.
    pub(super) fn keep_dirty_joints(&mut self, most: usize) -> usize {
        let mut bytes = 0;
        let mut all = std::mem::take(&mut self.joints.all);
        for joint in all.iter_mut().filter(|joint| joint.is_dirty) {
            if bytes > most {
                break;
            }
            joint.is_dirty = false;
            self.keep_joint(joint);
            bytes += self.pending.checkpoints.last().map_or(0, |(_, kept)| kept.state.len());
        }
        self.joints.all = all;
        bytes
    }

    /// Returns the number of instances with which rules begin that read several inputs, this one first.
    pub(super) fn joint_instances(&self, program: usize, input: usize) -> usize {
        let of_input = self.joints.all.iter().filter(|joint| joint.is_read_by(program, input));
        of_input.map(|joint| (&joint.driver.node, &joint.driver.name)).collect::<HashSet<_>>().len()
    }
}
