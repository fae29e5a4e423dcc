//! Iterates over the records of a segment file, and skips damage.

use crate::record::{self, ALIGN, BadRecord, FILE_HEADER, FileHeader, Head, Kind};

/// An item of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A valid record.
    Record {
        /// Its path.
        position: u64,
        /// Its kind.
        head: Head,
        /// Its payload.
        payload: &'a [u8],
    },
    /// Damaged bytes between valid records.
    Damage {
        /// First byte.
        from: u64,
        /// After the last one.
        to: u64,
    },
}

/// Iterates over the bytes of a file. Bytes after the last valid record are not reported: see [`Walk::end`].
#[derive(Debug)]
pub struct Walk<'a> {
    bytes: &'a [u8],
    nonce: u64,
    at: usize,
    end: usize,
    is_sealed: bool,
}

impl<'a> Walk<'a> {
    /// Iterates over a whole file with this header.
    pub fn new(bytes: &'a [u8], header: &FileHeader) -> Self {
        Self { bytes, nonce: header.nonce, at: FILE_HEADER, end: FILE_HEADER, is_sealed: false }
    }

    /// End of the last valid record so far; at the end of the walk the rest is a torn tail.
    pub fn end(&self) -> u64 {
        self.end as u64
    }

    /// Whether the last record was the index of a sealed file.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    fn try_at(&self, at: usize) -> Result<(Head, &'a [u8], usize), BadRecord> {
        let rest = self.bytes.get(at..).ok_or(BadRecord::Short)?;
        record::parse(rest, self.nonce, at as u64)
    }

    /// Finds the next valid record from `at` on.
    fn search(&self, mut at: usize) -> Option<usize> {
        while at < self.bytes.len() {
            match self.try_at(at) {
                Ok(_) => return Some(at),
                // The head is valid, so the next record follows it.
                Err(BadRecord::Payload(size)) => at += size,
                Err(_) => at += ALIGN,
            }
        }
        None
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if self.is_sealed {
            return None;
        }
        let found = self.search(self.at)?;
        if found > self.at {
            let damage = Step::Damage { from: self.at as u64, to: found as u64 };
            self.at = found;
            return Some(damage);
        }
        let (head, payload, size) = self.try_at(found).ok()?;
        self.at = found + size;
        self.end = self.at;
        self.is_sealed = head.kind == Kind::Index;
        Some(Step::Record { position: found as u64, head, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Start;
    use oasis_wire::quantity::{Epoch, Nanos};
    use proptest::prelude::*;

    const HEADER: FileHeader = FileHeader {
        number: 1,
        nonce: 99,
        created: Nanos(0),
        epoch: Epoch(1),
        marks_syncs: true,
        has_groups: false,
    };

    fn start(position: u64) -> Start {
        Start { nonce: HEADER.nonce, position, follows_sync: false }
    }

    /// A file with these payloads, and the start of each record.
    fn file(payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = HEADER.write().to_vec();
        let mut positions = Vec::new();
        for payload in payloads {
            positions.push(bytes.len());
            let position = bytes.len() as u64;
            record::put(&mut bytes, start(position), (Kind::Batch, 1), (0, 0), payload);
        }
        (bytes, positions)
    }

    fn records(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<(u64, u64)>, u64) {
        let (mut found, mut damage) = (Vec::new(), Vec::new());
        let mut walk = Walk::new(bytes, &HEADER);
        for step in walk.by_ref() {
            match step {
                Step::Record { payload, .. } => found.push(payload.to_vec()),
                Step::Damage { from, to } => damage.push((from, to)),
            }
        }
        (found, damage, walk.end())
    }

    proptest! {
        #[test]
        fn a_torn_tail_loses_only_its_own_record(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 1..20),
            cut: prop::sample::Index,
        ) {
            let (bytes, positions) = file(&payloads);
            let cut = FILE_HEADER + cut.index(bytes.len() - FILE_HEADER + 1);
            let (found, damage, end) = records(&bytes[..cut]);
            let ends = positions.iter().skip(1).copied().chain([bytes.len()]);
            let whole = ends.filter(|&end| end <= cut).count();
            prop_assert_eq!(&found[..], &payloads[..whole]);
            prop_assert!(damage.is_empty());
            prop_assert_eq!(end as usize, positions.get(whole).copied().unwrap_or(bytes.len()));
        }

        #[test]
        fn flipped_bits_lose_their_records_and_are_located(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 2..20),
            bits in proptest::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            let (mut bytes, positions) = file(&payloads);
            let of = |byte: usize| positions.partition_point(|&position| position <= byte) - 1;
            let mut flipped = std::collections::BTreeSet::new();
            for bit in bits {
                let bit = FILE_HEADER * 8 + bit.index((bytes.len() - FILE_HEADER) * 8);
                // Flipping a bit twice changes nothing.
                if flipped.insert(bit) {
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            }
            let hurt: std::collections::BTreeSet<_> = flipped.iter().map(|bit| of(bit / 8)).collect();
            let (found, damage, end) = records(&bytes);
            let good: Vec<_> =
                payloads.iter().enumerate().filter(|(index, _)| !hurt.contains(index)).map(|(_, p)| p.clone()).collect();
            prop_assert_eq!(found, good);
            for index in hurt {
                let at = positions[index] as u64;
                prop_assert!(at >= end || damage.iter().any(|&(from, to)| from <= at && at < to));
            }
        }
    }

    #[test]
    fn a_record_image_within_a_damaged_payload_is_not_taken_for_one() {
        let mut image = Vec::new();
        record::put(&mut image, Start { nonce: 1, ..start(0) }, (Kind::Batch, 1), (0, 0), b"made up");
        let (mut bytes, positions) = file(&[image, b"good".to_vec()]);
        bytes[positions[0] + 4] ^= 1;
        assert_eq!(records(&bytes).0, [b"good".to_vec()]);
    }
}
