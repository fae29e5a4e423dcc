//! Rules that read several inputs, for the instances of a replay.

use crate::{
    occurrence::{LastSample, Occurrence},
    past::Match,
};
use oasis_rules::{ClockOffset, Evaluated, Group, GroupFigures, InstanceId, Program, Rows};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};
use uuid::Uuid;

/// All groups of a program.
#[derive(Debug, Default)]
pub struct Joins {
    groups: Vec<JoinedGroup>,
    /// The groups of each instance, with the number of the input that it is in them.
    members: HashMap<InstanceId, Vec<(usize, Member)>>,
    /// Groups by the DAC time at which what waits is evaluated.
    deadlines: BTreeSet<(u64, usize)>,
    /// The nodes whose clocks matter, and the groups that they matter to, with the number that they have there.
    clocks: BTreeMap<String, Vec<(usize, usize)>>,
    /// The instances that lack one to join with, and a note about it.
    pub alone: Vec<(InstanceId, String)>,
}

/// Role of an instance in a group.
#[derive(Debug, Clone, Copy)]
enum Member {
    /// One of the first input, at whose samples it is evaluated.
    Driver,
    Other(usize),
}

#[derive(Debug)]
struct JoinedGroup {
    group: Group,
    node: Arc<str>,
    instance: Arc<str>,
    topic: u32,
    last: LastSample,
}

/// Samples of an instance that came in one batch.
#[derive(Debug, Clone, Copy)]
pub struct Came<'a> {
    pub run: Uuid,
    pub topic: u32,
    pub dac_time: u64,
    pub rows: &'a Rows,
}

impl Joins {
    /// Finds the instances that belong together.
    pub fn new(program: &Program, instances: &[(InstanceId, Match)]) -> Self {
        let ids: HashMap<&Match, InstanceId> = instances.iter().map(|(id, of)| (of, *id)).collect();
        let mut joins = Self::default();
        for rule in program.joins() {
            let Some(found) = program.rules.get(rule) else { continue };
            for (driver, (_, (node, instance))) in instances.iter().filter(|(_, (at, _))| *at == found.input)
            {
                let Some(group) = Group::for_instance(program, rule, (node, instance)) else { continue };
                let at = joins.groups.len();
                for (number, node) in program.clocks(rule, (node, instance)).into_iter().enumerate() {
                    joins.clocks.entry(node).or_default().push((at, number));
                }
                joins.members.entry(*driver).or_default().push((at, Member::Driver));
                for other in found.others() {
                    let partner = program.partner(found.input, other, (node, instance));
                    let id = partner.clone().and_then(|partner| ids.get(&(other, partner)).copied());
                    match (id, partner) {
                        (Some(id), _) => {
                            joins.members.entry(id).or_default().push((at, Member::Other(other)));
                        }
                        (None, Some((node, name))) => joins.lacks(*driver, format!("{node}/{name}")),
                        (None, None) => {}
                    }
                }
                joins.groups.push(JoinedGroup {
                    group,
                    node: (&**node).into(),
                    instance: (&**instance).into(),
                    topic: 0,
                    last: LastSample::default(),
                });
            }
        }
        joins
    }

    /// The nodes whose clocks matter.
    pub fn clocks(&self) -> impl Iterator<Item = &str> {
        self.clocks.keys().map(String::as_str)
    }

    /// Takes the clocks of all nodes as they are.
    pub fn trust_clocks(&mut self) {
        self.groups.iter_mut().for_each(|joined| joined.group.trust_clocks());
    }

    /// Notes that the clock of a node was not measured.
    pub fn lacks_clock(&mut self, node: &str, drivers: &[(InstanceId, Match)]) {
        let groups = self.clocks.get(node).cloned().unwrap_or_default();
        for (group, _) in groups {
            let Some(JoinedGroup { node: of, instance, .. }) = self.groups.get(group) else { continue };
            let is_driver =
                |(_, (_, names)): &&(InstanceId, Match)| *names.0 == **of && *names.1 == **instance;
            let Some((driver, _)) = drivers.iter().find(is_driver) else { continue };
            let note = format!(
                "nobody has recorded how the clock of {node} differs: values of other nodes are unknown"
            );
            if !self.alone.contains(&(*driver, note.clone())) {
                self.alone.push((*driver, note));
            }
        }
    }

    /// Takes a measurement of the clock of a node.
    pub fn measure(
        &mut self,
        program: &Program,
        node: &str,
        measured: (u64, ClockOffset),
        found: &mut Vec<Occurrence>,
    ) {
        for at in 0..self.clocks.get(node).map_or(0, Vec::len) {
            let of_node = self.clocks.get(node).and_then(|groups| groups.get(at));
            let Some(&(group, clock)) = of_node else { continue };
            self.with_group(group, found, |joined, evaluated| {
                joined.group.measure(program, clock, measured, evaluated);
            });
        }
    }

    fn lacks(&mut self, driver: InstanceId, partner: String) {
        let note = format!("there is no {partner} to join with: its values are unknown");
        if !self.alone.contains(&(driver, note.clone())) {
            self.alone.push((driver, note));
        }
    }

    /// Takes samples of an instance, in the order of DAC time, topic and sequence number.
    pub fn take(&mut self, program: &Program, id: InstanceId, came: Came<'_>, found: &mut Vec<Occurrence>) {
        let Came { run, topic, dac_time, rows } = came;
        for at in 0..self.members.get(&id).map_or(0, Vec::len) {
            let Some(&(group, member)) = self.members.get(&id).and_then(|members| members.get(at)) else {
                continue;
            };
            self.with_group(group, found, |joined, evaluated| match member {
                Member::Driver => {
                    joined.topic = topic;
                    joined.group.push_driver(program, (run.as_u128(), dac_time), rows.clone(), evaluated);
                }
                Member::Other(input) => joined.group.push_other(program, input, dac_time, rows, evaluated),
            });
        }
    }

    /// Evaluates what has waited up to this DAC time, of which all samples have come.
    pub fn pass(&mut self, program: &Program, dac_time: u64, found: &mut Vec<Occurrence>) {
        while let Some(&(deadline, at)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= dac_time)
        {
            self.with_group(at, found, |joined, evaluated| joined.group.pass(program, deadline, evaluated));
        }
    }

    /// Returns the counters of all groups together.
    pub fn figures(&self) -> GroupFigures {
        self.groups.iter().fold(GroupFigures::default(), |sum, joined| {
            let figures = joined.group.figures();
            GroupFigures {
                late: sum.late.saturating_add(figures.late),
                overflowed: sum.overflowed.saturating_add(figures.overflowed),
                unaligned: sum.unaligned.saturating_add(figures.unaligned),
            }
        })
    }

    fn with_group(
        &mut self,
        at: usize,
        found: &mut Vec<Occurrence>,
        act: impl FnOnce(&mut JoinedGroup, &mut Vec<Evaluated>),
    ) {
        let Some(joined) = self.groups.get_mut(at) else { return };
        let before = joined.group.deadline();
        let mut evaluated = Vec::new();
        act(joined, &mut evaluated);
        evaluated.into_iter().for_each(|evaluated| joined.report(evaluated, found));
        let after = joined.group.deadline();
        if before != after {
            before.map(|before| self.deadlines.remove(&(before, at)));
            self.deadlines.extend(after.map(|deadline| (deadline, at)));
        }
    }
}

impl JoinedGroup {
    fn report(&mut self, evaluated: Evaluated, found: &mut Vec<Occurrence>) {
        let Evaluated { run, last: (sequence, time), events, .. } = evaluated;
        let run = Uuid::from_u128(run);
        let events = self.last.identify(Some(run), events);
        found.extend(events.map(|(event, run, index)| Occurrence {
            node: self.node.clone(),
            instance: self.instance.clone(),
            run,
            topic: self.topic,
            event,
            index,
        }));
        self.last = LastSample(Some((run, sequence, time)));
    }
}
