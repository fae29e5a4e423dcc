//! What node and DAC say to each other besides batches.

use oasis_wire::{
    quantity::{DemandRange, Epoch, Hertz, TopicId},
    schema::ProbeType,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// From the node to the DAC. The first message must be `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum NodeMessage {
    /// Who is calling.
    Hello {
        /// [`crate::PROTOCOL`] of the node.
        protocol: u32,
        /// The node.
        node: NodeIdentity,
    },
    /// Probe types and instances, all of them or those new since the last time.
    Register {
        /// Schemas of the instances' types.
        types: Vec<ProbeType>,
        /// The instances.
        instances: Vec<RegisteredInstance>,
    },
    /// What follows was recorded before and is played back: an instance's samples have new times, and their old sequence numbers. Said behind `hello`.
    Replay,
    /// Of a replay: these sequence numbers of an instance are not in the recording. They follow those of the batch, or of the `missing`, before. It may be said again.
    Missing {
        /// The instance.
        topic: TopicId,
        /// The first of them.
        from_sequence: u64,
        /// The last of them.
        to_sequence: u64,
        /// A word of the ledger: why they were lost then, or `not_recorded`.
        cause: String,
    },
    /// From now on batches may come as datagrams, out of order or not at all, to where `welcome` says.
    Datagrams,
    /// What the node has taken and dropped so far, for the ledger. Sent before the batches that follow a drop, and every second.
    Counters {
        /// One entry an instance.
        instances: Vec<Counters>,
    },
    /// Answer to a command.
    Result {
        /// The command's number.
        id: u64,
        /// The instance's state now, or why the command was refused.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// Sign of life, and one half of a clock exchange.
    Ping {
        /// Node's clock, nanoseconds.
        node_time: u64,
        /// DAC clock minus node clock as the node estimates it, once it does.
        clock_offset_ns: Option<i64>,
        /// Round trip of the exchange that the estimate is from.
        round_trip_ns: Option<u64>,
        /// What the instrumentation cost in the last second, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overhead: Option<Overhead>,
    },
    /// The node ends on purpose.
    Goodbye {
        /// Such as `shutdown`.
        reason: String,
    },
}

/// From the DAC to the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum DacMessage {
    /// Answer to `hello`.
    Welcome {
        /// [`crate::PROTOCOL`] of the DAC.
        protocol: u32,
        /// Life of the DAC's topic logs.
        epoch: Epoch,
        /// Name and version.
        software: String,
        /// Where this connection's batches may come as datagrams, if the DAC takes them so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        datagrams: Option<DatagramOffer>,
    },
    /// Answer to `register`: the topic of each instance.
    Registered {
        /// One entry an instance.
        topics: Vec<TopicAssignment>,
    },
    /// These samples are in the topic log, or noted as missing; the node need not keep them.
    Ack {
        /// Topic and last sequence number, one pair a topic.
        topics: Vec<(TopicId, u64)>,
    },
    /// Do this.
    Command {
        /// Comes back in `result`.
        id: u64,
        /// Instance name.
        instance: String,
        /// What to do.
        #[serde(flatten)]
        command: Command,
    },
    /// Answer to `ping`.
    Pong {
        /// As in the ping.
        node_time: u64,
        /// DAC's clock, nanoseconds.
        dac_time: u64,
    },
    /// The DAC will close the channel.
    Refused(Failure),
}

/// Where and under which token a DAC takes datagrams of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramOffer {
    /// UDP port, at the address that the connection leads to.
    pub port: u16,
    /// Stands in each datagram. Nobody else knows it, and it ends with the connection.
    pub token: Uuid,
}

/// A node and its present life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeIdentity {
    /// Name, unique among the nodes of a DAC.
    pub name: String,
    /// The node's identity over its lives.
    pub uuid: Uuid,
    /// This life of the node's process: sequence numbers count from 1 in each.
    pub run: Uuid,
    /// Host name.
    pub host: String,
    /// Name and version.
    pub software: String,
    /// Process number.
    pub pid: u32,
}

/// A probe instance as its node announces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegisteredInstance {
    /// Name, unique within the node.
    pub name: String,
    /// UUID of its type.
    #[serde(rename = "type")]
    pub probe_type: Uuid,
    /// How it is sampled.
    pub kind: ProbeKind,
    /// Between which rates its readers decide, if it leaves its rate to them. Only for a periodic one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<DemandRange>,
    /// Rate and whether it runs.
    #[serde(flatten)]
    pub state: InstanceState,
}

/// What a flight recorder sends around a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RecorderSpan {
    /// Seconds before it.
    pub before_s: f64,
    /// Seconds after it.
    pub after_s: f64,
}

/// Who decides when a sample is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// The node calls the probe at a rate.
    Periodic,
    /// The application flushes the probe.
    Pushed,
    /// A sample is kept when a metric has moved; silence means that none has. With a rate the node looks, without one the application flushes.
    OnChange,
    /// The application flushes the probe when something happens.
    Event,
}

/// The part of an instance that commands change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InstanceState {
    /// Rate of a periodic probe; absent for a pushed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hertz: Option<Hertz>,
    /// Whether samples are taken.
    pub enabled: bool,
    /// What its flight recorder sends around a trigger, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<RecorderSpan>,
}

/// The topic of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicAssignment {
    /// Instance name.
    pub instance: String,
    /// Its topic while this epoch lasts.
    pub topic: TopicId,
}

/// What happened to an instance's samples within the node, since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The instance.
    pub topic: TopicId,
    /// Samples taken: the last sequence number given out.
    pub taken: u64,
    /// Last sequence number that was sent: all up to it is with a DAC, under way or lost.
    #[serde(default)]
    pub sent: u64,
    /// Samples dropped, by cause.
    pub dropped: Drops,
}

/// Samples dropped in the node, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// The probe's ring was full.
    pub ring: u64,
    /// The spool was full while the DAC was away or slow.
    pub spool: u64,
    /// No trigger of the probe's flight recorder fired near them.
    #[serde(default)]
    pub kept_back: u64,
    /// Their rows did not fit the schema of their type, or were too long.
    #[serde(default)]
    pub invalid: u64,
}

/// What the instrumentation costs its host, and what the node does about it. Shares are of one core.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Processor time of the node's threads.
    pub cpu: f64,
    /// Time within the callbacks of periodic probes, asleep or not.
    pub callbacks: f64,
    /// What `cpu` is kept under, if it is bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// The rates in hertz of instances that run slower than they were asked to, because of the budget. Their states say what was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lowered: BTreeMap<String, f64>,
}

/// What a tool asks of a probe instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Sample at this rate from now on.
    Hertz {
        /// The rate.
        hertz: Hertz,
    },
    /// Take samples.
    Enable,
    /// Take no samples.
    Disable,
    /// Take one sample at once, whatever the rate, and keep it, whatever the deadbands.
    SampleNow,
    /// Send what the flight recorder holds, and what comes for a while.
    Trigger,
    /// Of a probe on change: keep a sample if this metric has moved by more than this.
    Deadband {
        /// Metric name.
        metric: String,
        /// In the metric's unit, 0 or more; absent if any change counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadband: Option<f64>,
    },
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Done; the instance is in this state now.
    Done(InstanceState),
    /// Not done.
    Failed(Failure),
}

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Failure {
    /// One word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl Failure {
    /// A failure with a code from `docs/reference/data-channel.md`.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hertz { hertz } => write!(f, "hertz {hertz}"),
            Self::Enable => f.write_str("enable"),
            Self::Disable => f.write_str("disable"),
            Self::SampleNow => f.write_str("sample-now"),
            Self::Trigger => f.write_str("trigger"),
            Self::Deadband { metric, deadband: Some(deadband) } => write!(f, "deadband {metric} {deadband}"),
            Self::Deadband { metric, deadband: None } => write!(f, "deadband {metric} none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_lies_flat_beside_its_number() {
        let message = DacMessage::Command {
            id: 7,
            instance: "processor".into(),
            command: Command::Hertz { hertz: Hertz::new(10.0).unwrap() },
        };
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(json, r#"{"op":"command","id":7,"instance":"processor","command":"hertz","hertz":10.0}"#);
        assert_eq!(serde_json::from_str::<DacMessage>(&json).unwrap(), message);
    }

    #[test]
    fn a_result_says_state_or_failure() {
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
    fn a_rate_out_of_range_is_no_command() {
        let json = r#"{"op":"command","id":7,"instance":"p","command":"hertz","hertz":1e9}"#;
        assert!(serde_json::from_str::<DacMessage>(json).unwrap_err().to_string().contains("out of range"));
    }
}
