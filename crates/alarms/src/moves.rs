//! Nodes that go to another DAC, and those that come from one.

use crate::{
    AlarmKey, Alarms, AlarmsError, Arrival, CommitSummary, HandedAlarm, HandedCheckpoint, Handover,
    HandoverPage, NodeConnection, tables::checkpoint,
};
use oasis_wire::quantity::Nanos;
use std::{collections::HashMap, time::Duration};

/// Most nodes of a page.
const MAX_PAGE_NODES: usize = 200;
/// Most bytes of one node, and of a page.
const MAX_PAGE_BYTES: usize = 8 << 20;

impl Alarms {
    /// The connection of a node under which its alarms are here.
    pub fn home(&self, node: &str) -> Option<NodeConnection> {
        self.memory().homes.get(node).copied()
    }

    /// All that is here of a node, within some megabytes.
    ///
    /// # Errors
    /// If the database fails.
    pub fn handover(&self, node: &str) -> Result<Handover, AlarmsError> {
        let alarms = self.alarms_of(std::iter::once(node)).remove(node).unwrap_or_default();
        self.handover_with(node, alarms)
    }

    fn handover_with(&self, node: &str, alarms: Vec<HandedAlarm>) -> Result<Handover, AlarmsError> {
        let kept = self.on_reader(|on| checkpoint::of_node(on, node, MAX_PAGE_BYTES))?;
        let checkpoints = kept.into_iter().map(|(instance, kept)| HandedCheckpoint::new(instance, &kept));
        let (checkpoints, home) = (checkpoints.collect(), self.home(node));
        let mut handover =
            Handover { node: node.into(), home, is_final: false, alarms, checkpoints, left_out: 0 };
        handover.fit(MAX_PAGE_BYTES);
        Ok(handover)
    }

    /// The alarms of some nodes.
    fn alarms_of<'a>(&self, nodes: impl Iterator<Item = &'a str>) -> HashMap<String, Vec<HandedAlarm>> {
        let mut found: HashMap<String, Vec<HandedAlarm>> =
            nodes.map(|node| (node.to_owned(), Vec::new())).collect();
        let memory = self.memory();
        for alarm in memory.alarms.values() {
            if let Some(alarms) = found.get_mut(&alarm.view.key.node) {
                alarms.push(HandedAlarm::of(alarm, memory.now()));
            }
        }
        found
    }

    /// Returns the changes after a position, for another DAC: of instances that `is_visible`, within some megabytes.
    /// That DAC has received the changes up to the position.
    ///
    /// # Errors
    /// If the database fails.
    pub fn handovers(
        &self,
        after: u64,
        is_visible: impl Fn(&str, &str) -> bool,
    ) -> Result<HandoverPage, AlarmsError> {
        let changes = {
            let mut given = self.given();
            given.note_question();
            given.note_received(after, &is_visible);
            given.after(after, MAX_PAGE_NODES)
        };
        let mut alarms = self.alarms_of(changes.iter().map(|(_, node)| node.as_str()));
        let mut page =
            HandoverPage { position: after, has_more: changes.len() == MAX_PAGE_NODES, nodes: Vec::new() };
        let mut bytes = 0;
        for (position, node) in changes {
            if bytes >= MAX_PAGE_BYTES {
                page.has_more = true;
                break;
            }
            let gone = self.given().gone(&node).cloned();
            let mut handover = match gone {
                Some(gone) => gone,
                None => self.handover_with(&node, alarms.remove(&node).unwrap_or_default())?,
            };
            handover.alarms.retain(|alarm| is_visible(&node, &alarm.view.key.instance));
            handover.checkpoints.retain(|kept| is_visible(&node, &kept.instance));
            bytes += handover.bytes();
            page.position = position;
            if handover.home.is_some() {
                page.nodes.push(handover);
            }
        }
        Ok(page)
    }

    /// A node has gone to another DAC, and this was here of it. It is given to others until the node is back.
    pub fn leave(&self, handover: Handover) {
        self.given().leave(handover);
    }

    /// Whether another DAC has what was here of a node, and how long ago that has gone; none if [`Alarms::leave`] was not called for it.
    pub fn left(&self, node: &str) -> Option<(bool, Duration)> {
        self.given().state_of(node)
    }

    /// Whether other DACs ask for handovers, and will take them.
    pub fn is_asked(&self) -> bool {
        self.given().is_asked()
    }

    /// Makes this DAC the home of nodes, with what came from their former ones. All of it becomes durable, or nothing.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn settle_homes(&self, now: Nanos, arrivals: Vec<Arrival>) -> Result<CommitSummary, AlarmsError> {
        let nodes: Vec<_> = arrivals.iter().map(|arrival| arrival.node.clone()).collect();
        let committed = self.change(now.0, |draft, _| {
            for Arrival { node, home, from, checkpoints } in arrivals {
                draft.settle_home(&node, &home)?;
                if let Some((dac, alarms)) = from {
                    alarms.into_iter().try_for_each(|alarm| draft.take_over(alarm, &dac))?;
                }
                checkpoints.iter().try_for_each(|(key, kept)| draft.checkpoint(key, kept))?;
            }
            draft.bound_homes()
        })?;
        let mut given = self.given();
        nodes.iter().for_each(|node| given.return_home(node));
        Ok(committed)
    }

    /// Takes alarms over that other DACs have evaluated until now, each with the name of its DAC. All of it becomes durable, or nothing.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn take_over(
        &self,
        now: Nanos,
        alarms: Vec<(HandedAlarm, String)>,
    ) -> Result<CommitSummary, AlarmsError> {
        self.change(now.0, |draft, _| {
            alarms.into_iter().try_for_each(|(alarm, dac)| draft.take_over(alarm, &dac))
        })
    }

    /// Ends alarms that another DAC evaluates now, whose name comes with each. `true`: that one has the alarm, and tells the destinations.
    ///
    /// # Errors
    /// If the database fails; then nothing has changed.
    pub fn leave_to(&self, now: Nanos, alarms: &[(AlarmKey, String, bool)]) -> Result<(), AlarmsError> {
        self.change(now.0, |draft, _| {
            alarms.iter().try_for_each(|(key, dac, is_given)| draft.leave(key, dac, *is_given))
        })?;
        Ok(())
    }
}
