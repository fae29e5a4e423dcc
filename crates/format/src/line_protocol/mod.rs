//! Reads points in the line protocol of InfluxDB: `cpu,host=a usage=1.5,cores=4i 1700000000000000000`.
//!
//! `points` finds the lines of a point, `point` parses one. The file is read twice: a survey finds the fields of each series, then each point
//! becomes a sample.

mod point;
mod points;
mod reading;
mod series_key;

pub use point::{BadPoint, Field, Point, parse};
pub use points::Points;
pub use reading::cell;
pub use series_key::series_key;

use crate::input::InputFormat;

/// Points in line protocol.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "line-protocol",
    title: "line protocol",
    help: "Points of InfluxDB and Telegraf",
    extensions: &["lp", "line", "influx"],
    detect: points::detect,
    read: reading::read,
};

#[cfg(test)]
mod tests;
