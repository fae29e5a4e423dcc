//! Roll-ups: minimum, maximum, mean and last value of each metric for each second, minute and hour. They are made once for a segment
//! file when it is sealed, and are kept for longer than it.
//!
//! `file` is one roll-up file, [`Rollups`] all of them. [`rolling`](mod@crate::rolling) makes them.

pub mod file;

pub use file::{RolledSeries, RollupFile};

use crate::{
    catalogue::TimeRange,
    plausible::TimeLimits,
    recovery::{self, Finding},
};
use oasis_rollup::cells::Level;
use oasis_wire::quantity::Nanos;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

/// All roll-up files of an archive.
#[derive(Debug, Default)]
pub struct Rollups {
    files: RwLock<Vec<Arc<RollupFile>>>,
    /// Segment files that were processed, successfully or not.
    tried: RwLock<BTreeSet<u64>>,
    /// Files among them whose roll-ups did not fit on the disk.
    without_room: RwLock<BTreeSet<u64>>,
}

impl Rollups {
    /// Opens all complete files; damaged ones are made again if their samples are still there. Only the process that writes to the folder removes leftovers.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open(&self, folder: &Path, tidies: bool) -> io::Result<Vec<Finding>> {
        let (mut files, mut findings) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let ends_with = |end: &str| path.extension().is_some_and(|extension| extension == end);
            if ends_with("part") && tidies && is_ours(&path) {
                let _ = fs::remove_file(&path);
            }
            if !ends_with("oroll") {
                continue;
            }
            match RollupFile::open(&path) {
                Ok(file) => files.push(Arc::new(file)),
                Err(error) => {
                    findings.push(damaged(&path, &format!("{error}: made again from the remaining samples")));
                    if tidies {
                        let _ = fs::rename(&path, path.with_extension("damaged"));
                    }
                }
            }
        }
        // An interrupted merge left its source files.
        let is_left = |file: &Arc<RollupFile>| files.iter().any(|other| file.is_within(other));
        let left: Vec<_> =
            files.iter().filter(|file| is_left(file)).map(|file| file.path().to_owned()).collect();
        files.retain(|file| !left.iter().any(|path| path == file.path()));
        if tidies {
            left.iter().for_each(|path| drop(fs::remove_file(path)));
        }
        files.sort_by_key(|file| file.directory.segments.first().copied());
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = files;
        Ok(findings)
    }

    /// All files of a level, oldest first.
    pub fn of_level(&self, level: Level) -> Vec<Arc<RollupFile>> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.iter().filter(|file| file.directory.level == level).cloned().collect()
    }

    /// Node and name of all instances in any file, with the time of their newest sample, nanoseconds.
    pub fn instances(&self) -> BTreeMap<(Arc<str>, Arc<str>), u64> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        let mut instances = BTreeMap::new();
        for series in files.iter().flat_map(|file| &file.directory.series) {
            let last = instances.entry((series.node.clone(), series.instance.clone())).or_default();
            *last = series.reach.time.max(*last);
        }
        instances
    }

    /// Times of the oldest and the newest cell of each instance, nanoseconds, by node and name.
    pub fn ranges(&self, limits: TimeLimits) -> BTreeMap<(Arc<str>, Arc<str>), TimeRange> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        let mut ranges: BTreeMap<_, TimeRange> = BTreeMap::new();
        for file in files.iter() {
            for series in &file.directory.series {
                let Some(range) = range(file, series, limits) else { continue };
                let names = (series.node.clone(), series.instance.clone());
                ranges.entry(names).and_modify(|known| *known = known.and(range)).or_insert(range);
            }
        }
        ranges
    }

    /// As [`Rollups::ranges`], for one instance; `None` if no file contains it.
    pub fn range_of(&self, node: &str, instance: &str, limits: TimeLimits) -> Option<TimeRange> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        let of_it =
            files.iter().flat_map(|file| file.directory.series.iter().map(move |series| (file, series)));
        let of_it = of_it.filter(|(_, series)| &*series.node == node && &*series.instance == instance);
        of_it.filter_map(|(file, series)| range(file, series, limits)).reduce(TimeRange::and)
    }

    /// Segment files that a level covers.
    pub fn covered(&self, level: Level) -> BTreeSet<u64> {
        self.of_level(level).iter().flat_map(|file| file.directory.segments.iter().copied()).collect()
    }

    /// Whether a segment file may be evicted: its roll-ups are made, or failed.
    pub fn has_tried(&self, segment: u64) -> bool {
        self.tried.read().unwrap_or_else(PoisonError::into_inner).contains(&segment)
    }

    /// The number of existing segment files whose roll-ups are made, or failed.
    pub fn settled(&self) -> u64 {
        let tried = self.tried.read().unwrap_or_else(PoisonError::into_inner).len();
        tried.saturating_sub(self.waiting_for_room()) as u64
    }

    /// Removes an evicted segment file. Returns whether its roll-ups were waiting for disk space.
    pub fn forget_segment(&self, segment: u64) -> bool {
        self.tried.write().unwrap_or_else(PoisonError::into_inner).remove(&segment);
        self.without_room.write().unwrap_or_else(PoisonError::into_inner).remove(&segment)
    }

    /// Removes all other segment files, which were evicted meanwhile.
    pub(crate) fn keep(&self, segments: &BTreeSet<u64>) {
        for of in [&self.tried, &self.without_room] {
            of.write().unwrap_or_else(PoisonError::into_inner).retain(|number| segments.contains(number));
        }
    }

    pub(crate) fn note_tried(&self, segment: u64) {
        self.tried.write().unwrap_or_else(PoisonError::into_inner).insert(segment);
    }

    pub(crate) fn waiting_for_room(&self) -> usize {
        self.without_room.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn waits_for_room(&self, segment: u64) -> bool {
        self.without_room.read().unwrap_or_else(PoisonError::into_inner).contains(&segment)
    }

    pub(crate) fn note_room(&self, segment: u64, was_there: bool) {
        let mut without_room = self.without_room.write().unwrap_or_else(PoisonError::into_inner);
        if was_there {
            without_room.remove(&segment)
        } else {
            without_room.insert(segment)
        };
    }

    /// Replaces files by the file that was made from them.
    pub(crate) fn replace(&self, new: RollupFile, old: &[Arc<RollupFile>]) {
        let path = new.path().to_owned();
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| !old.iter().any(|gone| Arc::ptr_eq(gone, file)));
        files.push(Arc::new(new));
        files.sort_by_key(|file| file.directory.segments.first().copied());
        drop(files);
        for file in old.iter().filter(|file| *file.path() != *path) {
            // The next start removes leftovers.
            let _ = fs::remove_file(file.path());
        }
    }

    /// Removes files.
    pub(crate) fn forget(&self, going: &[Arc<RollupFile>]) {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| !going.iter().any(|gone| Arc::ptr_eq(gone, file)));
        drop(files);
        for file in going {
            let _ = fs::remove_file(file.path());
        }
    }

    /// The number of files, and their bytes.
    pub fn size(&self) -> (u64, u64) {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        (files.len() as u64, files.iter().map(|file| file.bytes).sum())
    }
}

/// The times of the cells of a series, which were received before the file's samples were sealed.
fn range(file: &RollupFile, series: &RolledSeries, limits: TimeLimits) -> Option<TimeRange> {
    let sealed = Nanos(file.directory.sealed);
    let window = limits.around(sealed, sealed);
    let of_places = series.batches.iter().map(|place| {
        let all = (place.min_time, place.max_time);
        TimeRange { all, plausible: window.of(all) }
    });
    of_places.reduce(TimeRange::and)
}

fn is_ours(path: &Path) -> bool {
    let name = recovery::file_name(path);
    Level::ROLLED.iter().any(|level| name.ends_with(&format!(".{}.part", level.word())))
}

fn damaged(path: &Path, detail: &str) -> Finding {
    let to = fs::metadata(path).map_or(0, |metadata| metadata.len());
    Finding { file: recovery::file_name(path), from: 0, to, kind: "damaged", detail: detail.to_owned() }
}
