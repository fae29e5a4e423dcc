//! Messages of ROS 2, as rosbag2 records them: CDR, with a schema in the encoding `ros2msg`.
//!
//! In the order of reading: `definitions` reads the text of a schema, `layout` makes the metrics of its fields, `cdr` decodes a message.

mod cdr;
mod definitions;
mod layout;

pub use cdr::BadCdr;
pub use layout::{BadLayout, Layout};

#[cfg(test)]
mod tests;
