//! The form in which the states of the rules of an instance are kept.

use oasis_alarms::{Checkpoint, CheckpointKey, Position};
use oasis_rules::SavedState;
use oasis_rules_history::LastSample;
use oasis_wire::quantity as wire;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The version of the form, in place of the hash of one rule: each state names its own.
const FORM: &str = "instance 1";
/// The same of states that another DAC has evaluated.
const HANDED: &str = "handed 1";
/// The rules of an instance are evaluated together.
const ALL_RULES: &str = "";

/// The states of all rules of an instance after a sample.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct RuleSnapshot {
    /// The last sample: run, sequence number and time.
    last: Option<(Uuid, u64, u64)>,
    /// The life of the DAC that they are in: the position can be in the next one before it has begun for them.
    epoch: Option<u64>,
    states: Vec<SavedState>,
}

/// A place in the samples of an instance.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub position: wire::Position,
    pub last: LastSample,
    pub dac_time: u64,
    /// The life of the DAC that the rules are in.
    pub epoch: Option<wire::Epoch>,
    /// Whether another DAC has evaluated what came before.
    pub is_handed: bool,
}

pub fn key(node: &str, instance: &str) -> CheckpointKey {
    CheckpointKey { rule: ALL_RULES.into(), node: node.into(), instance: instance.into() }
}

/// `None` only without memory.
pub fn write(at: At, states: Vec<SavedState>) -> Option<Checkpoint> {
    let state = postcard::to_allocvec(&RuleSnapshot {
        last: at.last.0,
        epoch: at.epoch.map(|epoch| epoch.0),
        states,
    })
    .ok()?;
    let (run, sequence) = at.last.0.map_or((None, 0), |(run, sequence, _)| (Some(run), sequence));
    let wire::Position { epoch, offset } = at.position;
    let position = Position { run, sequence, epoch, offset, dac_time: at.dac_time };
    let form = if at.is_handed { HANDED } else { FORM };
    Some(Checkpoint { rule_hash: form.into(), position, state })
}

/// `None` if it has another form or is damaged.
pub fn read(checkpoint: &Checkpoint) -> Option<(At, Vec<SavedState>)> {
    let is_handed = checkpoint.rule_hash == HANDED;
    if checkpoint.rule_hash != FORM && !is_handed {
        return None;
    }
    let RuleSnapshot { last, epoch, states } = postcard::from_bytes(&checkpoint.state).ok()?;
    let Position { offset, dac_time, .. } = checkpoint.position;
    let position = wire::Position { epoch: checkpoint.position.epoch, offset };
    let epoch = epoch.map(wire::Epoch);
    Some((At { position, last: LastSample(last), dac_time, epoch, is_handed }, states))
}

/// The states that another DAC has evaluated, at a place in the log of this one. `None` if they have another form or are damaged.
pub fn taken_over(checkpoint: &Checkpoint, position: wire::Position) -> Option<Checkpoint> {
    let (at, states) = read(checkpoint)?;
    // In the life of this DAC silence begins anew.
    write(At { position, epoch: None, is_handed: true, ..at }, states)
}

/// A checkpoint that says nothing.
pub fn without_states() -> Option<Checkpoint> {
    let position = wire::Position { epoch: wire::Epoch(0), offset: wire::Offset(0) };
    let last = LastSample::default();
    write(At { position, last, dac_time: 0, epoch: None, is_handed: true }, Vec::new())
}

/// The place of a checkpoint in the log of this DAC.
pub fn position(checkpoint: &Checkpoint) -> Option<wire::Position> {
    read(checkpoint).map(|(at, _)| at.position)
}

/// The same without the states of rules; none if it is so already. What an earlier life of the DAC received is not evaluated again: the alarms ignore
/// events that they have, and would miss that one was raised.
pub fn forgetting(checkpoint: &Checkpoint, epoch: wire::Epoch) -> Option<Checkpoint> {
    let (mut at, states) = read(checkpoint)?;
    let is_before = at.position.epoch != epoch;
    if states.is_empty() && !is_before {
        return None;
    }
    if is_before {
        at.position = wire::Position { epoch, offset: wire::Offset(0) };
    }
    at.is_handed = false;
    write(at, Vec::new())
}
