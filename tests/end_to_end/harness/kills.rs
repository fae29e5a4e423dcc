//! The number of times that a test kills processes.

use std::env;

/// Returns `OASIS_TEST_KILLS`, or the usual number of a test.
pub fn kills(usual: u32) -> u32 {
    env::var("OASIS_TEST_KILLS").map_or(usual, |kills| kills.parse().expect("a number"))
}
