//! Formats that samples are written in and read from, each in a folder of its own. The crate knows neither archives nor sockets.
//!
//! - [`table`]: rows and columns, the same for every format that has them.
//! - [`mcap`]: MCAP files.
//! - [`arrow`]: Arrow streams and Parquet files (feature `arrow`).

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod mcap;
pub mod table;
