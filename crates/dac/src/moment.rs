//! A point in time on the two clocks of a DAC.

use oasis_wire::quantity::Nanos;
use std::{
    sync::OnceLock,
    time::{Instant, SystemTime},
};

/// A point in time. Samples are stamped with the wall clock, which can be set. Deadlines use the steady clock.
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
        Self { wall: now(), steady: steady() }
    }
}

/// Both clocks show the same, as in tests and simulations.
impl From<Nanos> for Moment {
    fn from(time: Nanos) -> Self {
        Self { wall: time, steady: time }
    }
}

/// Returns the time of the DAC's wall clock.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the time of a clock that cannot be set.
pub(crate) fn steady() -> Nanos {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let elapsed = BEGIN.get_or_init(Instant::now).elapsed();
    Nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}
