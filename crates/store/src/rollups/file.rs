//! A roll-up file: cells of one level of all instances over some segment files, as native batches, and a directory of them at its end.
//!
//! The file is written under a temporary name and renamed after its sync, so a file with its final name is complete.
//! `docs/reference/archive-files.md` is the specification.

use crate::{
    clock::now,
    record::{self, FILE_HEADER, FileHeader, Kind, RECORD_HEADER, Start, TRAILER},
    recovery::{self, Finding},
    segment_file::sync_directory,
};
use bytes::Bytes;
use oasis_rollup::{
    cells::{Level, Plan},
    points::{Missing, Reach},
};
use oasis_wire::{
    batch::{Batch, BatchError, MAX_BATCH},
    quantity::Epoch,
    schema::ProbeType,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use uuid::Uuid;

/// The directory of a file: its last record, in JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Directory {
    /// Level of its cells.
    pub level: Level,
    /// Numbers of the segment files whose samples are in it, each once.
    pub segments: Vec<u64>,
    /// When the last of them was sealed, nanoseconds.
    pub sealed: u64,
    /// Types of cells.
    pub types: Vec<Arc<ProbeType>>,
    /// By instance and type.
    pub series: Vec<RolledSeries>,
}

/// One instance's cells in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RolledSeries {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Place of its type in the directory.
    #[serde(rename = "type")]
    pub type_at: usize,
    /// The first segment file with samples of it.
    pub first_segment: u64,
    /// Position after its last sample.
    pub reach: Reach,
    /// Missing samples.
    pub gaps: Vec<Missing>,
    /// Its batches of cells, in order.
    pub batches: Vec<CellBatchLocation>,
}

/// The place of a batch of cells.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CellBatchLocation {
    /// Position of its record.
    pub position: u64,
    /// Length of its record.
    pub length: u32,
    /// Least time of its cells, nanoseconds.
    pub min_time: u64,
    /// Greatest time.
    pub max_time: u64,
}

/// A complete roll-up file.
#[derive(Debug)]
pub struct RollupFile {
    file: File,
    path: PathBuf,
    nonce: u64,
    /// Its size.
    pub bytes: u64,
    /// Its content.
    pub directory: Directory,
    plans: Vec<Plan>,
    is_damaged: AtomicBool,
}

/// Cells that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCells {
    /// Their bytes are not those that were written.
    #[error(
        "damaged cells in a roll-up: remove the file and restart, then it is made again from the remaining samples"
    )]
    Damaged,
    /// An earlier release wrote more than readers accept.
    #[error(
        "cells in a roll-up that readers refuse ({0}): the next start of the DAC makes the file again from them"
    )]
    Refused(BatchError),
}

/// Name of a file in the archive's folder.
fn name(directory: &Directory) -> String {
    let (first, last) = (directory.segments.first(), directory.segments.last());
    format!("{:010}-{:010}.{}.oroll", first.unwrap_or(&0), last.unwrap_or(&0), directory.level.word())
}

/// Collects a file's batches.
#[derive(Debug)]
pub struct Draft {
    nonce: u64,
    bytes: Vec<u8>,
    /// Its content so far.
    pub directory: Directory,
}

impl Draft {
    /// Creates an empty draft for these segment files.
    pub fn new(level: Level, segments: Vec<u64>, sealed: u64) -> Self {
        let nonce = Uuid::new_v4().as_u64_pair().0 ^ Uuid::new_v4().as_u64_pair().1;
        let number = segments.first().copied().unwrap_or_default();
        let header = FileHeader {
            number,
            nonce,
            created: now(),
            epoch: Epoch(0),
            marks_syncs: false,
            has_groups: false,
        };
        let directory = Directory { level, segments, sealed, types: Vec::new(), series: Vec::new() };
        Self { nonce, bytes: header.write().to_vec(), directory }
    }

    fn start(&self, position: u64) -> Start {
        Start { nonce: self.nonce, position, follows_sync: false }
    }

    /// Appends a batch.
    pub fn put(&mut self, batch: &[u8], times: (u64, u64)) -> CellBatchLocation {
        let position = self.bytes.len() as u64;
        let start = self.start(position);
        record::put(&mut self.bytes, start, (Kind::Batch, 0), times, batch);
        let length = u32::try_from(self.bytes.len() as u64 - position).unwrap_or(u32::MAX);
        CellBatchLocation { position, length, min_time: times.0, max_time: times.1 }
    }

    /// Place of a type in the directory.
    pub fn type_at(&mut self, probe_type: &Arc<ProbeType>) -> usize {
        let types = &mut self.directory.types;
        types.iter().position(|known| known == probe_type).unwrap_or_else(|| {
            types.push(probe_type.clone());
            types.len() - 1
        })
    }

    /// Writes the file, which becomes visible as a whole.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub fn finish(mut self, folder: &Path) -> io::Result<RollupFile> {
        let position = self.bytes.len() as u64;
        let json = serde_json::to_vec(&self.directory)?;
        let start = self.start(position);
        record::put(&mut self.bytes, start, (Kind::Directory, 0), (0, 0), &json);
        self.bytes.extend_from_slice(&record::trailer(position));
        let path = folder.join(name(&self.directory));
        let part = path.with_extension("part");
        let written = fs::write(&part, &self.bytes).and_then(|()| File::open(&part)?.sync_all());
        let written = written.and_then(|()| fs::rename(&part, &path)).and_then(|()| sync_directory(folder));
        if let Err(error) = written {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        RollupFile::open(&path)
    }
}

impl RollupFile {
    /// Opens one and reads its directory.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn open(path: &Path) -> io::Result<Self> {
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let file = File::open(path)?;
        let mut header = [0; FILE_HEADER];
        file.read_exact_at(&mut header, 0)?;
        let header = FileHeader::parse(&header).map_err(io::Error::other)?;
        let bytes = file.metadata()?.len();
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, bytes.saturating_sub(TRAILER as u64))?;
        let position = record::parse_trailer(&trailer).filter(|position| *position < bytes);
        let position = position.ok_or_else(|| damaged("damaged trailer"))?;
        let mut record = vec![0; usize::try_from(bytes - position).unwrap_or_default()];
        file.read_exact_at(&mut record, position)?;
        let (head, payload, _) = record::parse(&record, header.nonce, position).map_err(io::Error::other)?;
        if head.kind != Kind::Directory {
            return Err(damaged("damaged directory"));
        }
        let directory: Directory = serde_json::from_slice(payload)?;
        let is_valid = |probe_type: &&Arc<ProbeType>| probe_type.validate().is_ok();
        let plans: Vec<_> =
            directory.types.iter().take_while(is_valid).map_while(|found| Plan::of(found)).collect();
        let is_known = |series: &RolledSeries| series.type_at < plans.len();
        if plans.len() != directory.types.len() || !directory.series.iter().all(is_known) {
            return Err(damaged("inconsistent directory"));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            nonce: header.nonce,
            bytes,
            directory,
            plans,
            is_damaged: AtomicBool::new(false),
        })
    }

    /// The cell type of a series, and the plan to read it.
    pub fn plan(&self, series: &RolledSeries) -> (&Arc<ProbeType>, &Plan) {
        (&self.directory.types[series.type_at], &self.plans[series.type_at])
    }

    /// Reads one batch; `None` if it is damaged.
    pub fn batch(&self, place: &CellBatchLocation) -> Option<Bytes> {
        // Checked before allocation: a place may be beyond the end.
        let end = place.position.checked_add(place.length.into())?;
        if end > self.bytes {
            return None;
        }
        let mut bytes = vec![0; place.length as usize];
        self.file.read_exact_at(&mut bytes, place.position).ok()?;
        let (head, _, _) = record::parse(&bytes, self.nonce, place.position).ok()?;
        let payload = RECORD_HEADER..RECORD_HEADER + head.length;
        (head.kind == Kind::Batch).then(|| Bytes::from(bytes).slice(payload))
    }

    /// Reads and decodes one batch of a series, within the limits of a batch.
    ///
    /// # Errors
    /// If readers cannot use it.
    pub fn cells(&self, series: &RolledSeries, place: &CellBatchLocation) -> Result<Batch, BadCells> {
        let bytes = self.batch(place).ok_or(BadCells::Damaged)?;
        Batch::parse(&bytes, self.plan(series).0).map_err(BadCells::Refused)
    }

    /// As [`RollupFile::cells`], of any size.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn oversized_cells(
        &self,
        series: &RolledSeries,
        place: &CellBatchLocation,
    ) -> Result<Batch, BadCells> {
        let bytes = self.batch(place).ok_or(BadCells::Damaged)?;
        Batch::parse_oversized(&bytes, self.plan(series).0).map_err(BadCells::Refused)
    }

    /// Whether a batch is larger than readers accept.
    pub fn is_oversized(&self) -> bool {
        let is_large = |place: &CellBatchLocation| place.length as usize > RECORD_HEADER + MAX_BATCH;
        self.directory.series.iter().flat_map(|series| &series.batches).any(is_large)
    }

    /// Notes that a batch is damaged or unreadable, which excludes the file from merges. Returns the finding.
    pub fn note_damage(&self, place: &CellBatchLocation, bad: &BadCells) -> Finding {
        self.is_damaged.store(true, Ordering::Relaxed);
        Finding {
            file: recovery::file_name(&self.path),
            from: place.position,
            to: place.position.saturating_add(place.length.into()),
            kind: "damaged",
            detail: bad.to_string(),
        }
    }

    /// Whether a batch was found damaged.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another file covers all of its segments.
    pub fn is_within(&self, other: &Self) -> bool {
        let theirs = &other.directory.segments;
        self.directory.level == other.directory.level
            && self.directory.segments.len() < theirs.len()
            && self.directory.segments.iter().all(|number| theirs.binary_search(number).is_ok())
    }
}
