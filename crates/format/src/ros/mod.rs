//! Messages of ROS: CDR of ROS 2, as rosbag2 records them with a schema in the encoding `ros2msg`, and those of ROS 1 with `ros1msg`.
//!
//! In the order of reading: `definitions` reads the text of a schema, `layout` makes the metrics of its fields, `cdr` and `packed` decode a
//! message of ROS 2 and of ROS 1.

mod cdr;
mod definitions;
mod layout;
mod packed;

#[cfg(feature = "mcap")]
pub use cdr::BadCdr;
pub use layout::{BadLayout, Layout};
#[cfg(feature = "mcap")]
pub use packed::BadPacked;

#[cfg(test)]
mod tests;
