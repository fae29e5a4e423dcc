//! A point in time on two clocks.

use oasis_wire::quantity::Nanos;
use std::{
    sync::OnceLock,
    time::{Instant, SystemTime},
};

/// A point in time. Tokens expire by the wall clock, which an administrator may set; sessions, tickets and pauses use
/// the steady clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The wall clock, nanoseconds since 1970.
    pub wall: Nanos,
    /// The steady clock, nanoseconds since it was first read.
    pub steady: Nanos,
}

impl Moment {
    /// Returns the present.
    pub fn now() -> Self {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        let nanos = |time: std::time::Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { wall: nanos(wall), steady: nanos(BEGIN.get_or_init(Instant::now).elapsed()) }
    }
}
