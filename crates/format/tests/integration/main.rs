//! Formats from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod corpus;
mod counting_allocator;
mod csv_dialects;
mod damaged_files;
#[cfg(feature = "mcap")]
mod mcap_bounds;
#[cfg(feature = "mcap")]
mod mcap_encodings;
mod mcap_records;
#[cfg(feature = "mcap")]
mod mcap_ros2;
#[cfg(feature = "mcap")]
mod mcap_seeds;
mod reference;
mod round_trips;
mod times_before_1970;
