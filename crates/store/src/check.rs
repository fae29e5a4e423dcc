//! Reads and decodes all of an archive from end to end, as its readers do, and reports what is damaged and which samples that costs. Changes nothing.

mod refused;

use crate::{
    catalogue::{self, Catalogue, Share},
    gap::Gap,
    index::{self, Entry, ScannedFile, SeriesIndex},
    open_error::OpenError,
    record::{self, FileHeader, Kind, NotASegment},
    recovery::{self, Finding, Unreadable, file_name},
    rollups::RollupFile,
    segment_file,
};
use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files and samples that were checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckTotals {
    /// Segment files, including damaged ones.
    pub segments: u64,
    /// Roll-up files, including damaged ones.
    pub rollups: u64,
    /// Bytes of all of these.
    pub bytes: u64,
    /// Samples in segment files that can be read.
    pub samples: u64,
}

/// Damage of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Its description and place.
    pub finding: Finding,
    /// The samples that it makes unreadable.
    pub lost: Vec<Lost>,
}

/// Samples of one instance that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Number of samples.
    pub samples: u64,
    /// Bounds of their times, nanoseconds since 1970 on the node's clock, from neighbors or the catalogue.
    pub times: (u64, u64),
}

/// Progress of a check.
#[derive(Debug)]
pub enum CheckEvent<'a> {
    /// Damage was found.
    Damage(&'a Damage),
    /// Files were read, of this many segment files.
    Read(CheckTotals, u64),
}

/// Reads all files of an archive, also while a DAC writes to it, and reports each damage when it is found.
///
/// # Errors
/// If there is no archive, or its folder or catalogue cannot be read for another reason than damage.
pub fn check(directory: &Path, mut report: impl FnMut(CheckEvent<'_>)) -> Result<CheckTotals, OpenError> {
    let report = &mut report;
    let failed = |error| OpenError::Directory { path: directory.to_owned(), error };
    let files = recovery::segment_files(directory).map_err(failed)?;
    let catalogue = check_catalogue(directory, files.is_empty(), report)?;
    let mut checked = CheckTotals::default();
    let listed = catalogue.as_ref().map(Catalogue::segment_numbers).transpose()?.unwrap_or_default();
    for (number, path) in &files {
        let shares = match &catalogue {
            Some(catalogue) if listed.contains(number) => Some(catalogue.shares(*number)?),
            _ => None,
        };
        check_segment(path, shares.as_deref(), &mut checked, report);
        report(CheckEvent::Read(checked, files.len() as u64));
    }
    if let Some(catalogue) = &catalogue {
        let is_there = |number: &u64| files.iter().any(|(found, _)| found == number);
        let gone = listed.into_iter().filter(|number| !is_there(number));
        check_gone(directory, catalogue, gone, report)?;
    }
    for path in rollup_files(directory).map_err(failed)? {
        check_rollup(&path, &mut checked, report);
    }
    Ok(checked)
}

/// The catalogue, if it can be read.
fn check_catalogue(
    directory: &Path,
    has_no_files: bool,
    report: &mut impl FnMut(CheckEvent<'_>),
) -> Result<Option<Catalogue>, OpenError> {
    let detail = match open_catalogue(directory) {
        Ok(catalogue) => return Ok(Some(catalogue)),
        Err(OpenError::Absent(_)) if !has_no_files => {
            "file not found: the next start of the DAC makes it again from the segment files".into()
        }
        Err(OpenError::Catalogue(error)) if catalogue::is_damage(&error) => {
            format!("{error}: the next start of the DAC renames it and makes it again from the segment files")
        }
        Err(error) => return Err(error),
    };
    let finding = Finding { file: "catalogue.sqlite".into(), from: 0, to: 0, kind: "damaged", detail };
    report(CheckEvent::Damage(&Damage { finding, lost: Vec::new() }));
    Ok(None)
}

/// Reports listed files that are missing.
fn check_gone(
    directory: &Path,
    catalogue: &Catalogue,
    numbers: impl Iterator<Item = u64>,
    report: &mut impl FnMut(CheckEvent<'_>),
) -> Result<(), OpenError> {
    for number in numbers {
        // Retention may have removed it since it was listed.
        if catalogue.segment_numbers()?.contains(&number) {
            let path = segment_file::path(directory, number);
            let gone = Unreadable::Io(io::Error::new(io::ErrorKind::NotFound, "the file is gone"));
            let lost = catalogue.shares(number)?.iter().map(Lost::all_of).collect();
            report(CheckEvent::Damage(&Damage { finding: recovery::unreadable(&path, &gone), lost }));
        }
    }
    Ok(())
}

fn open_catalogue(directory: &Path) -> Result<Catalogue, OpenError> {
    if !directory.join("catalogue.sqlite").is_file() {
        return Err(OpenError::Absent(directory.to_owned()));
    }
    let catalogue = Catalogue::open_to_read(directory)?;
    catalogue.look_over()?;
    Ok(catalogue)
}

/// Checks one file; `shares` are its series in the catalogue, if it is listed.
fn check_segment(
    path: &Path,
    shares: Option<&[Share]>,
    checked: &mut CheckTotals,
    report: &mut impl FnMut(CheckEvent<'_>),
) {
    let file = match SegmentBytes::read(path, shares.is_some()) {
        Ok(file) => file,
        // Retention has removed it.
        Err(Unreadable::Io(error)) if error.kind() == io::ErrorKind::NotFound => return,
        // A new file without content.
        Err(Unreadable::Header(NotASegment::Short(_))) if shares.is_none() => return,
        Err(error) => {
            checked.segments += 1;
            let lost = shares.unwrap_or_default().iter().map(Lost::all_of).collect();
            return report(CheckEvent::Damage(&Damage { finding: recovery::unreadable(path, &error), lost }));
        }
    };
    let length = file.bytes.len() as u64;
    let mut damage = file.found.damage.clone();
    let index = file.index();
    // In an open file, the next records follow the last valid one.
    if shares.is_some() && !file.found.is_sealed {
        damage.push(file.found.end..length);
    }
    let mut lost_samples = 0;
    for range in damage {
        let lost = lost_in(&range, &file.found, index, shares.unwrap_or_default());
        lost_samples = sum(lost.iter().map(|lost| lost.samples)).saturating_add(lost_samples);
        let what =
            if range.start == file.found.end { "no valid record from here on" } else { "damaged bytes" };
        let rest = match shares {
            Some(_) if lost.is_empty() => "no samples are lost",
            _ => "the rest of the file is intact",
        };
        report(CheckEvent::Damage(&Damage {
            finding: finding(path, range, format!("{what}; {rest}")),
            lost,
        }));
    }
    if shares.is_some() && file.found.is_sealed && index.is_none() {
        let detail = "damaged trailer: readers scan the whole file; no samples are lost";
        report(CheckEvent::Damage(&Damage {
            finding: finding(path, file.found.end..length, detail.into()),
            lost: Vec::new(),
        }));
    }
    if file.found.orphans > 0 && file.found.damage.is_empty() {
        let detail =
            format!("{} intact records are of no known series or type, or no batches", file.found.orphans);
        report(CheckEvent::Damage(&Damage { finding: finding(path, 0..length, detail), lost: Vec::new() }));
    }
    for damage in refused::batches(path, &file.bytes, &file.found.index) {
        lost_samples = sum(damage.lost.iter().map(|lost| lost.samples)).saturating_add(lost_samples);
        report(CheckEvent::Damage(&damage));
    }
    checked.segments += 1;
    checked.bytes += length;
    let samples = match shares {
        Some(shares) => sum(shares.iter().map(|share| share.samples)),
        None => file.samples(),
    };
    let samples = samples.saturating_sub(lost_samples);
    checked.samples = checked.samples.saturating_add(samples);
}

/// Numbers in files and catalogue may have been forged.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn finding(path: &Path, bytes: Range<u64>, detail: String) -> Finding {
    Finding { file: file_name(path), from: bytes.start, to: bytes.end, kind: "damaged", detail }
}

/// The content of a file.
struct SegmentBytes {
    header: FileHeader,
    bytes: Vec<u8>,
    found: ScannedFile,
}

impl SegmentBytes {
    /// Reads a file. An open one is read again if it looks damaged, because it may have grown while it was read.
    fn read(path: &Path, is_listed: bool) -> Result<Self, Unreadable> {
        let file = Self::read_once(path)?;
        if is_listed || file.found.damage.is_empty() { Ok(file) } else { Self::read_once(path) }
    }

    fn read_once(path: &Path) -> Result<Self, Unreadable> {
        let bytes = fs::read(path)?;
        let (header, found) = recovery::scan(&bytes)?;
        Ok(Self { header, bytes, found })
    }

    fn samples(&self) -> u64 {
        let entries = self.found.index.series.iter().flat_map(|series| &series.entries);
        entries.map(|entry| u64::from(entry.count)).sum()
    }

    /// Returns the index that the trailer points to, if it is valid.
    fn index(&self) -> Option<&[u8]> {
        let position = record::parse_trailer(&self.bytes)?;
        let record = self.bytes.get(usize::try_from(position).ok()?..)?;
        let (head, payload, _) = record::parse(record, self.header.nonce, position).ok()?;
        (head.kind == Kind::Index).then_some(payload)
    }
}

/// Returns the samples lost in these bytes: by the index of the file, or without one by the neighboring batches.
fn lost_in(range: &Range<u64>, found: &ScannedFile, index: Option<&[u8]>, shares: &[Share]) -> Vec<Lost> {
    let of_share = |share: &Share| match index.and_then(|index| index::read(index, share.number).ok()) {
        Some(entries) => {
            let hit: Vec<_> = entries.iter().filter(|entry| range.contains(&entry.position)).collect();
            let samples = hit.iter().map(|entry| u64::from(entry.count)).sum();
            let first = hit.iter().map(|entry| entry.min_time).min().unwrap_or_default();
            (samples, (first, hit.iter().map(|entry| entry.max_time).max().unwrap_or_default()))
        }
        None => match found.index.series.iter().find(|series| share.is_of(&series.series)) {
            Some(series) => lost_of_series(range, series, share, &found.damage),
            // Its own record is damaged: report it with the first damage.
            None if found.damage.first().is_none_or(|first| first == range) => (share.samples, share.times),
            None => (0, share.times),
        },
    };
    let lost = |share: &Share| {
        let (samples, times) = of_share(share);
        (samples > 0).then(|| Lost {
            node: share.node.clone(),
            instance: share.instance.clone(),
            samples,
            times,
        })
    };
    shares.iter().filter_map(lost).collect()
}

/// Returns the number of samples of a series between the valid batches on both sides of some bytes, and their time bounds.
fn lost_of_series(
    range: &Range<u64>,
    series: &SeriesIndex,
    share: &Share,
    damage: &[Range<u64>],
) -> (u64, (u64, u64)) {
    let next = series.entries.partition_point(|entry| entry.position < range.start);
    let before = next.checked_sub(1).map(|at| &series.entries[at]);
    let after = series.entries.get(next);
    let is_counted = |other: &Range<u64>| {
        other.start < range.start && before.is_none_or(|entry| other.start > entry.position)
    };
    if damage.iter().any(is_counted) {
        return (0, share.times);
    }
    let (from, to) = (before.map_or(share.first, Entry::end), after.map_or(share.end, |entry| entry.first));
    let never_stored = |gap: &Gap| gap.to.0.min(to.0).saturating_sub(gap.from.0.max(from.0));
    let samples = to.0.saturating_sub(from.0).saturating_sub(sum(series.gaps.iter().map(never_stored)));
    let first = before.map_or(share.times.0, |entry| entry.max_time);
    (samples, (first, after.map_or(share.times.1, |entry| entry.min_time)))
}

impl Lost {
    fn all_of(share: &Share) -> Self {
        let (node, instance) = (share.node.clone(), share.instance.clone());
        Self { node, instance, samples: share.samples, times: share.times }
    }
}

fn rollup_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "oroll") {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn check_rollup(path: &Path, checked: &mut CheckTotals, report: &mut impl FnMut(CheckEvent<'_>)) {
    let file = match RollupFile::open(path) {
        Ok(file) => file,
        // A merge has removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            checked.rollups += 1;
            let detail =
                format!("{error}: the next start of the DAC makes it again from the remaining samples");
            let to = fs::metadata(path).map_or(0, |metadata| metadata.len());
            return report(CheckEvent::Damage(&Damage {
                finding: finding(path, 0..to, detail),
                lost: Vec::new(),
            }));
        }
    };
    checked.rollups += 1;
    checked.bytes += file.bytes;
    for series in &file.directory.series {
        for place in &series.batches {
            if let Err(bad) = file.cells(series, place) {
                let finding = file.note_damage(place, &bad);
                report(CheckEvent::Damage(&Damage { finding, lost: Vec::new() }));
            }
        }
    }
}
