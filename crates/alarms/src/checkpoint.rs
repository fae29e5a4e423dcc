//! Position of a rule in its samples, and its state there.

use oasis_wire::quantity::{Epoch, Nanos, Offset};
use uuid::Uuid;

use crate::RuleEvent;

/// Owner of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointKey {
    /// The rule, or any other name that the engine chooses for what it evaluates together.
    pub rule: String,
    /// The node of the instance.
    pub node: String,
    /// The instance.
    pub instance: String,
}

/// A place in the stream of an instance, and the state of a rule after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Identifies the text of the rule: the state belongs to it and to no other text.
    pub rule_hash: String,
    /// The last sample that was evaluated.
    pub position: Position,
    /// The state of the rule, in the engine's form.
    pub state: Vec<u8>,
}

/// A sample of an instance, in all ways to find it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The run of the node.
    pub run: Option<Uuid>,
    /// The number of the sample in the run.
    pub sequence: u64,
    /// The epoch of the topic log.
    pub epoch: Epoch,
    /// The offset after the sample in the topic log.
    pub offset: Offset,
    /// When the DAC received it, nanoseconds on its clock.
    pub dac_time: u64,
}

/// Result of one evaluation of rules: all of it becomes durable, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Now on the DAC's wall clock. Timed shelves end by it.
    pub now: Nanos,
    /// Results, in order.
    pub events: Vec<RuleEvent>,
    /// Positions of the rules. A checkpoint replaces the earlier one with the same key.
    pub checkpoints: Vec<(CheckpointKey, Checkpoint)>,
}

/// Changes of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitSummary {
    /// Events that were new.
    pub events: usize,
    /// Events with a known key, which were ignored.
    pub duplicates: usize,
    /// Events of alarms for which there was no room ([`Limits::alarms`](crate::Limits::alarms)). The journal has them.
    pub refused: usize,
    /// Checkpoints that are too large ([`Limits`](crate::Limits)): the earlier ones stay.
    pub refused_checkpoints: usize,
    /// Messages that now wait for delivery.
    pub messages: usize,
    /// The revision after it.
    pub revision: u64,
}
