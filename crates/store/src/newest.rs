//! Finds the newest samples of a time span, from its end, without reading all of it.

use oasis_wire::quantity::Offset;
use std::ops::Range;

/// A search for the newest samples of a time span. It receives batches from the newest to the oldest until it has found all samples.
#[derive(Debug, Clone)]
pub struct Newest {
    /// Nanoseconds since 1970 on the node's clock.
    times: Range<u64>,
    /// Samples that are still to be found.
    missing: u64,
}

/// A batch as listed in an index.
#[derive(Debug, Clone, Copy)]
pub struct ListedBatch {
    /// Offset of its first sample.
    pub first: Offset,
    /// Samples.
    pub count: u64,
    /// Its least and greatest time, possibly rounded outwards.
    pub times: (u64, u64),
}

impl Newest {
    /// Searches the newest `samples` within `times`.
    pub fn new(times: Range<u64>, samples: u64) -> Self {
        Self { times, missing: samples }
    }

    /// The beginning of the time span, and how many samples are still to be found.
    pub fn wanted(&self) -> (u64, u64) {
        (self.times.start, self.missing)
    }

    /// The end of the time span, if any.
    pub fn until(&self) -> Option<u64> {
        (self.times.end < u64::MAX).then_some(self.times.end)
    }

    /// Whether all were found.
    pub fn is_found(&self) -> bool {
        self.missing == 0
    }

    /// Whether samples of these times can be requested.
    pub fn overlaps(&self, (least, greatest): (u64, u64)) -> bool {
        least < self.times.end && greatest >= self.times.start
    }

    /// The number of samples of a batch that certainly match, without reading their times.
    pub(crate) fn certain(&self, batch: &ListedBatch) -> u64 {
        let (least, greatest) = batch.times;
        if least >= self.times.start && greatest < self.times.end { batch.count } else { 0 }
    }

    /// Samples that are still to be found.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// Adds the previous batch. Returns the offset of the first sample found so far, if the batch has matching samples.
    /// `read` returns the times of its samples, or `None` if they cannot be read.
    pub fn take(&mut self, batch: &ListedBatch, read: impl FnOnce() -> Option<Vec<u64>>) -> Option<Offset> {
        if self.is_found() || !self.overlaps(batch.times) {
            return None;
        }
        if self.certain(batch) > 0 {
            let taken = self.missing.min(batch.count);
            self.missing -= taken;
            return Some(Offset(batch.first.0 + batch.count - taken));
        }
        let times = read()?;
        let mut oldest = None;
        for (place, time) in times.iter().enumerate().rev() {
            if self.times.contains(time) && !self.is_found() {
                self.missing -= 1;
                oldest = Some(Offset(batch.first.0 + place as u64));
            }
        }
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of ten samples, one each nanosecond from 100 on: the one at this place.
    fn batch(place: u64) -> (ListedBatch, Vec<u64>) {
        let times: Vec<_> = (100 + 10 * place..110 + 10 * place).collect();
        (ListedBatch { first: Offset(10 * place), count: 10, times: (times[0], times[9]) }, times)
    }

    /// The start offset after five batches, and the number of batches that were read.
    fn find(times: Range<u64>, samples: u64) -> (Option<u64>, usize, bool) {
        let (mut newest, mut begin, mut reads) = (Newest::new(times, samples), None, 0);
        for place in (0..5).rev() {
            let (listed, times) = batch(place);
            let read = || {
                reads += 1;
                Some(times)
            };
            begin = newest.take(&listed, read).map(|offset| offset.0).or(begin);
        }
        (begin, reads, newest.is_found())
    }

    #[test]
    fn counts_from_the_end_and_reads_only_batches_that_the_ends_of_the_time_go_through() {
        assert_eq!(find(0..u64::MAX, 3), (Some(47), 0, true));
        assert_eq!(find(0..u64::MAX, 12), (Some(38), 0, true));
        assert_eq!(find(0..125, 1), (Some(24), 1, true));
        assert_eq!(find(0..125, 7), (Some(18), 1, true));
        assert_eq!(find(0..u64::MAX, 1_000), (Some(0), 0, false));
        assert_eq!(find(113..125, 1_000), (Some(13), 2, false));
        assert_eq!(find(113..117, 2), (Some(15), 1, true));
        assert_eq!(find(0..100, 2), (None, 0, false));
        assert_eq!(find(150..200, 2), (None, 0, false));
    }

    #[test]
    fn an_unreadable_batch_has_no_samples() {
        let mut newest = Newest::new(0..105, 2);
        assert_eq!(newest.take(&batch(0).0, || None), None);
        assert!(!newest.is_found());
    }
}
