//! Why a node cannot be built or started.

use crate::{
    deadband::DeadbandError,
    file_spool::DirectoryError,
    flight_recorder::{MAX_RECORDER_BYTES, TriggerError},
    overflow::MAX_RING_BYTES,
};
use oasis_channel::{Failure, RegisteredInstance};
use oasis_wire::schema::ProbeType;
use std::io;

/// Longest name of a node or an instance, in bytes (`docs/reference/data-channel.md`).
const MAX_NAME: usize = 1_024;
/// Most instances of a node (`docs/reference/data-channel.md`): a DAC refuses the whole node for one more.
const MAX_INSTANCES: usize = 10_000;

/// Why a node cannot be built or started.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Two instances have one name.
    #[error("duplicate instance {instance:?} of node {node:?}: names must be unique within a node")]
    DuplicateInstance {
        /// The node.
        node: String,
        /// The name.
        instance: String,
    },
    /// A name that DACs refuse: nothing of the node would be received.
    #[error(
        "name of the {what} {name:?} is refused: use 1 to {MAX_NAME} bytes without control characters, such as line ends"
    )]
    Name {
        /// `node` or `instance`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name of a node with a sign of patterns.
    #[error(
        "name of the node {0:?} is refused: use no / and no *, which patterns such as NODE/* would take for theirs"
    )]
    NodeName(String),
    /// More instances than DACs take of one node.
    #[error("{instance:?} is refused: a node has at most {MAX_INSTANCES} instances")]
    TooManyInstances {
        /// The instance.
        instance: String,
    },
    /// An option for an instance that does not exist.
    #[error("node {node:?} has no instance {instance:?}: add the probe first")]
    UnknownInstance {
        /// The node.
        node: String,
        /// The name.
        instance: String,
    },
    /// An option for periodic probes on a probe that its application flushes.
    #[error("{instance:?} is flushed by its application: it has neither a rate nor a number of flushes")]
    NotPeriodic {
        /// The instance.
        instance: String,
    },
    /// Generated code that does not match this library.
    #[error("invalid schema of probe type {name}: {problem}")]
    Schema {
        /// PDL name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A spool directory that cannot be used.
    #[error(transparent)]
    Spool(#[from] DirectoryError),
    /// A ring larger than [`MAX_RING_BYTES`], or than the available memory.
    #[error(
        "cannot allocate a ring of {bytes} bytes for {instance:?}: the limit is {MAX_RING_BYTES}, or the available memory"
    )]
    RingBytes {
        /// The instance.
        instance: String,
        /// The requested bytes.
        bytes: usize,
    },
    /// An invalid deadband.
    #[error("invalid deadbands of {instance:?}: {error}")]
    Deadband {
        /// The instance.
        instance: String,
        /// The cause.
        error: DeadbandError,
    },
    /// An invalid flight recorder.
    #[error("invalid flight recorder of {instance:?}: {error}")]
    Recorder {
        /// The instance.
        instance: String,
        /// The cause.
        error: TriggerError,
    },
    /// A flight recorder with more memory than [`MAX_RECORDER_BYTES`].
    #[error("flight recorder of {instance:?} is too large: {bytes} bytes, the limit is {MAX_RECORDER_BYTES}")]
    RecorderBytes {
        /// The instance.
        instance: String,
        /// The requested bytes.
        bytes: usize,
    },
    /// An invalid overhead budget.
    #[error("invalid overhead budget {0}: use a share of one core above 0, for example 0.02")]
    Budget(f64),
    /// A node of the parent process, in a child made by `fork`.
    #[error("{}", .0.message)]
    Forked(Failure),
    /// The operating system could not create a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

impl NodeError {
    /// Checks the name of a node as a DAC does.
    pub(crate) fn check_node_name(name: &str) -> Result<(), Self> {
        Self::check_name("node", name)?;
        if name.contains(['/', '*']) { Err(Self::NodeName(name.into())) } else { Ok(()) }
    }

    /// Checks what a new instance must not share with those of its node.
    pub(crate) fn check_new(
        node: &str,
        name: &str,
        probe_type: &ProbeType,
        (instances, types): (&[RegisteredInstance], &[ProbeType]),
    ) -> Result<(), Self> {
        if instances.iter().any(|known| known.name == name) {
            return Err(Self::DuplicateInstance { node: node.into(), instance: name.into() });
        }
        if instances.len() >= MAX_INSTANCES {
            return Err(Self::TooManyInstances { instance: name.into() });
        }
        if types.iter().any(|known| known.uuid == probe_type.uuid && known != probe_type) {
            let problem = format!("this node has another schema with the UUID {}", probe_type.uuid);
            return Err(Self::Schema { name: probe_type.name.clone(), problem });
        }
        Ok(())
    }

    /// Checks a name as a DAC does, so that the program learns of it and not the log.
    pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), Self> {
        let is_fine = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
        if is_fine { Ok(()) } else { Err(Self::Name { what, name: name.chars().take(MAX_NAME).collect() }) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

    use super::*;

    fn instance(name: String) -> RegisteredInstance {
        let json = serde_json::json!({
            "name": name, "type": "6b0c1bbb-37a5-4f3f-a6cf-5a3e2a3a8a01", "kind": "pushed", "enabled": true,
        });
        serde_json::from_value(json).unwrap()
    }

    fn probe_type(version: &str) -> ProbeType {
        let json = serde_json::json!({
            "name": "Test", "uuid": "6b0c1bbb-37a5-4f3f-a6cf-5a3e2a3a8a01", "version": version, "metrics": [],
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_node_has_as_many_instances_as_a_dac_takes() {
        let mut instances: Vec<_> = (1..MAX_INSTANCES).map(|number| instance(number.to_string())).collect();
        let check =
            |instances: &[_]| NodeError::check_new("node", "new", &probe_type("1.0"), (instances, &[]));
        check(&instances).unwrap();
        instances.push(instance("last".into()));
        assert!(matches!(check(&instances), Err(NodeError::TooManyInstances { .. })));
    }

    #[test]
    fn one_uuid_is_one_schema() {
        let check =
            |version| NodeError::check_new("node", "new", &probe_type(version), (&[], &[probe_type("1.0")]));
        check("1.0").unwrap();
        assert!(check("1.1").unwrap_err().to_string().contains("another schema"));
    }
}
