//! The simulated disks: real files, and a model of what of them a power cut leaves.
//!
//! A write is in the page cache until the file is synced, a name until its folder is. A power cut keeps, of each file, any
//! of the writes that were not synced, cut at sectors; and of each folder a prefix of the changes of names, because file
//! systems journal these in order. Each host has a folder of its own; its disk can fail and freeze without the others'.

use super::{
    names::{Name, NameChange, file_name},
    page_cache::{ChangeKind, FileState},
};
use libc::{EEXIST, EIO, ENOSPC, O_ACCMODE, O_CREAT, O_EXCL, O_RDONLY, O_TRUNC, c_int};
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

/// One of this many calls on a full disk succeeds: other programs free a little space now and then.
const CALLS_PER_FREED_SPACE: u32 = 20;

/// The disks of all hosts.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    random: fastrand::Rng,
    hosts: Vec<HostDisk>,
    files: HashMap<u64, FileState>,
    opened: HashMap<c_int, Opened>,
    last_file: u64,
    /// Planted: syncs of files with this extension do nothing.
    unsynced: Option<&'static str>,
}

#[derive(Debug, Default)]
struct HostDisk {
    names: BTreeMap<PathBuf, Name>,
    durable: BTreeMap<PathBuf, Name>,
    pending: Vec<NameChange>,
    /// Nothing changes any more: the process is being killed, or the power is cut.
    is_frozen: bool,
    /// Changes until it freezes.
    countdown: Option<u64>,
    faults: Faults,
    changes: u64,
}

/// Present faults of a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// There is no space.
    pub is_full: bool,
    /// Every second sync fails, and drops what it should have written.
    pub fails_syncs: bool,
}

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    /// None for a folder.
    file: Option<u64>,
}

/// State of a path when it was opened.
#[derive(Debug, Clone, Copy)]
pub enum OpenedFile {
    /// Fails with this error.
    Refused(c_int),
    /// A folder.
    Folder,
    /// A file that exists.
    Existing(u64),
    /// A file that the call creates.
    Created,
    /// Nothing: the real call reports it.
    Missing,
}

/// The answer to a write.
#[derive(Debug)]
pub struct Answer {
    /// The error.
    pub result: Result<(), c_int>,
    /// Bytes written.
    pub done: usize,
}

impl Disk {
    /// Creates the disks in a folder.
    pub fn new(root: &Path, random: fastrand::Rng) -> Self {
        Self {
            root: root.to_owned(),
            random,
            hosts: Vec::new(),
            files: HashMap::new(),
            opened: HashMap::new(),
            last_file: 0,
            unsynced: None,
        }
    }

    /// Adds the disk of a host. Returns its number and its folder.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn add_host(&mut self) -> std::io::Result<(usize, PathBuf)> {
        let number = self.hosts.len();
        let folder = self.folder(number);
        fs::create_dir_all(&folder)?;
        self.hosts.push(HostDisk::default());
        Ok((number, folder))
    }

    fn folder(&self, host: usize) -> PathBuf {
        self.root.join(host.to_string())
    }

    /// Sets how a disk fails.
    pub fn set_faults(&mut self, host: usize, faults: Faults) {
        self.hosts[host].faults = faults;
    }

    /// Lets syncs of files with this extension do nothing, which is wrong.
    pub fn ignore_syncs_of(&mut self, extension: &'static str) {
        self.unsynced = Some(extension);
    }

    /// Freezes a disk after this many changes.
    pub fn freeze_after(&mut self, host: usize, changes: u64) {
        self.hosts[host].countdown = Some(changes);
    }

    /// Lets a disk that has not frozen yet live.
    pub fn disarm(&mut self, host: usize) {
        self.hosts[host].countdown = None;
    }

    /// Freezes a disk now.
    pub fn freeze(&mut self, host: usize) {
        self.hosts[host].is_frozen = true;
    }

    /// Returns whether a disk is frozen.
    pub fn is_frozen(&self, host: usize) -> bool {
        self.hosts[host].is_frozen
    }

    /// Returns the number of changes so far.
    pub fn changes(&self, host: usize) -> u64 {
        self.hosts[host].changes
    }

    /// Returns the number of changes of all disks.
    pub fn all_changes(&self) -> u64 {
        self.hosts.iter().map(|host| host.changes).sum()
    }

    /// Lets a frozen disk work again: only the process had died.
    pub fn thaw(&mut self, host: usize) {
        (self.hosts[host].is_frozen, self.hosts[host].countdown) = (false, None);
    }

    /// Cuts the power of a host whose processes have ended, and makes its folder anew as the disk has it. Returns the
    /// changes that were lost.
    ///
    /// # Errors
    /// If the real files cannot be written.
    pub fn cut_power(&mut self, host: usize) -> std::io::Result<Vec<String>> {
        let mut lost = self.forget_names(host);
        let folder = self.folder(host);
        fs::remove_dir_all(&folder)?;
        fs::create_dir_all(&folder)?;
        let names = self.hosts[host].durable.clone();
        for (path, name) in &names {
            match name {
                Name::Folder => fs::create_dir(path)?,
                Name::File(number) => {
                    let Some(file) = self.files.get_mut(number) else { continue };
                    lost.extend(
                        file.forget(&mut self.random).map(|what| format!("{}: {what}", file_name(path))),
                    );
                    fs::write(path, &file.durable)?;
                }
            }
        }
        self.hosts[host].names = names;
        self.thaw(host);
        Ok(lost)
    }

    /// Decides which changes of names have reached the disk. Returns those that have not.
    fn forget_names(&mut self, host: usize) -> Vec<String> {
        let disk = &mut self.hosts[host];
        let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for change in &disk.pending {
            *counts.entry(change.folder().to_owned()).or_default() += 1;
        }
        for count in counts.values_mut() {
            *count = match self.random.u8(0..3) {
                0 => 0,
                1 => *count,
                _ => self.random.usize(0..=*count),
            };
        }
        let mut lost = Vec::new();
        for change in std::mem::take(&mut disk.pending) {
            match counts.get_mut(change.folder()) {
                Some(count @ 1..) => {
                    *count -= 1;
                    change.apply(&mut disk.durable);
                }
                _ => lost.push(change.describe()),
            }
        }
        // A file in a folder without a name has no name either.
        let root = self.root.join(host.to_string());
        let names = disk.durable.clone();
        disk.durable.retain(|path, _| {
            path.ancestors().skip(1).take_while(|path| *path != root).all(|path| names.contains_key(path))
        });
        lost
    }

    fn host_of(&self, path: &Path) -> Option<usize> {
        let below = path.strip_prefix(&self.root).ok()?;
        let host: usize = below.components().next()?.as_os_str().to_str()?.parse().ok()?;
        (host < self.hosts.len()).then_some(host)
    }

    /// Counts a change. Fails if the disk is frozen, or freezes with it.
    fn step(&mut self, host: usize) -> Result<(), c_int> {
        let disk = &mut self.hosts[host];
        if disk.is_frozen {
            return Err(EIO);
        }
        disk.changes += 1;
        if let Some(left) = &mut disk.countdown {
            if *left == 0 {
                disk.is_frozen = true;
                return Err(EIO);
            }
            *left -= 1;
        }
        Ok(())
    }

    fn is_full(&mut self, host: usize) -> bool {
        self.hosts[host].faults.is_full && self.random.u32(0..CALLS_PER_FREED_SPACE) > 0
    }

    /// Returns the path of an open file or folder.
    pub fn path_of(&self, file: c_int) -> Option<PathBuf> {
        self.opened.get(&file).map(|opened| opened.path.clone())
    }

    /// Reads the state of a path before it is opened; none if it is on no simulated disk.
    pub fn before_open(&mut self, path: &Path, flags: c_int) -> Option<OpenedFile> {
        let host = self.host_of(path)?;
        let name = self.hosts[host].names.get(path).copied();
        let changes = flags & O_TRUNC != 0 && flags & O_ACCMODE != O_RDONLY;
        Some(match name {
            Some(Name::File(_)) if flags & O_CREAT != 0 && flags & O_EXCL != 0 => OpenedFile::Refused(EEXIST),
            Some(Name::File(number)) if changes => match self.step(host) {
                Ok(()) => OpenedFile::Existing(number),
                Err(error) => OpenedFile::Refused(error),
            },
            Some(Name::File(number)) => OpenedFile::Existing(number),
            Some(Name::Folder) => OpenedFile::Folder,
            None if path == self.folder(host) => OpenedFile::Folder,
            None if flags & O_CREAT != 0 => match self.step(host) {
                Ok(()) if self.is_full(host) => OpenedFile::Refused(ENOSPC),
                Ok(()) => OpenedFile::Created,
                Err(error) => OpenedFile::Refused(error),
            },
            None => OpenedFile::Missing,
        })
    }

    /// Notes an opened file.
    pub fn after_open(&mut self, file: c_int, path: &Path, opened: OpenedFile, flags: c_int) {
        let Some(host) = self.host_of(path) else { return };
        let number = match opened {
            OpenedFile::Refused(_) | OpenedFile::Missing => return,
            OpenedFile::Folder => None,
            OpenedFile::Existing(number) => Some(number),
            OpenedFile::Created => {
                self.last_file += 1;
                self.files.insert(self.last_file, FileState::default());
                let name = Name::File(self.last_file);
                self.hosts[host].change(NameChange::Add(path.to_owned(), name));
                Some(self.last_file)
            }
        };
        if let Some(state) = number.and_then(|number| self.files.get_mut(&number))
            && flags & O_TRUNC != 0
        {
            state.change(ChangeKind::Length(0));
        }
        self.opened.insert(file, Opened { path: path.to_owned(), file: number });
    }

    /// Notes that a file was closed, or that its number means something else now.
    pub fn closed(&mut self, file: c_int) {
        self.opened.remove(&file);
    }

    fn open_file(&self, file: c_int) -> Option<(usize, u64)> {
        let opened = self.opened.get(&file)?;
        Some((self.host_of(&opened.path)?, opened.file?))
    }

    /// Writes; none for a file on no simulated disk.
    pub fn write(&mut self, file: c_int, bytes: &[u8], at: Option<u64>) -> Option<Answer> {
        let (host, number) = self.open_file(file)?;
        let was_frozen = self.hosts[host].is_frozen;
        let allowed = match self.step(host) {
            Ok(()) if self.is_full(host) => match self.random.usize(0..=bytes.len()) {
                done if done > 0 && self.random.bool() => Ok(done),
                _ => Err(ENOSPC),
            },
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                // The process is killed, or the power cut, in the middle of this write.
                let part = self.random.usize(0..=bytes.len());
                if !was_frozen && part > 0 {
                    self.really_write(number, file, &bytes[..part], at);
                }
                Err(error)
            }
        };
        Some(match allowed {
            Ok(done) => {
                self.really_write(number, file, &bytes[..done], at);
                Answer { result: Ok(()), done }
            }
            Err(error) => Answer { result: Err(error), done: 0 },
        })
    }

    fn really_write(&mut self, number: u64, file: c_int, bytes: &[u8], at: Option<u64>) {
        let length = self.files.get(&number).map_or(0, |state| state.length);
        let place = at.unwrap_or_else(|| position(file, length));
        write_at(file, bytes, place, at.is_none());
        let at = place;
        if let Some(state) = self.files.get_mut(&number) {
            state.change(ChangeKind::Write(at, bytes.to_vec()));
        }
    }

    /// Sets the length of a file.
    pub fn set_length(&mut self, file: c_int, length: u64) -> Option<Result<(), c_int>> {
        let (host, number) = self.open_file(file)?;
        if let Err(error) = self.step(host) {
            return Some(Err(error));
        }
        if let Some(state) = self.files.get_mut(&number) {
            state.change(ChangeKind::Length(length));
        }
        // The real call follows.
        None
    }

    /// Syncs a file, or the names in a folder.
    pub fn sync(&mut self, file: c_int) -> Option<Result<(), c_int>> {
        let opened = self.opened.get(&file)?;
        let host = self.host_of(&opened.path)?;
        let (path, number) = (opened.path.clone(), opened.file);
        if let Err(error) = self.step(host) {
            return Some(Err(error));
        }
        let fails = self.hosts[host].faults.fails_syncs && self.random.bool();
        let Some(number) = number else {
            if fails {
                return Some(Err(EIO));
            }
            self.hosts[host].sync_folder(&path);
            return Some(Ok(()));
        };
        if self.unsynced.is_some_and(|ignored| path.extension().is_some_and(|it| it == ignored)) {
            return Some(Ok(()));
        }
        let state = self.files.get_mut(&number)?;
        Some(if fails {
            state.pending.iter_mut().for_each(|change| change.is_dropped = true);
            Err(EIO)
        } else {
            state.sync();
            Ok(())
        })
    }

    /// Renames a file.
    pub fn rename(&mut self, from: &Path, to: &Path) -> Option<Result<(), c_int>> {
        let host = self.host_of(from)?;
        if let Err(error) = self.step(host) {
            return Some(Err(error));
        }
        Some(match fs::rename(from, to) {
            Ok(()) => {
                self.hosts[host].change(NameChange::Rename(from.to_owned(), to.to_owned()));
                Ok(())
            }
            Err(error) => Err(error.raw_os_error().unwrap_or(EIO)),
        })
    }

    /// Removes a file or an empty folder.
    pub fn remove(&mut self, path: &Path, is_folder: bool) -> Option<Result<(), c_int>> {
        let host = self.host_of(path)?;
        if self.hosts[host].names.contains_key(path)
            && let Err(error) = self.step(host)
        {
            return Some(Err(error));
        }
        let removed = if is_folder { fs::remove_dir(path) } else { fs::remove_file(path) };
        Some(match removed {
            Ok(()) => {
                self.hosts[host].change(NameChange::Remove(path.to_owned()));
                Ok(())
            }
            Err(error) => Err(error.raw_os_error().unwrap_or(EIO)),
        })
    }

    /// Creates a folder.
    pub fn make_directory(&mut self, path: &Path, _mode: libc::mode_t) -> Option<Result<(), c_int>> {
        let host = self.host_of(path)?;
        if self.hosts[host].names.contains_key(path) || path == self.folder(host) {
            return Some(Err(EEXIST));
        }
        if let Err(error) = self.step(host) {
            return Some(Err(error));
        }
        if self.is_full(host) {
            return Some(Err(ENOSPC));
        }
        Some(match fs::create_dir(path) {
            Ok(()) => {
                self.hosts[host].change(NameChange::Add(path.to_owned(), Name::Folder));
                Ok(())
            }
            Err(error) => Err(error.raw_os_error().unwrap_or(EIO)),
        })
    }
}

impl HostDisk {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending.push(change);
    }

    fn sync_folder(&mut self, folder: &Path) {
        let durable = &mut self.durable;
        self.pending.retain(|change| {
            let is_here = change.folder() == folder;
            if is_here {
                change.apply(durable);
            }
            !is_here
        });
    }
}

/// Returns the position at which write(2) would write.
fn position(file: c_int, length: u64) -> u64 {
    // Safety: both calls only read the state of an open file.
    let (flags, position) =
        unsafe { (libc::fcntl(file, libc::F_GETFL), libc::lseek(file, 0, libc::SEEK_CUR)) };
    if flags & libc::O_APPEND != 0 { length } else { position as u64 }
}

/// Writes all bytes to the real file. Moves its position after them if it was its position that said where.
fn write_at(file: c_int, bytes: &[u8], at: u64, moves: bool) {
    // Safety: the slice is valid; the file is open.
    unsafe {
        libc::syscall(libc::SYS_pwrite64, file, bytes.as_ptr(), bytes.len(), at);
        if moves {
            libc::lseek(file, (at + bytes.len() as u64) as libc::off_t, libc::SEEK_SET);
        }
    }
}
