//! Reads logs of candump (`-l`, `-L`, and the screen format with `-ta`), decoded by CAN databases (DBC).
//!
//! `frame` parses a line; [`crate::can`] has databases and signals. The file is read twice: a survey finds the messages and which of their signals
//! are always present, then each frame becomes a sample.

mod frame;
mod reading;

use crate::input::InputFormat;

/// Logs of candump.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "candump",
    title: "candump",
    help: "CAN frames of candump -l, decoded with --dbc",
    extensions: &["log", "candump"],
    detect: |beginning| {
        let lines = beginning.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let mut lines = lines.take(3);
        lines.next().is_some_and(|line| frame::Frame::parse(line).is_ok())
    },
    read: reading::read,
};

#[cfg(test)]
mod tests;
