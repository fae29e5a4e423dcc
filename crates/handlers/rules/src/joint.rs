//! A rule that reads several inputs, for instances that belong together.
//!
//! The joint takes the batches of all its instances, and the measurements of the clocks of their nodes, in the order of DAC time, topic and sequence number, up to a DAC time that their ledgers have declared complete:
//! in the same order as a replay, so that it finds the same.

use crate::{
    cause,
    member::{Came, Damaged, Member, Role},
    result,
    ruleset::{LoadedProgram, RuleSet},
    source::{Begin, EvaluationContext, EvaluationOutput, StandingAlarms},
};
use oasis_alarms::{Checkpoint, CheckpointKey, Position};
use oasis_dac::Instance;
use oasis_handler::StoredSamples;
use oasis_rules::{
    Evaluated, Group, GroupFigures, Program, SavedState, Standing,
    program::{Body, Input},
};
use oasis_rules_history::{LastSample, clock_input, clock_name, newest_offset};
use oasis_store::ReadError;
use oasis_wire::quantity as wire;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc, time::Instant};
use uuid::Uuid;

/// The version of the form in which its state is kept.
const FORM: &str = "group 2";

/// A rule and its instances.
pub struct Joint {
    pub program: usize,
    /// The instance at whose samples it is evaluated.
    pub driver: Arc<Instance>,
    rule: String,
    group: Group,
    /// The first one is that of the driver; the last ones are the clocks.
    members: Vec<Member>,
    /// The nodes whose clocks matter.
    clocks: Vec<String>,
    /// Input of the measurements of a clock.
    clock_input: Input,
    /// The last sample that was evaluated.
    last: LastSample,
    /// Whether its state has changed since the last checkpoint.
    pub is_dirty: bool,
    /// Whether it has no checkpoint.
    pub is_new: bool,
    /// Whether another DAC has evaluated what is there.
    is_moved: bool,
    pub begun: Instant,
    counted: GroupFigures,
}

/// Saved state of a joint.
#[derive(Serialize, Deserialize)]
struct JointSnapshot {
    group: SavedState,
    last: Option<(Uuid, u64, u64)>,
    members: Vec<MemberSnapshot>,
}

#[derive(Serialize, Deserialize)]
struct MemberSnapshot {
    node: String,
    name: String,
    /// Epoch and offset.
    at: Option<(u64, u64)>,
    last: Option<(Uuid, u64, u64)>,
}

/// Context in which a joint begins.
#[derive(Clone, Copy)]
pub struct Beginning<'a> {
    pub set: &'a RuleSet,
    pub standing: &'a StandingAlarms,
    pub archive: Option<&'a Arc<dyn StoredSamples>>,
    /// The node of the instances of measured clocks.
    pub clocks: &'a str,
    /// Whether another DAC has evaluated it until now: it begins with the next samples.
    pub is_moved: bool,
}

impl Joint {
    /// Creates the joint of a rule that reads several inputs, for an instance of its first one. It begins at the position
    /// of the checkpoint.
    pub fn new(
        (program, rule): (usize, usize),
        driver: Arc<Instance>,
        checkpoint: Option<&Checkpoint>,
        with: Beginning<'_>,
    ) -> Option<Self> {
        let of = &with.set.programs.get(program)?.program;
        let found = of.rules.get(rule)?;
        let mut group = Group::for_instance(of, rule, (&driver.node, &driver.name))?;
        let kept = checkpoint.filter(|checkpoint| checkpoint.rule_hash == FORM);
        let kept: Option<JointSnapshot> =
            kept.and_then(|checkpoint| postcard::from_bytes(&checkpoint.state).ok());
        let names = (driver.node.to_string(), driver.name.to_string());
        let others = found.others().into_iter();
        let others = others.filter_map(|input| {
            Some((Role::Input(input), of.partner(found.input, input, (&names.0, &names.1))?))
        });
        let clocks = of.clocks(rule, (&names.0, &names.1));
        let clock =
            |(at, node): (usize, &String)| (Role::Clock(at), (with.clocks.to_owned(), clock_name(node)));
        let of_clocks = clocks.iter().enumerate().map(clock);
        let member = |(role, names): (Role, (String, String))| {
            let known = kept.iter().flat_map(|kept| &kept.members);
            let known = known.into_iter().find(|known| known.node == names.0 && known.name == names.1);
            let at = known.and_then(|known| {
                let (epoch, offset) = known.at?;
                let at = wire::Position { epoch: wire::Epoch(epoch), offset: wire::Offset(offset) };
                Some((at, LastSample(known.last)))
            });
            Member::new(role, names, at, with.archive)
        };
        let first = std::iter::once((Role::Input(found.input), names.clone()));
        let members = first.chain(others).chain(of_clocks).map(member).collect();
        let restored = kept.as_ref().and_then(|kept| group.restore(of, &kept.group));
        let all = || (0..of.rules.len()).filter(|at| of.joined(*at) == Some(rule)).collect();
        for anew in restored.unwrap_or_else(all) {
            // Its state is unknown, but an alarm that stands can be cleared.
            let name = of.rules.get(anew).map(|rule| rule.name.clone()).unwrap_or_default();
            if let Some(standing) = with.standing.get(&(name, names.0.clone(), names.1.clone())) {
                group.set_standing(anew, *standing);
            }
        }
        let is_new = kept.is_none();
        let last = LastSample(kept.and_then(|kept| kept.last));
        let (rule, counted) = (found.name.clone(), GroupFigures::default());
        let clock_input = clock_input();
        Some(Self {
            program,
            driver,
            rule,
            group,
            members,
            clocks,
            clock_input,
            last,
            is_dirty: false,
            is_new,
            is_moved: with.is_moved,
            begun: Instant::now(),
            counted,
        })
    }

    /// Follows the topics of its instances.
    pub fn offer(&mut self, topics: &HashMap<(&str, &str), Vec<&Arc<Instance>>>, begin: Begin) {
        let is_from_next = begin == Begin::Next || self.is_moved;
        for member in &mut self.members {
            let names = (member.node.clone(), member.name.clone());
            for instance in topics.get(&(&*names.0, &*names.1)).into_iter().flatten() {
                // Earlier measurements of a clock are still valid.
                let is_input = matches!(member.role, Role::Input(_));
                member.offer(instance, is_from_next && is_input);
            }
        }
    }

    /// Lets the alarm of a rule be as another DAC has left it.
    pub fn stand(&mut self, rule: usize, standing: Standing) {
        self.group.set_standing(rule, standing);
        self.is_dirty = true;
    }

    /// The numbers of its program and rule.
    pub fn numbers(&self) -> (usize, usize) {
        (self.program, self.group.rule())
    }

    /// Whether there is a rest of what its first instance has sent before its node went to another DAC.
    pub fn has_rest(&self) -> bool {
        self.members.first().is_some_and(Member::has_rest)
    }

    /// Whether there may be samples that were not evaluated.
    pub fn has_news(&self) -> bool {
        self.members.iter().any(Member::has_news)
    }

    /// The nodes whose clocks it needs.
    pub fn clocks(&self) -> impl Iterator<Item = &str> {
        self.clocks.iter().map(String::as_str)
    }

    /// Whether its rule reads several inputs and begins with this one.
    pub fn is_read_by(&self, program: usize, input: usize) -> bool {
        self.program == program
            && self.members.first().is_some_and(|member| member.role == Role::Input(input))
    }

    /// The rules that compute derived instances: numbers of program and rule.
    pub fn derived(&self, set: &RuleSet) -> Vec<(usize, usize)> {
        let Some(LoadedProgram { program, .. }) = set.programs.get(self.program) else { return Vec::new() };
        let of_group = program.rules.iter().enumerate().filter(|(at, rule)| {
            matches!(rule.body, Body::Derive(_)) && program.joined(*at) == Some(self.group.rule())
        });
        of_group.map(|(at, _)| (self.program, at)).collect()
    }

    /// The samples that wait for those of other inputs.
    pub fn waiting(&self) -> usize {
        self.group.waiting()
    }

    /// Returns the counts of its group since the last call.
    pub fn take_figures(&mut self) -> GroupFigures {
        let GroupFigures { late, overflowed, unaligned } = self.group.figures();
        let before = std::mem::replace(&mut self.counted, self.group.figures());
        GroupFigures {
            late: late - before.late,
            overflowed: overflowed - before.overflowed,
            unaligned: unaligned - before.unaligned,
        }
    }

    /// Evaluates what has come up to a DAC time, about `most` samples. Returns whether there may be more.
    ///
    /// # Errors
    /// If the archive cannot be read; what was evaluated stays so.
    pub fn advance(
        &mut self,
        around: EvaluationContext<'_>,
        until: u64,
        most: u64,
        flush: &dyn Fn(),
        found: &mut EvaluationOutput,
    ) -> Result<bool, ReadError> {
        let Some(LoadedProgram { program, .. }) = around.set.programs.get(self.program) else {
            return Ok(false);
        };
        let is_due = self.group.deadline().is_some_and(|deadline| deadline <= until);
        if !is_due && !self.has_news() {
            return Ok(false);
        }
        // In this order: what has come before that is in the logs then.
        self.members.iter().for_each(|member| member.complete(until));
        let end = found.samples.saturating_add(most);
        let mut evaluated = Vec::new();
        loop {
            let mut first = None;
            for (at, member) in self.members.iter_mut().enumerate() {
                let next = member.next(flush)?.map(|place| (place, at));
                first = [first, next].into_iter().flatten().min();
            }
            let Some((_, at)) = first.filter(|((dac_time, ..), _)| *dac_time <= until) else { break };
            self.take(program, at, &mut evaluated, found);
            self.report(around, program, std::mem::take(&mut evaluated), found);
            if found.samples >= end {
                return Ok(true);
            }
        }
        self.group.pass(program, until, &mut evaluated);
        self.is_dirty |= !evaluated.is_empty();
        self.report(around, program, evaluated, found);
        Ok(false)
    }

    fn take(
        &mut self,
        program: &Program,
        at: usize,
        evaluated: &mut Vec<Evaluated>,
        found: &mut EvaluationOutput,
    ) {
        self.is_dirty = true;
        let Some(member) = self.members.get_mut(at) else { return };
        let input = match member.role {
            Role::Input(input) => program.inputs.get(input),
            Role::Clock(_) => Some(&self.clock_input),
        };
        let Some(input) = input else { return };
        let Came { dac_time, run, rows } = match member.take(input) {
            Ok(Some(came)) => came,
            Ok(None) => return,
            Err(Damaged) => {
                found.unreadable += 1;
                return;
            }
        };
        match member.role {
            Role::Clock(clock) => {
                if let Some(offset) = newest_offset(&rows) {
                    self.group.measure(program, clock, (dac_time, offset), evaluated);
                }
            }
            Role::Input(_) if at == 0 => {
                found.samples += rows.len() as u64;
                if let Some(instance) = member.instance() {
                    self.driver = instance.clone();
                }
                self.group.push_driver(program, (run.as_u128(), dac_time), rows, evaluated);
            }
            Role::Input(input) => {
                found.samples += rows.len() as u64;
                self.group.push_other(program, input, dac_time, &rows, evaluated);
            }
        }
    }

    /// Makes results of events.
    fn report(
        &mut self,
        around: EvaluationContext<'_>,
        program: &Program,
        evaluated: Vec<Evaluated>,
        found: &mut EvaluationOutput,
    ) {
        for Evaluated { run, first, missing, last: (sequence, time), events, derived } in evaluated {
            let run = Uuid::from_u128(run);
            let driver = &self.driver;
            let cause = |is_known: bool| match !is_known && missing > 0 {
                true => cause::of_missing(driver, (run, first), self.last.0, missing, None),
                false => None,
            };
            for (event, run, index) in self.last.identify(Some(run), events) {
                let Some(rule) = program.rules.get(event.rule) else { continue };
                let cause = cause(event.is_known);
                found.event(result::of_event(rule, driver, (event, run, index), cause, around.now));
            }
            found.derived(driver, self.program, derived);
            self.last = LastSample(Some((run, sequence, time)));
        }
    }

    pub fn key(&self) -> CheckpointKey {
        key(&self.rule, &self.driver)
    }

    /// Returns its checkpoint.
    pub fn checkpoint(&self, set: &RuleSet) -> Option<(CheckpointKey, Checkpoint)> {
        let group = self.group.save(&set.programs.get(self.program)?.program)?;
        let member = |member: &Member| MemberSnapshot {
            node: member.node.clone(),
            name: member.name.clone(),
            at: member.at.map(|at| (at.epoch.0, at.offset.0)),
            last: member.last.0,
        };
        let members = self.members.iter().map(member).collect();
        let state = postcard::to_allocvec(&JointSnapshot { group, last: self.last.0, members }).ok()?;
        let driver = self.members.first()?;
        let (run, sequence) = driver.last.0.map_or((None, 0), |(run, sequence, _)| (Some(run), sequence));
        let wire::Position { epoch, offset } = driver.at?;
        let position = Position { run, sequence, epoch, offset, dac_time: 0 };
        Some((self.key(), Checkpoint { rule_hash: FORM.into(), position, state }))
    }
}

/// The key of the checkpoint of a rule that reads several inputs, for an instance of its first one.
pub fn key(rule: &str, driver: &Instance) -> CheckpointKey {
    CheckpointKey { rule: rule.into(), node: driver.node.to_string(), instance: driver.name.to_string() }
}
