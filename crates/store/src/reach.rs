//! The time span of stored samples.

use std::collections::BTreeMap;

/// Least and greatest time, nanoseconds.
pub type Reach = (u64, u64);

/// By node and name of an instance.
pub type Reaches = BTreeMap<(String, String), Reach>;
