//! Messages of Protocol Buffers with their descriptor, as Foxglove's SDK records them.
//!
//! In the order of reading: `wire` splits bytes into fields, `descriptor` reads a `FileDescriptorSet`, `layout` makes the metrics of a message
//! type, and `message` decodes a message.

mod descriptor;
mod layout;
mod message;
mod wire;

pub use layout::{BadDescriptor, Layout};
pub use message::BadMessage;

#[cfg(test)]
mod tests;
