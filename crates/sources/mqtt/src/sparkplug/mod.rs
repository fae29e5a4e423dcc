//! Sparkplug B: topics and payloads with a meaning that all devices share.
//!
//! `topic` parses a topic, `oasis-mqtt-client` the bytes, `device` makes rows of them with the type of the last birth, and `edges` follows the births, deaths and
//! sequence numbers of edge nodes.
//! Source: <https://sparkplug.eclipse.org/specification/version/3.0/documents/sparkplug-specification-3.0.0.pdf>.

mod device;
mod edges;
mod topic;

#[cfg(test)]
mod tests;

pub use edges::{Edges, Request};
