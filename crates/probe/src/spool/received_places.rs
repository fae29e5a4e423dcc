//! Ends of the received batches of one instance that wait in the file spool until they are safe.

use super::SequencePosition;
use std::collections::VecDeque;

/// Most places remembered. Beyond it every second one is forgotten: what is released is then a little less than is safe.
const MAX_PLACES: usize = 16;

/// The places, in order.
#[derive(Debug, Clone, Default)]
pub struct ReceivedPlaces(VecDeque<SequencePosition>);

impl ReceivedPlaces {
    /// Adds the end of a batch.
    pub fn push(&mut self, place: SequencePosition) {
        if self.0.len() == MAX_PLACES {
            let mut is_kept = false;
            self.0.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
        }
        self.0.push_back(place);
    }

    /// Removes the places up to a sequence number, and returns the last of them.
    pub fn take_up_to(&mut self, sequence: u64) -> Option<SequencePosition> {
        let count = self.0.partition_point(|place| place.sequence <= sequence);
        self.0.drain(..count).next_back()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(sequence: u64) -> SequencePosition {
        SequencePosition { sequence, ..SequencePosition::default() }
    }

    #[test]
    fn the_last_place_is_exact_and_earlier_ones_are_never_too_late() {
        let mut places = ReceivedPlaces::default();
        (1..=1_000).for_each(|sequence| places.push(place(sequence)));
        assert!(places.0.len() <= MAX_PLACES);
        let released = places.take_up_to(900).unwrap().sequence;
        assert!((1..=900).contains(&released), "{released}");
        assert_eq!(places.take_up_to(1_000), Some(place(1_000)));
        assert!(places.is_empty() && places.take_up_to(2_000).is_none());
    }
}
