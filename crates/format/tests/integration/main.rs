//! Formats from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod mcap_bounds;
mod mcap_ros2;
mod mcap_seeds;
mod reference;
