//! Reads bags of ROS 1 (version 2.0, <https://wiki.ros.org/Bags/Format/2.0>).
//!
//! `records` iterates over the records of a file, those of chunks too, which `chunk` unpacks; `reading` decodes the messages of each connection.

mod chunk;
mod reading;
mod records;

use crate::input::InputFormat;

/// Bags of ROS 1.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "rosbag1",
    title: "ROS 1 bag",
    help: "Bags of ROS 1",
    extensions: &["bag"],
    detect: |beginning| beginning.starts_with(records::MAGIC),
    read: reading::read,
};

#[cfg(test)]
mod tests;
