//! The time as couriers know it: tests simulate it.

use oasis_wire::quantity::Nanos;
use std::time::Instant;

/// The time of a courier.
pub trait Clock: Sync {
    /// The DAC's clock. It may jump.
    fn wall(&self) -> Nanos;
    /// A clock that does not jump.
    fn steady(&self) -> Instant;
}

/// The clocks of this host.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> Nanos {
        oasis_dac::now()
    }

    fn steady(&self) -> Instant {
        Instant::now()
    }
}
