//! Reads logs of PX4 (ULog, <https://docs.px4.io/main/en/dev_log/ulog_file_format.html>), also with appended data.
//!
//! `messages` iterates over the messages of a file, `format` converts the data of a topic to rows, `texts` reads parameters, information
//! and log records. The file is read twice: the first time for the topics and for the offset of the clock, the second time for the samples.

mod format;
mod messages;
mod reading;
mod texts;

use crate::input::InputFormat;

/// Logs of PX4.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "ulog",
    title: "ULog",
    help: "Logs of PX4: topics, parameters, log records, dropouts",
    extensions: &["ulg", "ulog"],
    detect: |beginning| beginning.starts_with(&messages::MAGIC),
    read: reading::read,
};

#[cfg(test)]
mod tests;
