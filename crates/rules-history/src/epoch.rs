//! When a life of the DAC began.

use oasis_wire::quantity::Epoch;

/// An epoch is the time of the DAC's start, but for these bits.
const RANDOM: u64 = 0xffff;

/// The DAC time at which silence begins anew in an epoch: the start of the DAC. At most that of the first batch, for epochs that are no time.
pub fn restarted_at(epoch: Epoch, first: u64) -> u64 {
    (epoch.0 & !RANDOM).min(first)
}
