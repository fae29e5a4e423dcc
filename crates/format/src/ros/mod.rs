//! Messages of ROS and DDS: CDR, as rosbag2 records it with a schema in the encoding `ros2msg`, `ros2idl` or `omgidl`, and messages of ROS 1 with
//! `ros1msg`.
//!
//! In the order of reading: `definitions` and `idl` read the text of a schema, `layout` makes the metrics of its fields, `cdr` with `wide_text`,
//! `parameters` and `absent`, and `packed` decode a message of ROS 2 and of ROS 1. `definition_writer` and `cdr_writer` write those of an export.

mod absent;
mod bad_cdr;
mod cdr;
#[cfg(feature = "mcap")]
mod cdr_writer;
#[cfg(feature = "mcap")]
mod definition_writer;
mod definitions;
mod encoding;
mod extensibility;
mod idl;
mod layout;
mod packed;
mod parameters;
mod wide_text;

#[cfg(feature = "mcap")]
pub use bad_cdr::BadCdr;
#[cfg(feature = "mcap")]
pub use cdr_writer::encode;
#[cfg(feature = "mcap")]
pub use definition_writer::definition;
pub use layout::{BadLayout, Layout};
#[cfg(feature = "mcap")]
pub use packed::BadPacked;

#[cfg(test)]
mod tests;
