//! The clock of this machine.

use oasis_wire::quantity::Nanos;
use std::time::SystemTime;

/// The current time, nanoseconds since 1970.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}
