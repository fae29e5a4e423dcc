//! Protocol Buffers: the wire format, and messages with their descriptor, as Foxglove's SDK records them.
//!
//! In the order of reading: `wire` splits bytes into fields, `descriptor` reads a `FileDescriptorSet`, `layout` makes the metrics of a message
//! type, and `message` decodes a message.

#[cfg(feature = "mcap")]
mod descriptor;
#[cfg(feature = "mcap")]
mod layout;
#[cfg(feature = "mcap")]
mod message;
mod wire;

#[cfg(feature = "mcap")]
pub use layout::{BadDescriptor, Layout};
#[cfg(feature = "mcap")]
pub use message::BadMessage;
pub use wire::{BadWire, WireValue, fixed, next_field, varint};

#[cfg(all(test, feature = "mcap"))]
mod tests;
