//! Gaps: offsets that were not stored, and their causes.

use crate::record::{layout, u64_of};
use oasis_wire::{
    loss::Cause,
    quantity::{Nanos, Offset},
};
use serde::Serialize;
use std::ops::Range;

/// Causes of gaps, by their codes in a file, which begin with 1.
const CAUSES: [Cause; 4] = [Cause::ArchiveLag, Cause::DiskFull, Cause::DiskError, Cause::ArchiveStopped];

/// Offsets that were not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// First one.
    pub from: Offset,
    /// After the last one.
    pub to: Offset,
    /// The cause: the archive lagged or was stopped, its disk was full, or failed.
    pub cause: Cause,
    /// When the archive noticed, on the DAC's clock.
    pub time: Nanos,
}

/// Bytes of a gap's payload.
const GAP_BYTES: usize = 32;

layout! {
    /// The payload of a record of a gap.
    gap_fields, super::GAP_BYTES, {
        FROM: 0..8,
        TO: 8..16,
        TIME: 16..24,
        CAUSE: 24..32,
    }
}

impl Gap {
    /// Encodes the payload of a record.
    pub fn write(&self) -> [u8; GAP_BYTES] {
        let mut bytes = [0; GAP_BYTES];
        let code = 1 + CAUSES.iter().position(|cause| *cause == self.cause).unwrap_or_default();
        let fields = [
            (gap_fields::FROM, self.from.0),
            (gap_fields::TO, self.to.0),
            (gap_fields::TIME, self.time.0),
            (gap_fields::CAUSE, code as u64),
        ];
        for (at, field) in fields {
            bytes[at].copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Decodes the payload of a record; `None` if it is invalid.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; GAP_BYTES] = bytes.try_into().ok()?;
        let field = |at: Range<usize>| u64_of(&bytes[at]);
        let cause = usize::try_from(field(gap_fields::CAUSE))
            .ok()?
            .checked_sub(1)
            .and_then(|code| CAUSES.get(code))?;
        Some(Self {
            from: Offset(field(gap_fields::FROM)),
            to: Offset(field(gap_fields::TO)),
            time: Nanos(field(gap_fields::TIME)),
            cause: *cause,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_gap_reads_back(from: u64, to: u64, time: u64, cause in 0..CAUSES.len()) {
            let gap = Gap { from: Offset(from), to: Offset(to), time: Nanos(time), cause: CAUSES[cause] };
            prop_assert_eq!(Gap::parse(&gap.write()), Some(gap));
        }
    }
}
