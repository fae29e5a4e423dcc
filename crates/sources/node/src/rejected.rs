//! Reasons why a sample is not taken.

use crate::SourceLimits;
use oasis_channel::Failure;
use oasis_format::visible::Visible;

/// A sample that is not taken, with its names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}/{}: {why}", Visible(node), Visible(instance))]
pub struct RefusedSample {
    /// The node, shortened.
    node: String,
    /// The instance, shortened.
    instance: String,
    /// The reason.
    pub why: Rejected,
}

impl RefusedSample {
    pub(crate) fn new(node: &str, instance: &str, why: Rejected) -> Self {
        Self { node: quoted(node), instance: quoted(instance), why }
    }
}

/// Why a sample is not taken. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The sample would create one node too many.
    #[error("the limit of {} nodes is reached: raise max_nodes, or send fewer", .0.max_nodes)]
    TooManyNodes(SourceLimits),
    /// The sample would create one instance too many.
    #[error("the limit of {} instances is reached: raise max_series, or send fewer", .0.max_instances)]
    TooManyInstances(SourceLimits),
    /// The instance would have one field too many.
    #[error("the limit of {} fields of an instance is reached: {field:?} would be one more", limits.max_fields)]
    TooManyFields {
        /// The limits.
        limits: SourceLimits,
        /// The first field beyond, shortened.
        field: String,
    },
    /// A name is empty, too long, or has a sign that names cannot have.
    #[error("the {of} {name:?} cannot be a name: {why}")]
    Name {
        /// `node`, `instance` or `field`
        of: &'static str,
        /// The name, shortened.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// All fields have other types than before.
    #[error("the field {field:?} has another type than before: {was}, now {now}")]
    OtherType {
        /// The first such field, shortened.
        field: String,
        /// The type before.
        was: &'static str,
        /// The type of the value.
        now: &'static str,
    },
    /// No field has a value.
    #[error("the sample has no field with a value")]
    Empty,
    /// The sample does not fit into a batch.
    #[error("the sample has {bytes} bytes: at most {max} are taken")]
    TooLong {
        /// Bytes of its values.
        bytes: usize,
        /// Most bytes.
        max: usize,
    },
    /// The DAC refuses the node or the instance.
    #[error("the DAC refuses it: {0}")]
    Refused(String),
}

/// Most characters of a name in an error.
const MAX_QUOTED_CHARACTERS: usize = 60;

impl Rejected {
    pub(crate) fn name(of: &'static str, name: &str, why: &'static str) -> Self {
        Self::Name { of, name: quoted(name), why }
    }

    pub(crate) fn refused(failure: &Failure) -> Self {
        Self::Refused(failure.message.clone())
    }
}

pub(crate) fn quoted(name: &str) -> String {
    name.chars().take(MAX_QUOTED_CHARACTERS).collect()
}
