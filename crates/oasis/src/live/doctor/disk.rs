//! Whether the archive could be kept.

use super::Finding;
use oasis_store::ArchiveConfig;
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

/// `runs` is whether the DAC of this configuration runs already: then it may have the archive.
pub(super) fn check(config: &ArchiveConfig, runs: bool) -> Finding {
    if config.directory.is_empty() {
        return Finding::fine("archive", "not wanted: samples are kept in memory");
    }
    let folder = Path::new(&config.directory);
    let place = existing(folder);
    let shown = folder.display();
    if let Some(file) = folder.ancestors().find(|path| path.is_file()) {
        let says = format!("{shown} cannot be a folder: {} is a file", file.display());
        return Finding::problem(
            "archive",
            says,
            "name another: oasis up --archive DIR, or archive.directory",
        );
    }
    if let Err(error) = tempfile::tempfile_in(&place) {
        let remedy =
            "give this user the folder, or name another: oasis up --archive DIR, or archive.directory";
        return Finding::problem("archive", format!("cannot write to {shown}: {error}"), remedy);
    }
    if is_locked(folder) {
        let says = format!("{shown} is open in another process");
        return match runs {
            true => Finding::fine("archive", format!("{says}: the DAC that runs")),
            false => Finding::problem(
                "archive",
                says,
                "end the other DAC or the import, or name another folder: oasis up --archive DIR, or archive.directory",
            ),
        };
    }
    match oasis_store::free_bytes(&place) {
        Ok(free) => judge(folder, free, config.min_free_bytes),
        Err(error) => {
            Finding::warning("archive", format!("{shown}: cannot say how much is free: {error}"), "")
        }
    }
}

/// Whether another process has the archive open. The lock is held for a moment and disturbs no process.
fn is_locked(folder: &Path) -> bool {
    File::open(folder.join("lock"))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The folder, or the nearest above it that exists: the DAC creates the rest.
fn existing(folder: &Path) -> PathBuf {
    let found = folder.ancestors().find(|folder| folder.is_dir());
    found.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn judge(folder: &Path, free: u64, left: u64) -> Finding {
    let mib = |bytes: u64| bytes >> 20;
    let says = format!(
        "{}: {} MiB free, of which {} MiB are left to others",
        folder.display(),
        mib(free),
        mib(left)
    );
    if free > left {
        return Finding::fine("archive", says);
    }
    Finding::problem(
        "archive",
        says,
        "free some space, or name another folder: oasis up --archive DIR, or archive.directory",
    )
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};

    fn checked(directory: &Path) -> Finding {
        check(&config(directory), false)
    }

    fn config(directory: &Path) -> ArchiveConfig {
        ArchiveConfig {
            directory: directory.to_string_lossy().into(),
            min_free_bytes: 0,
            ..Default::default()
        }
    }

    #[test]
    fn an_archive_that_another_process_has_is_a_problem_unless_that_is_the_dac() {
        let folder = tempfile::tempdir().unwrap();
        let lock = File::create(folder.path().join("lock")).unwrap();
        assert_eq!(checked(folder.path()).weight, Severity::Fine);
        lock.try_lock().unwrap();
        let found = checked(folder.path());
        assert!(found.weight == Severity::Problem && found.says.contains("another process"), "{found:?}");
        assert_eq!(check(&config(folder.path()), true).weight, Severity::Fine);
    }

    #[test]
    fn a_folder_that_is_to_be_created_is_fine_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(checked(&folder.path().join("not/yet")).weight, Severity::Fine);
        assert!(!folder.path().join("not").exists(), "a check creates nothing");
        assert_eq!(checked(Path::new("")).weight, Severity::Fine);
        assert_eq!(checked(Path::new("/proc/self/samples")).weight, Severity::Problem);
    }

    #[test]
    fn a_full_disk_is_a_problem() {
        assert_eq!(judge(Path::new("/a"), 1 << 20, 1 << 28).weight, Severity::Problem);
        assert_eq!(judge(Path::new("/a"), 1 << 30, 1 << 28).weight, Severity::Fine);
    }
}
