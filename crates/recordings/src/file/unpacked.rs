//! Recordings compressed with zstd, as `ros2 bag record --compression-mode file` writes them, or gzip: unpacked into a temporary folder, which is
//! removed after the import.

use super::{
    names::{is_compressed, without_compression},
    opened::UnpackBounds,
    watch::{Cancelled, Step, Watch},
};
use anyhow::{Context, bail};
use flate2::bufread::MultiGzDecoder;
use oasis_format::rosbag2::bag_files;
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Bytes that any file may have when it is unpacked.
const MAX_SMALL_BYTES: u64 = 1 << 30;
/// Times its size that a larger file may grow.
const MAX_RATIO: u64 = 1_000;
const COPY_BYTES: usize = 1 << 20;

/// Name of temporary folders, before their random part.
const FOLDER_PREFIX: &str = "oasis-unpacked-";
/// File of a temporary folder that its process has locked.
const LOCK_FILE: &str = ".lock";

/// A file or folder to read.
#[derive(Debug)]
pub(super) struct Unpacked {
    path: PathBuf,
    /// Removed when this is dropped.
    _folder: Option<LockedFolder>,
}

/// A temporary folder. One whose process was killed is removed by the next import.
#[derive(Debug)]
struct LockedFolder {
    folder: TempDir,
    _lock: File,
}

impl LockedFolder {
    fn new(parent: &Path) -> anyhow::Result<Self> {
        remove_abandoned(parent);
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(parent)?;
        let lock = File::create_new(folder.path().join(LOCK_FILE))?;
        lock.lock()?;
        // Another import may have removed it before it was locked.
        if !folder.path().exists() {
            return Self::new(parent);
        }
        Ok(Self { folder, _lock: lock })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders that no process has locked. Those of other users stay.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A folder without the file begins now.
        let Some(lock) = is_ours.then(|| File::open(entry.path().join(LOCK_FILE)).ok()).flatten() else {
            continue;
        };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Unpacked {
    /// Unpacks a file, or the files of a folder of rosbag2, if they are compressed.
    ///
    /// # Errors
    /// If they are damaged, or the temporary folder has no space.
    pub fn of(path: &Path, bounds: UnpackBounds<'_>, watch: &dyn Watch) -> anyhow::Result<Self> {
        let unchanged = || Self { path: path.to_owned(), _folder: None };
        if path.is_dir() {
            let files = bag_files(path)?;
            if !files.iter().any(|file| is_compressed(file)) {
                return Ok(unchanged());
            }
            let folder = LockedFolder::new(bounds.folder)?;
            let mut left = bounds.max_bytes;
            for file in files {
                unpack(&file, folder.path(), &mut left, watch)?;
            }
            return Ok(Self { path: folder.path().to_owned(), _folder: Some(folder) });
        }
        // Bytes that are read of a pipe are gone.
        if !fs::metadata(path)?.is_file() || !has_magic(path)? {
            return Ok(unchanged());
        }
        let folder = LockedFolder::new(bounds.folder)?;
        let path = unpack(path, folder.path(), &mut bounds.max_bytes.clone(), watch)?;
        Ok(Self { path, _folder: Some(folder) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn has_magic(path: &Path) -> io::Result<bool> {
    let mut magic = [0; 4];
    let read = File::open(path)?.read(&mut magic)?;
    Ok(magic[..read] == ZSTD_MAGIC || magic[..read].starts_with(&GZIP_MAGIC))
}

/// Unpacks a file into a folder, or copies one that is not compressed. `left` is how many bytes it may have, if that is bounded. Returns its new path.
fn unpack(path: &Path, folder: &Path, left: &mut Option<u64>, watch: &dyn Watch) -> anyhow::Result<PathBuf> {
    let name = without_compression(path);
    let to = folder.join(name.file_name().context("the file has no name")?);
    let has_magic = has_magic(path)?;
    if !has_magic && fs::hard_link(path, &to).is_ok() {
        return Ok(to);
    }
    let size = fs::metadata(path)?.len();
    let of_size = size.saturating_mul(MAX_RATIO).max(MAX_SMALL_BYTES);
    let max_bytes = left.map_or(of_size, |left| left.min(of_size));
    let unpacked = match has_magic {
        false => fs::copy(path, &to).map_err(Into::into),
        true => decompress(path, &to, max_bytes, watch),
    };
    let bytes = unpacked.with_context(|| {
        let place = match left {
            Some(_) => String::new(),
            None => format!(" into {} (TMPDIR chooses the folder)", folder.display()),
        };
        format!("unpacking {}{place}", path.display())
    })?;
    *left = left.map(|left| left.saturating_sub(bytes));
    Ok(to)
}

/// Returns the number of bytes.
fn decompress(path: &Path, to: &Path, max_bytes: u64, watch: &dyn Watch) -> anyhow::Result<u64> {
    let mut from = reader(path)?;
    let mut to = File::create_new(to)?;
    let (mut written, mut buffer) = (0_u64, vec![0; COPY_BYTES]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(written);
        }
        written += read as u64;
        if written > max_bytes {
            bail!("it has more than {max_bytes} bytes when unpacked: unpack it yourself, and import that");
        }
        if watch.is_cancelled() {
            bail!(Cancelled);
        }
        to.write_all(&buffer[..read])?;
        watch.on_step(Step::Unpack { file: path, bytes: written });
    }
}

fn reader(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut from = BufReader::new(File::open(path)?);
    Ok(match from.fill_buf()?.starts_with(&GZIP_MAGIC) {
        true => Box::new(MultiGzDecoder::new(from)),
        false => Box::new(zstd::Decoder::with_buffer(from)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::watch::Note;
    use flate2::{Compression, write::GzEncoder};

    struct Silent;

    impl Watch for Silent {
        fn on_step(&self, _: Step<'_>) {}
        fn on_note(&self, _: Note<'_>) {}
    }

    fn unpacked(path: &Path) -> anyhow::Result<Unpacked> {
        Unpacked::of(path, UnpackBounds { folder: &std::env::temp_dir(), max_bytes: None }, &Silent)
    }

    #[test]
    fn a_compressed_file_is_unpacked_under_its_name() {
        let folder = TempDir::new().unwrap();
        let content = &b"{}\n"[..];
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(content).unwrap();
        for (name, packed) in [
            ("drive.jsonl.zst", zstd::encode_all(content, 0).unwrap()),
            ("drive.jsonl.gz", gzip.finish().unwrap()),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, packed).unwrap();
            let unpacked = unpacked(&path).unwrap();
            assert_eq!(unpacked.path().file_name().unwrap(), "drive.jsonl");
            assert_eq!(fs::read(unpacked.path()).unwrap(), content);
            let temporary = unpacked.path().to_owned();
            drop(unpacked);
            assert!(!temporary.exists());
        }
    }

    #[test]
    fn a_file_that_grows_without_bound_or_is_cut_is_refused() {
        let folder = TempDir::new().unwrap();
        let (path, to) = (folder.path().join("bomb.zst"), folder.path().join("bomb"));
        let packed = zstd::encode_all(&vec![0; 4 * COPY_BYTES][..], 0).unwrap();
        fs::write(&path, &packed).unwrap();
        let error = decompress(&path, &to, 1 << 20, &Silent).unwrap_err().to_string();
        assert!(error.contains("more than 1048576 bytes"), "{error}");
        fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        let error = format!("{:#}", unpacked(&path).err().unwrap());
        assert!(error.contains("unpacking") && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn a_folder_of_segments_beside_a_compressed_file_stays_as_it_is() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a.oseg"), "OASISSEG").unwrap();
        fs::write(folder.path().join("notes.txt.gz"), GZIP_MAGIC).unwrap();
        assert_eq!(unpacked(folder.path()).unwrap().path(), folder.path());
    }

    #[test]
    fn the_folder_of_a_killed_process_is_removed() {
        let parent = TempDir::new().unwrap();
        let killed = parent.path().join("oasis-unpacked-killed");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(LOCK_FILE), "").unwrap();
        let working = LockedFolder::new(parent.path()).unwrap();
        let other = LockedFolder::new(parent.path()).unwrap();
        assert!(!killed.exists() && working.path().exists() && other.path().exists());
    }

    #[test]
    fn the_files_of_a_folder_are_unpacked_together() {
        let folder = TempDir::new().unwrap();
        let pack = |name: &str| {
            fs::write(folder.path().join(name), zstd::encode_all(name.as_bytes(), 0).unwrap()).unwrap();
        };
        ["a_0.db3.zstd", "a_10.db3.zstd", "a_2.db3.zstd"].iter().for_each(|name| pack(name));
        let files: String = [0, 2, 10].map(|at| format!("    - a_{at}.db3.zstd\n")).concat();
        let metadata = format!(
            "rosbag2_bagfile_information:\n  relative_file_paths:\n{files}  compression_format: zstd\n  compression_mode: FILE\n"
        );
        fs::write(folder.path().join("metadata.yaml"), metadata).unwrap();
        let unpacked = super::tests::unpacked(folder.path()).unwrap();
        let names = bag_files(unpacked.path()).unwrap();
        let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a_0.db3", "a_2.db3", "a_10.db3"]);
    }
}
