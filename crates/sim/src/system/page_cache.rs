//! The content of a simulated file: what is on the disk, and what only the page cache has.

use std::{collections::HashSet, ops::Range};

/// A disk writes this many bytes at once, or none of them.
const SECTOR: u64 = 512;
/// Least bytes that a system writes at once.
const PAGE_BYTES: u64 = 4_096;

/// A file: what is on the disk, and the changes in the page cache.
#[derive(Debug, Default)]
pub(super) struct FileState {
    pub durable: Vec<u8>,
    pub pending: Vec<Change>,
    /// Bytes in the page cache's view.
    pub length: u64,
}

#[derive(Debug)]
pub(super) struct Change {
    pub kind: ChangeKind,
    /// A failed sync has dropped it: no later one writes it.
    pub is_dropped: bool,
}

#[derive(Debug)]
pub(super) enum ChangeKind {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl FileState {
    pub(super) fn change(&mut self, kind: ChangeKind) {
        self.length = match &kind {
            ChangeKind::Write(at, bytes) => self.length.max(at + bytes.len() as u64),
            ChangeKind::Length(length) => *length,
        };
        self.pending.push(Change { kind, is_dropped: false });
    }

    /// Makes all changes durable, except the bytes that a failed sync has dropped: they are written only with the rest of their page,
    /// if something has changed it since.
    pub(super) fn sync(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let dirty: HashSet<u64> = pending.iter().flat_map(Change::dirty_pages).collect();
        let is_written = |sector: u64| dirty.contains(&(sector * SECTOR / PAGE_BYTES));
        for change in pending {
            match change {
                Change { kind: ChangeKind::Write(at, bytes), is_dropped: true } => {
                    for (sector, range) in sectors(at, bytes.len()) {
                        let part = ChangeKind::Write(at + range.start as u64, bytes[range].to_vec());
                        match is_written(sector) {
                            true => part.apply(&mut self.durable, |_| true),
                            false => self.pending.push(Change { kind: part, is_dropped: true }),
                        }
                    }
                }
                Change { kind: ChangeKind::Length(length), .. } => {
                    self.durable.resize(length as usize, 0);
                    self.pending.iter_mut().for_each(|dropped| dropped.kind.cut(length));
                }
                Change { kind, is_dropped: false } => kind.apply(&mut self.durable, |_| true),
            }
        }
    }

    /// Decides which changes have reached the disk. Describes those that have not.
    pub(super) fn forget(&mut self, random: &mut fastrand::Rng) -> Option<String> {
        let pending = std::mem::take(&mut self.pending);
        let (mode, kept) = (random.u8(0..4), random.usize(0..=pending.len()));
        let mut lost = 0;
        for (at, change) in pending.iter().enumerate() {
            match mode {
                0 => lost += 1,
                1 => change.kind.apply(&mut self.durable, |_| true),
                2 if at < kept => change.kind.apply(&mut self.durable, |_| true),
                2 if at == kept => {
                    lost += 1;
                    let sectors = random.u64(0..16);
                    let first = change.kind.first_sector();
                    change.kind.apply(&mut self.durable, |sector| sector < first + sectors);
                }
                2 => lost += 1,
                _ => {
                    lost += 1;
                    change.kind.apply(&mut self.durable, |_| random.bool());
                }
            }
        }
        self.length = self.durable.len() as u64;
        let (all, left) = (pending.len(), self.length);
        (lost > 0).then(|| format!("{lost} of {all} changes, in mode {mode}; {left} bytes are left"))
    }
}

impl Change {
    /// Pages that differ from the disk because of it. Those that a failed sync has dropped do not count as such any more.
    fn dirty_pages(&self) -> Range<u64> {
        match &self.kind {
            ChangeKind::Write(at, bytes) if !self.is_dropped => {
                at / PAGE_BYTES..(at + bytes.len() as u64).div_ceil(PAGE_BYTES)
            }
            _ => 0..0,
        }
    }
}

impl ChangeKind {
    /// Removes what is not in the file any more after it was truncated.
    fn cut(&mut self, length: u64) {
        if let Self::Write(at, bytes) = self {
            bytes.truncate(length.saturating_sub(*at) as usize);
        }
    }

    fn first_sector(&self) -> u64 {
        match self {
            Self::Write(at, _) => at / SECTOR,
            Self::Length(_) => 0,
        }
    }

    /// Applies the sectors that are kept.
    fn apply(&self, to: &mut Vec<u8>, mut is_kept: impl FnMut(u64) -> bool) {
        match self {
            Self::Length(length) => {
                if is_kept(0) {
                    to.resize(*length as usize, 0);
                }
            }
            Self::Write(at, bytes) => {
                for (sector, range) in sectors(*at, bytes.len()) {
                    if !is_kept(sector) {
                        continue;
                    }
                    let (from, end) = (*at as usize + range.start, *at as usize + range.end);
                    if to.len() < end {
                        to.resize(end, 0);
                    }
                    to[from..end].copy_from_slice(&bytes[range]);
                }
            }
        }
    }
}

/// The sectors of a write, and which of its bytes are in each.
pub(super) fn sectors(at: u64, length: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = at + length as u64;
    (at / SECTOR..end.div_ceil(SECTOR)).map(move |sector| {
        let (from, to) = ((sector * SECTOR).max(at), ((sector + 1) * SECTOR).min(end));
        (sector, (from - at) as usize..(to - at) as usize)
    })
}
