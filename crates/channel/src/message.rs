//! Messages between node and DAC, besides batches.

use crate::ResumeSecret;
use oasis_wire::{
    command::Command,
    probe_kind::ProbeKind,
    quantity::{DemandRange, Epoch, Hertz, TopicId},
    schema::ProbeType,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A message from the node to the DAC. The first one must be `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum NodeMessage {
    /// Identifies the node.
    Hello {
        /// [`crate::PROTOCOL`] of the node.
        protocol: u32,
        /// The node.
        node: NodeIdentity,
        /// Proves, when the node connects again, that it is the owner of `node.run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<ResumeSecret>,
        /// Number of this connection among all of the run, to any DAC. The DAC of the highest number is home.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attach: Option<u64>,
        /// Whether the node understands [`DacMessage::Drain`].
        #[serde(default, skip_serializing_if = "is_false")]
        drains: bool,
    },
    /// Registers probe types and instances: all of them, or those added since the last time.
    Register {
        /// Schemas of the instances' types.
        types: Vec<ProbeType>,
        /// The instances.
        instances: Vec<RegisteredInstance>,
    },
    /// Announces a replay: the samples were recorded earlier. They have new times and their original sequence
    /// numbers. Sent after `hello`.
    Replay,
    /// Reports a gap of a replay: the recording lacks these sequence numbers of an instance. They follow those of the
    /// preceding batch or `missing`. May be repeated.
    Missing {
        /// The instance.
        topic: TopicId,
        /// First missing number.
        from_sequence: u64,
        /// Last missing number.
        to_sequence: u64,
        /// The cause of the loss as in the ledger, or `not_recorded`.
        cause: String,
    },
    /// Announces datagrams: from now on batches may arrive by UDP, out of order or not at all, at the port in
    /// `welcome`.
    Datagrams,
    /// Announces that the node keeps samples until they are [safe](DacMessage::Safe), and asks for these messages. Sent
    /// before `register`, if `welcome` offers it.
    KeepUntilSafe,
    /// Takes the turn of batches that the DAC [keeps](DacMessage::KeptAhead), which are not sent again.
    Release(Release),
    /// Reports the samples taken and dropped so far, for the ledger. Sent before the batches that follow a drop, and
    /// every second.
    Counters {
        /// One entry an instance.
        instances: Vec<Counters>,
    },
    /// Answer to a command.
    Result {
        /// The command's id.
        id: u64,
        /// The instance's new state, or why the command was refused.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// Keeps the connection alive, and measures the clock offset.
    Ping {
        /// Node's clock, in nanoseconds.
        node_time: u64,
        /// DAC clock minus node clock in nanoseconds, once estimated.
        clock_offset_ns: Option<i64>,
        /// Round trip of the exchange that the estimate is based on.
        round_trip_ns: Option<u64>,
        /// Cost of the instrumentation in the last second, once measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overhead: Option<Overhead>,
    },
    /// Announces that the node ends on purpose.
    Goodbye {
        /// For example `shutdown`.
        reason: String,
    },
}

/// A message from the DAC to the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum DacMessage {
    /// Answer to `hello`.
    Welcome {
        /// [`crate::PROTOCOL`] of the DAC.
        protocol: u32,
        /// Epoch of the DAC's topic logs.
        epoch: Epoch,
        /// Name and version.
        software: String,
        /// Address to which this connection's batches may be sent as datagrams, if the DAC accepts them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        datagrams: Option<DatagramOffer>,
        /// Condition under which samples are safe here, if the DAC reports that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        safe: Option<SafeWhen>,
        /// Whether the DAC takes batches that are sent [ahead](crate::frame::Frame::Ahead).
        #[serde(default, skip_serializing_if = "is_false")]
        ahead: bool,
    },
    /// Answer to `register`: the topic of each instance.
    Registered {
        /// One entry an instance.
        topics: Vec<TopicAssignment>,
    },
    /// Acknowledges that samples are received: they are in the topic log, or recorded as missing. The node need not
    /// send them again to this DAC.
    Ack {
        /// Topic and last sequence number, one pair a topic.
        topics: Vec<(TopicId, u64)>,
    },
    /// Says which batches sent ahead the DAC keeps until their turn. They are not received: the end of the connection
    /// discards them.
    KeptAhead {
        /// Topic and first sequence number of each batch.
        topics: Vec<(TopicId, u64)>,
    },
    /// Acknowledges that samples are safe: the node need not keep them for another DAC.
    Safe {
        /// Why.
        reason: SafeReason,
        /// Topic and last sequence number, one pair a topic.
        topics: Vec<(TopicId, u64)>,
    },
    /// A command.
    Command {
        /// Repeated in `result`.
        id: u64,
        /// Names the command on its whole way: a node executes it at most once. An older DAC names none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uuid: Option<Uuid>,
        /// Instance name.
        instance: String,
        /// The command.
        #[serde(flatten)]
        command: Command,
    },
    /// Answer to `ping`.
    Pong {
        /// As in the `ping`.
        node_time: u64,
        /// DAC's clock, in nanoseconds.
        dac_time: u64,
    },
    /// Asks the node to leave: the DAC ends soon. The node sends no more batches, waits until those in transit are safe,
    /// and says goodbye. Sent to nodes that understand it.
    Drain,
    /// Refuses the peer: the DAC closes the channel next.
    Refused(Failure),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The turn of consecutive batches of one topic that were sent ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The topic.
    pub topic: TopicId,
    /// First sequence number of the first batch.
    pub from_sequence: u64,
    /// Last sequence number of the last batch.
    pub to_sequence: u64,
    /// Samples dropped before the first batch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_before: u32,
}

/// Condition under which samples are safe at a DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SafeWhen {
    /// Its archive stores them.
    Stored,
    /// The DAC has no archive, and NATS JetStream has a copy of them.
    Copied,
    /// The DAC has neither: they are safe some seconds after they were received.
    Held,
}

impl SafeWhen {
    /// Returns whether samples become safe by what the DAC does, and not by waiting.
    pub fn is_awaited(self) -> bool {
        self != Self::Held
    }
}

/// Why samples are safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SafeReason {
    /// The archive has them, synced to the disk.
    Stored,
    /// NATS JetStream has acknowledged a copy of them.
    Copied,
    /// The DAC has neither archive nor copy, and received them 10 s ago.
    Held,
    /// The archive will not store them: no retention rule matches the instance, or it has declared some of them lost.
    NotStored,
    /// They are not safe, and will not be: the copy to NATS JetStream has declared some of them lost.
    NotCopied,
}

/// Port and token of the datagrams of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramOffer {
    /// UDP port, at the IP address of the connection.
    pub port: u16,
    /// Present in each datagram. It is secret, and expires with the connection.
    pub token: Uuid,
}

/// Identity of a node and its current run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeIdentity {
    /// Name, unique among the nodes of a DAC.
    pub name: String,
    /// The node's identity across runs.
    pub uuid: Uuid,
    /// The current run of the node's process: sequence numbers start at 1 in each.
    pub run: Uuid,
    /// Host name.
    pub host: String,
    /// Name and version.
    pub software: String,
    /// Process number.
    pub pid: u32,
}

/// A probe instance as its node registers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegisteredInstance {
    /// Name, unique within the node.
    pub name: String,
    /// UUID of its type.
    #[serde(rename = "type")]
    pub probe_type: Uuid,
    /// Trigger of its samples.
    pub kind: ProbeKind,
    /// Range of rates if it follows the demand of its readers. Only for a periodic probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<DemandRange>,
    /// Declaration of the program, however commands have changed it since; absent from nodes that do not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
    /// Rate, and whether it is enabled.
    #[serde(flatten)]
    pub state: InstanceState,
}

/// A program's declaration of an instance, which applies again when commands are taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// Rate of a periodic probe; absent for a pushed one, and for one without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hertz: Option<Hertz>,
    /// Whether it takes samples.
    pub enabled: bool,
    /// Deadbands by metric, in their units; of other metrics every change counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deadbands: BTreeMap<String, f64>,
}

/// The time that a flight recorder sends around a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RecorderSpan {
    /// Seconds before it.
    pub before_s: f64,
    /// Seconds after it.
    pub after_s: f64,
}

/// The state of an instance that commands change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InstanceState {
    /// Rate of a periodic probe; absent for a pushed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hertz: Option<Hertz>,
    /// Whether it takes samples.
    pub enabled: bool,
    /// The time that its flight recorder sends around a trigger, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<RecorderSpan>,
}

/// The topic of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicAssignment {
    /// Instance name.
    pub instance: String,
    /// Its topic during this epoch.
    pub topic: TopicId,
}

/// An instance's samples within the node, counted since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The instance.
    pub topic: TopicId,
    /// Samples taken: equals the last sequence number assigned.
    pub taken: u64,
    /// Last sequence number sent: all samples up to it were received by a DAC, are in transit, or lost.
    #[serde(default)]
    pub sent: u64,
    /// Samples dropped before the last batch that was sent, by cause.
    pub dropped: Drops,
    /// Samples after `sent` that no batch will contain, by cause: all up to `taken`, or none. The next batch reports them again.
    #[serde(default, skip_serializing_if = "Drops::is_empty")]
    pub after_sent: Drops,
}

/// Samples dropped in the node, by [cause](oasis_wire::loss::Cause). On the wire the fields keep their first names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// The probe's ring was full.
    #[serde(rename = "ring")]
    pub ring_full: u64,
    /// The spool was full while the DAC was unreachable or slow.
    #[serde(rename = "spool")]
    pub spool_full: u64,
    /// No trigger of the probe's flight recorder fired near them in time.
    #[serde(default)]
    pub kept_back: u64,
    /// Their rows did not fit the schema of their type, or were too long.
    #[serde(rename = "invalid", default)]
    pub invalid_row: u64,
    /// The node did not call their probe for a second or more.
    #[serde(default)]
    pub not_taken: u64,
    /// They were lost between a device and the gateway that is its node here.
    #[serde(default, skip_serializing_if = "is_none")]
    pub network: u64,
}

impl Drops {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how many there are.
    pub fn total(&self) -> u64 {
        let Self { ring_full, spool_full, kept_back, invalid_row, not_taken, network } = *self;
        [ring_full, spool_full, kept_back, invalid_row, not_taken, network]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns the smaller count of each cause.
    pub fn min(self, other: Self) -> Self {
        self.each(other, u64::min)
    }

    /// Returns the larger count of each cause.
    pub fn max(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    /// Returns the sum of each cause.
    pub fn with(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    /// Returns the difference of each cause, at least 0.
    pub fn without(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    fn each(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            ring_full: of(self.ring_full, other.ring_full),
            spool_full: of(self.spool_full, other.spool_full),
            kept_back: of(self.kept_back, other.kept_back),
            invalid_row: of(self.invalid_row, other.invalid_row),
            not_taken: of(self.not_taken, other.not_taken),
            network: of(self.network, other.network),
        }
    }
}

/// Cost of the instrumentation on its host, and how the node limits it. Shares are of one core.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Processor time of the node's threads.
    pub cpu: f64,
    /// Time spent in callbacks of periodic probes, asleep or not.
    pub callbacks: f64,
    /// Limit for `cpu`, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Rates in hertz of instances that the budget slows down. Their states contain the requested rates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lowered: BTreeMap<String, f64>,
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The command succeeded; this is the instance's new state.
    Done(InstanceState),
    /// The command failed.
    Failed(Failure),
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Failure {
    /// Code for programs.
    pub code: String,
    /// Message for people.
    pub message: String,
}

impl Failure {
    /// Creates a failure with a code from `docs/reference/data-channel.md`.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }

    /// Returns whether a DAC that refused a node may take it a moment later.
    pub fn is_temporary(&self) -> bool {
        TEMPORARY.contains(&self.code.as_str())
    }
}

/// Codes of refusals that say nothing about the next attempt.
const TEMPORARY: [&str; 5] = ["draining", "hello_timeout", "idle_timeout", "memory_limit", "node_moved"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_flattened_beside_its_id() {
        let uuid = Uuid::from_u128(0xc0);
        for (uuid, named) in [(None, ""), (Some(uuid), r#""uuid":"00000000-0000-0000-0000-0000000000c0","#)] {
            let message = DacMessage::Command {
                id: 7,
                uuid,
                instance: "processor".into(),
                command: Command::Hertz { hertz: Hertz::new(10.0).unwrap() },
            };
            let json = serde_json::to_string(&message).unwrap();
            let expected = format!(
                r#"{{"op":"command","id":7,{named}"instance":"processor","command":"hertz","hertz":10.0}}"#
            );
            assert_eq!(json, expected);
            assert_eq!(serde_json::from_str::<DacMessage>(&json).unwrap(), message);
        }
    }

    #[test]
    fn a_result_contains_a_state_or_a_failure() {
        let done = NodeMessage::Result {
            id: 1,
            outcome: Outcome::Done(InstanceState { hertz: None, enabled: true, recorder: None }),
        };
        let refused =
            NodeMessage::Result { id: 2, outcome: Outcome::Failed(Failure::new("not_periodic", "no")) };
        for message in [done, refused] {
            let json = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<NodeMessage>(&json).unwrap(), message, "{json}");
        }
    }

    #[test]
    fn a_rate_out_of_range_is_refused() {
        let json = r#"{"op":"command","id":7,"instance":"p","command":"hertz","hertz":1e9}"#;
        assert!(serde_json::from_str::<DacMessage>(json).unwrap_err().to_string().contains("out of range"));
    }
}
