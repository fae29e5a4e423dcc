//! Forgets a node or an instance: removes all that an archive has of it.
//!
//! A file in the archive's folder names what is to be forgotten, and is synced before anything is removed. Every step can be repeated, so a process that is
//! killed leaves nothing half: the next one that opens the archive for writing completes it. Segment files that others share are written again without it,
//! and replaced by a rename.

use crate::{
    catalogue::{Holdings, SealedFile, Segment},
    index,
    record::FileHeader,
    rollups::file::{Draft, RolledSeries, RollupFile},
    segment_file::{self, SegmentFile},
    store::{ReadError, Store},
    walk::Walk,
    words,
};
use oasis_wire::quantity::TopicId;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// Name of the file that names what is being forgotten.
const NOTE: &str = "forgetting.json";

/// The node or instance to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Node name.
    pub node: String,
    /// Instance name; `None` for the node with all instances.
    pub instance: Option<String>,
}

impl Forgotten {
    /// Whether an instance is part of it.
    pub fn covers(&self, node: &str, instance: &str) -> bool {
        self.node == node && self.instance.as_ref().is_none_or(|wanted| wanted == instance)
    }
}

impl std::fmt::Display for Forgotten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.instance {
            Some(instance) => write!(f, "{}/{instance}", self.node),
            None => f.write_str(&self.node),
        }
    }
}

/// The removed data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Removed entries of the catalogue.
    pub holdings: Holdings,
    /// Segment files that were written again without it.
    pub rewritten: u64,
    /// Segment files that had nothing else.
    pub removed: u64,
    /// Roll-up files that had something of it.
    pub rollups: u64,
}

impl Store {
    /// Forgets a node or an instance, crash-safe. All segment files must be sealed, and no other process may write to
    /// the archive.
    ///
    /// # Errors
    /// If catalogue or files cannot be read or written. The next start tries again.
    pub fn forget(&self, of: &Forgotten) -> Result<Removed, ReadError> {
        note(&self.directory, of)?;
        let removed = self.remove_all(of)?;
        fs::remove_file(self.directory.join(NOTE))?;
        segment_file::sync_directory(&self.directory)?;
        let segments = self.catalogue().segments()?;
        let mut counters = self.counters.lock();
        counters.segments = segments.len() as u64;
        counters.segment_bytes = segments.iter().map(|segment| segment.bytes).sum();
        drop(counters);
        Ok(removed)
    }

    /// Completes what an earlier process has begun.
    ///
    /// # Errors
    /// As [`Store::forget`].
    pub fn complete_forgetting(&self) -> Result<Option<(Forgotten, Removed)>, ReadError> {
        let Some(of) = noted(&self.directory)? else { return Ok(None) };
        Ok(Some((of.clone(), self.forget(&of)?)))
    }

    fn remove_all(&self, of: &Forgotten) -> Result<Removed, ReadError> {
        let holdings = self.catalogue().holdings(of)?;
        let mut removed = Removed { holdings, ..Removed::default() };
        let listed: BTreeMap<u64, Segment> =
            self.catalogue().segments()?.into_iter().map(|segment| (segment.number, segment)).collect();
        let with_it = self.catalogue().segments_of(of)?;
        for segment in with_it.iter().filter_map(|number| listed.get(number)) {
            match self.write_without(segment, of)? {
                Rewriting::Rewritten => removed.rewritten += 1,
                Rewriting::Emptied => removed.removed += 1,
            }
        }
        removed.rollups = self.roll_without(of)?;
        self.catalogue().forget(of)?;
        self.remove_unreferenced()?;
        Ok(removed)
    }

    /// Writes a segment file again without it.
    fn write_without(&self, segment: &Segment, of: &Forgotten) -> Result<Rewriting, ReadError> {
        let path = segment_file::path(&self.directory, segment.number);
        let bytes = fs::read(&path)?;
        let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
        let found = index::build(Walk::new(&bytes, &header)).index;
        let stays = |series: &index::SeriesIndex| !of.covers(&series.series.node, &series.series.instance);
        let is_empty = |series: &index::SeriesIndex| series.entries.is_empty() && series.gaps.is_empty();
        self.drop_index(segment.number);
        // The index would still reveal the texts; the next start makes another one.
        words::remove(&self.directory, segment.number)?;
        // Its series have other numbers in the new file.
        self.recent.end_file(segment.number);
        if !found.series.iter().any(|series| stays(series) && !is_empty(series)) {
            // In this order: the next start finds a file that is not listed, and the note that it has to go.
            self.catalogue().remove(segment.number)?;
            fs::remove_file(&path)?;
            self.rollups.forget_segment(segment.number);
            return Ok(Rewriting::Emptied);
        }
        let part = path.with_extension("part");
        let nonce = Uuid::new_v4().as_u64_pair().0 ^ Uuid::new_v4().as_u64_pair().1;
        remove_if_there(&part)?;
        let mut file = SegmentFile::create_at(part.clone(), FileHeader { nonce, ..header })?;
        copy(&bytes, &found, stays, &mut file)?;
        let length = file.seal()?;
        fs::rename(&part, &path)?;
        // One that was being made meanwhile.
        words::remove(&self.directory, segment.number)?;
        segment_file::sync_directory(&self.directory)?;
        let open = file.open.clone();
        let index = open.index();
        let mut catalogue = self.catalogue();
        catalogue.begin()?;
        let listed = catalogue
            .remove(segment.number)
            .and_then(|()| catalogue.remove_damage(segment.number))
            .and_then(|()| {
                catalogue.add(&SealedFile {
                    number: segment.number,
                    rule: &segment.rule,
                    created: header.created,
                    sealed: segment.sealed,
                    bytes: length,
                    index: &index,
                    window: self.limits.around(header.created, segment.sealed),
                })
            });
        match listed {
            Ok(()) => catalogue.commit()?,
            Err(error) => {
                catalogue.roll_back();
                return Err(error.into());
            }
        }
        Ok(Rewriting::Rewritten)
    }

    /// Writes roll-up files again without it. Returns how many had it.
    fn roll_without(&self, of: &Forgotten) -> Result<u64, ReadError> {
        let mut changed = 0;
        for level in oasis_rollup::cells::Level::ROLLED {
            for file in self.rollups.of_level(level) {
                let is_of_it = |series: &&RolledSeries| of.covers(&series.node, &series.instance);
                if !file.directory.series.iter().any(|series| is_of_it(&series)) {
                    continue;
                }
                changed += 1;
                match without(&file, of)? {
                    Some(draft) => self.rollups.replace(draft.finish(&self.directory)?, &[file]),
                    None => {
                        self.rollups.forget(std::slice::from_ref(&file));
                        segment_file::sync_directory(&self.directory)?;
                    }
                }
            }
        }
        Ok(changed)
    }
}

enum Rewriting {
    Rewritten,
    Emptied,
}

/// Copies the records of the series that stay, in their order.
fn copy(
    bytes: &[u8],
    found: &index::FileIndex,
    stays: impl Fn(&index::SeriesIndex) -> bool,
    to: &mut SegmentFile,
) -> io::Result<()> {
    let mut batches = Vec::new();
    for (number, series) in (1_u32..).zip(&found.series).filter(|(_, series)| stays(series)) {
        batches.extend(series.entries.iter().map(|entry| (entry, number, series)));
    }
    batches.sort_by_key(|(entry, ..)| entry.position);
    for (entry, number, series) in batches {
        let record = crate::rolling::record_at(bytes, entry);
        let record = record.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a batch has moved"))?;
        let key = (TopicId(number), series.series.run);
        to.stage_record(key, || (*series.series).clone(), record, *entry)?;
    }
    for (number, series) in (1_u32..).zip(&found.series).filter(|(_, series)| stays(series)) {
        let key = (TopicId(number), series.series.run);
        for gap in &series.gaps {
            to.stage_gap(key, || (*series.series).clone(), *gap);
        }
    }
    to.finish_writing()?;
    to.commit()
}

/// Copies the cells of all others; `None` if there are no others.
fn without(file: &Arc<RollupFile>, of: &Forgotten) -> Result<Option<Draft>, ReadError> {
    let directory = &file.directory;
    let mut draft = Draft::new(directory.level, directory.segments.clone(), directory.sealed);
    for series in directory.series.iter().filter(|series| !of.covers(&series.node, &series.instance)) {
        let type_at = draft.type_at(file.plan(series).0);
        let mut batches = Vec::with_capacity(series.batches.len());
        for place in &series.batches {
            // Damaged cells are damaged in the copy as well: left out.
            if let Some(batch) = file.batch(place) {
                batches.push(draft.put(&batch, (place.min_time, place.max_time)));
            }
        }
        draft.directory.series.push(RolledSeries { type_at, batches, ..series.clone() });
    }
    Ok((!draft.directory.series.is_empty()).then_some(draft))
}

/// Whether a process has begun to forget something, and has not completed it.
pub(crate) fn is_under_way(directory: &Path) -> bool {
    directory.join(NOTE).exists()
}

/// Writes and syncs what is to be forgotten.
fn note(directory: &Path, of: &Forgotten) -> io::Result<()> {
    let path = directory.join(NOTE);
    let part = path.with_extension("part");
    let mut file = File::create(&part)?;
    file.write_all(&serde_json::to_vec(of)?)?;
    file.sync_all()?;
    fs::rename(&part, &path)?;
    segment_file::sync_directory(directory)
}

/// Returns what an earlier process has begun to forget.
fn noted(directory: &Path) -> Result<Option<Forgotten>, ReadError> {
    let path: PathBuf = directory.join(NOTE);
    match fs::read(&path) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json).map_err(io::Error::from)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
