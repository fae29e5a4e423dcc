//! The clocks of this machine.

use oasis_wire::quantity::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

/// Source of time. Tests have their own.
pub trait Clock: Debug + Send + Sync {
    /// The wall clock, nanoseconds since 1970. Users may set it.
    fn wall(&self) -> Nanos;

    /// Time since this machine was started, sleep included. It cannot be set.
    fn since_boot(&self) -> Duration;

    /// Identifies the run of the machine that [`Clock::since_boot`] counts in.
    fn boot(&self) -> String;
}

/// The clocks of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> Nanos {
        now()
    }

    fn since_boot(&self) -> Duration {
        let time = clock_gettime(ClockId::Boottime);
        let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
    }

    fn boot(&self) -> String {
        // proc_sys_kernel(5). Without it every start counts as a start of the machine.
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.map_or_else(|_| uuid::Uuid::new_v4().to_string(), |id| id.trim().to_owned())
    }
}

/// The current time, nanoseconds since 1970.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}
