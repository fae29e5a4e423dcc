//! The readers' view of open files: committed records.

use super::Store;
use crate::{catalogue::Extent, gap::Gap, index::SeriesIndex, segment_file::OpenFile, series::Series};
use std::sync::{Arc, PoisonError};

/// The share of a series in an open file.
#[derive(Debug)]
pub struct OpenShare {
    /// The file's number.
    pub segment: u64,
    /// The series.
    pub series: Arc<Series>,
    /// Samples.
    pub samples: u64,
    /// Least and greatest time of them, nanoseconds.
    pub times: (u64, u64),
    /// The same without implausible times.
    pub plausible: Option<(u64, u64)>,
}

/// A gap in an open file.
#[derive(Debug)]
pub struct OpenGap {
    /// The file's number.
    pub segment: u64,
    /// The series.
    pub series: Arc<Series>,
    /// The gap.
    pub gap: Gap,
}

impl Store {
    /// Adds an open file.
    pub fn add_open(&self, file: &Arc<OpenFile>) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(file.header.number, file.clone());
    }

    /// Removes an open file without content.
    pub fn remove_open(&self, number: u64) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// Returns shares of open files with at least this many batches.
    pub fn busy_extents(&self, batches: usize) -> Vec<Extent> {
        let mut extents = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let busy = (1..).zip(&index.series).filter(|(_, series)| series.entries.len() >= batches);
            extents.extend(busy.filter_map(|(at, series)| extent(file.header.number, at, series)));
        }
        extents
    }

    /// Returns the shares of all open files.
    pub fn open_shares(&self) -> Vec<OpenShare> {
        let mut shares = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let with_samples = index.series.iter().filter(|series| !series.entries.is_empty());
            shares.extend(with_samples.map(|series| OpenShare {
                segment: file.header.number,
                series: series.series.clone(),
                samples: series.entries.iter().map(|entry| u64::from(entry.count)).sum(),
                times: series.times,
                plausible: series.plausible,
            }));
        }
        shares
    }

    /// Returns the gaps of all open files.
    pub fn open_gaps(&self) -> Vec<OpenGap> {
        let mut gaps = Vec::new();
        for file in self.open_from(0) {
            for of in &file.index().series {
                let told =
                    |gap: &Gap| OpenGap { segment: file.header.number, series: of.series.clone(), gap: *gap };
                gaps.extend(of.gaps.iter().map(told));
            }
        }
        gaps
    }

    /// Returns the open file with this number.
    pub(super) fn open_file(&self, segment: u64) -> Option<Arc<OpenFile>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(&segment).cloned()
    }

    /// Returns open files from a number on, in order.
    pub(super) fn open_from(&self, segment: u64) -> Vec<Arc<OpenFile>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.range(segment..).map(|(_, file)| file.clone()).collect()
    }
}

/// Returns a series' share of an open file; `None` before its first commit.
pub(super) fn extent(segment: u64, number: u32, series: &SeriesIndex) -> Option<Extent> {
    let (first, last) = (series.entries.first()?, series.entries.last()?);
    Some(Extent {
        segment,
        number,
        series: series.series.clone(),
        first: first.first,
        end: last.end(),
        min_time: series.times.0,
        max_time: series.times.1,
        last_sequence: last.last_sequence,
    })
}
