//! Why a node cannot be as it is told to.

use crate::{
    deadband::DeadbandError,
    file_spool::DirectoryError,
    flight_recorder::{MAX_RECORDER_BYTES, TriggerError},
    overflow::MAX_RING_BYTES,
};
use std::io;

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Two instances of one name.
    #[error("two instances of node {node:?} are named {instance:?}: names are unique within a node")]
    DuplicateInstance {
        /// The node.
        node: String,
        /// The name.
        instance: String,
    },
    /// Something was said of an instance that is not there.
    #[error("node {node:?} has no instance {instance:?}: add it before")]
    UnknownInstance {
        /// The node.
        node: String,
        /// The name.
        instance: String,
    },
    /// Generated code that does not fit this library.
    #[error("the schema of probe type {name} cannot be used: {problem}")]
    Schema {
        /// PDL name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A spool directory that cannot be used.
    #[error(transparent)]
    Spool(#[from] DirectoryError),
    /// A ring larger than [`MAX_RING_BYTES`], or than the memory there is.
    #[error(
        "{instance:?} cannot have a ring of {bytes} bytes: {MAX_RING_BYTES} are allowed, and memory has to be there for it"
    )]
    RingBytes {
        /// Of which instance.
        instance: String,
        /// What was asked for.
        bytes: usize,
    },
    /// A deadband that makes no sense.
    #[error("{instance:?} cannot be on change: {error}")]
    Deadband {
        /// Of which instance.
        instance: String,
        /// Why.
        error: DeadbandError,
    },
    /// A flight recorder that makes no sense.
    #[error("{instance:?} cannot have this flight recorder: {error}")]
    Recorder {
        /// Of which instance.
        instance: String,
        /// Why.
        error: TriggerError,
    },
    /// A flight recorder with more memory than [`MAX_RECORDER_BYTES`].
    #[error(
        "{instance:?} cannot have a flight recorder of {bytes} bytes: at most {MAX_RECORDER_BYTES} are allowed"
    )]
    RecorderBytes {
        /// Of which instance.
        instance: String,
        /// What was asked for.
        bytes: usize,
    },
    /// An overhead budget that makes no sense.
    #[error(
        "an overhead budget of {0} makes no sense: it is a share of one core, such as 0.02, and more than 0"
    )]
    Budget(f64),
    /// The operating system gave no thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}
