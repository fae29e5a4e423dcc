//! The files that are being written, as readers see them: what was committed.

use super::Store;
use crate::{catalogue::Extent, gap::Gap, index::SeriesIndex, segment_file::OpenFile, series::Series};
use std::sync::{Arc, PoisonError};

/// What a file that is being written has of a series.
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
}

/// What a file that is being written says was not stored.
#[derive(Debug)]
pub struct OpenGap {
    /// The file's number.
    pub segment: u64,
    /// The series.
    pub series: Arc<Series>,
    /// What.
    pub gap: Gap,
}

impl Store {
    /// Shows readers a file that is being written.
    pub fn add_open(&self, file: &Arc<OpenFile>) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(file.header.number, file.clone());
    }

    /// Forgets a file that was begun and has nothing in it.
    pub fn remove_open(&self, number: u64) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// The shares of files that are being written which have at least so many batches.
    pub fn busy_extents(&self, batches: usize) -> Vec<Extent> {
        let mut extents = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let busy = (1..).zip(&index.series).filter(|(_, series)| series.entries.len() >= batches);
            extents.extend(busy.filter_map(|(at, series)| extent(file.header.number, at, series)));
        }
        extents
    }

    /// What files that are being written have of each series.
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
            }));
        }
        shares
    }

    /// What files that are being written say was not stored.
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

    /// The one with this number, if it is being written.
    pub(super) fn open_file(&self, segment: u64) -> Option<Arc<OpenFile>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(&segment).cloned()
    }

    /// Those from a number on, in order.
    pub(super) fn open_from(&self, segment: u64) -> Vec<Arc<OpenFile>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.range(segment..).map(|(_, file)| file.clone()).collect()
    }
}

/// A series' share of a file that is being written; none if nothing of it was committed yet.
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
