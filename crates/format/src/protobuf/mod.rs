//! Protocol Buffers: the wire format, and messages with their descriptor, as Foxglove's SDK records them.
//!
//! In the order of reading: `wire` splits bytes into fields, `descriptor` reads a `FileDescriptorSet`, `layout` makes the metrics of a message
//! type, and `message` decodes a message. `descriptor_writer` and `message_writer` write those of an export.

#[cfg(feature = "mcap")]
mod default_value;
#[cfg(feature = "mcap")]
mod descriptor;
#[cfg(feature = "mcap")]
mod descriptor_writer;
#[cfg(feature = "mcap")]
mod layout;
#[cfg(feature = "mcap")]
mod message;
#[cfg(feature = "mcap")]
mod message_writer;
mod wire;
pub mod wire_writer;

#[cfg(feature = "mcap")]
pub(crate) use descriptor_writer::descriptor_set;
#[cfg(feature = "mcap")]
pub use layout::{BadDescriptor, Layout};
#[cfg(feature = "mcap")]
pub use message::BadMessage;
#[cfg(feature = "mcap")]
pub(crate) use message_writer::encode;
pub use wire::{BadWire, WireValue, fixed, next_field, varint};

#[cfg(all(test, feature = "mcap"))]
mod tests;
