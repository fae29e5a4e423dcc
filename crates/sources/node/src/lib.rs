//! Nodes and instances of a DAC for samples that arrive in other protocols.
//!
//! A source parses what its peers send and pushes each sample with its node, its instance and its fields into [`SourceNodes`]. That opens a
//! node session inside the process for each node, as rules do for derived instances, so that the samples take the way of all samples: they
//! are numbered, archived, watched by rules and sent to readers. The type of an instance follows its fields. A field that appears later, or that a
//! sample lacks for the first time, makes another type: the instance and its numbers continue with it. A source that knows the types of its samples declares them with each [`DeclaredSample`].
//!
//! ```
//! use oasis_format::columns::Cell;
//! use oasis_source_node::{SourceLimits, SourceNodes, SourceSample};
//!
//! let dac = oasis_dac::Dac::new(oasis_dac::Config::default());
//! let mut nodes = SourceNodes::new(dac.clone(), "an example", SourceLimits::default());
//! let fields = [("level".into(), Cell::Real(1.5)), ("pumps".into(), Cell::Int(2))];
//! nodes.push(&SourceSample { node: "plant", instance: "tank", type_name: "Tank", time: 1, fields: &fields })?;
//! assert_eq!(nodes.flush().count, 0);
//! let tank = dac.registry.instances().into_iter().find(|instance| &*instance.name == "tank").ok_or("registered")?;
//! assert_eq!(tank.ledger().last_sequence, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod limits;
mod lost;
mod message;
mod names;
mod node;
mod rejected;
mod repeats;
mod rows;
mod sample;
mod series;
mod set;
mod stored;

#[cfg(test)]
mod tests;

pub use body::{BodyError, MAX_BODY_BYTES, decoded};
pub use limits::SourceLimits;
pub use lost::{LostSamples, SourceLoss};
pub use message::{MessageSamples, SampleReference};
pub use names::push_node_name;
pub use rejected::{RefusedSample, Rejected};
pub use repeats::Repeats;
pub use sample::{DeclaredSample, SourceSample};
pub use set::SourceNodes;
pub use stored::{stored, wait_until_stored};
