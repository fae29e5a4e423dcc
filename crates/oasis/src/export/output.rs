//! The output of an export.

use anyhow::{Context, bail};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Standard output, or a file that appears under its name when it is complete.
pub struct Output {
    to: BufWriter<Box<dyn Write + Send>>,
    file: Option<PartialFile>,
}

/// A file that is not complete yet.
struct PartialFile {
    /// Its name until it is complete.
    partial: PathBuf,
    path: PathBuf,
    /// The file without a name: nothing of it is left if the program is killed. Without it the file has its temporary name from the start.
    #[cfg(target_os = "linux")]
    unnamed: Option<File>,
}

impl Output {
    /// `None` and `-` are standard output. Devices are written directly; links are followed.
    pub fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Self { to: BufWriter::new(Box::new(io::stdout())), file: None });
        };
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let failed = |path: &Path| format!("cannot write {}", path.display());
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => bail!("{} is a folder: give a file name", path.display()),
            Ok(found) if !found.is_file() => {
                let to = OpenOptions::new().write(true).open(&path).with_context(|| failed(&path))?;
                return Ok(Self { to: BufWriter::new(Box::new(to)), file: None });
            }
            _ => {}
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let (to, file) = PartialFile::create(partial.clone(), path).with_context(|| failed(&partial))?;
        Ok(Self { to: BufWriter::new(Box::new(to)), file: Some(file) })
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.to.flush()?;
        match self.file.take() {
            // Complete: kept even if it cannot be renamed.
            Some(file) => file.complete(),
            None => Ok(()),
        }
    }
}

impl PartialFile {
    #[cfg(target_os = "linux")]
    fn create(partial: PathBuf, path: PathBuf) -> io::Result<(File, Self)> {
        use rustix::fs::{Mode, OFlags};
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The mode of `File::create`, which the mask of the process restricts.
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        // Some file systems have no files without a name. Only /proc gives them one later.
        let has_descriptors = Path::new("/proc/self/fd").exists();
        if has_descriptors
            && let Ok(file) =
                rustix::fs::open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode)
        {
            let file = File::from(file);
            return Ok((file.try_clone()?, Self { partial, path, unnamed: Some(file) }));
        }
        Ok((File::create(&partial)?, Self { partial, path, unnamed: None }))
    }

    #[cfg(not(target_os = "linux"))]
    fn create(partial: PathBuf, path: PathBuf) -> io::Result<(File, Self)> {
        Ok((File::create(&partial)?, Self { partial, path }))
    }

    /// Gives the file its name.
    fn complete(self) -> anyhow::Result<()> {
        let (partial, path) = (self.partial.display(), self.path.display());
        #[cfg(target_os = "linux")]
        if let Some(file) = &self.unnamed {
            name_file(file, &self.partial).with_context(|| format!("cannot write {partial}"))?;
        }
        fs::rename(&self.partial, &self.path).with_context(|| format!("cannot rename {partial} to {path}"))
    }

    /// Removes the file.
    fn discard(&self) {
        #[cfg(target_os = "linux")]
        if self.unnamed.is_some() {
            return;
        }
        if let Err(error) = fs::remove_file(&self.partial) {
            eprintln!("{} is incomplete and cannot be removed: {error}", self.partial.display());
        }
    }
}

/// Gives a file without a name a temporary one, in place of a file that a killed program has left.
#[cfg(target_os = "linux")]
fn name_file(file: &File, partial: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    match fs::remove_file(partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, from, CWD, partial, AtFlags::SYMLINK_FOLLOW)?)
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.discard();
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_incomplete_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        // As a version of earlier has left it that was killed.
        fs::write(folder.path().join("new.part"), "old").unwrap();
        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"new").unwrap();
        output.flush().unwrap();
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(folder.path().join("new.part")).unwrap(), "old");
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(Output::open(Some(&folder.path().join("other"))).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_a_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        fs::write(of("old"), "old").unwrap();
        symlink(of("old"), of("link")).unwrap();
        let mut output = Output::open(Some(&of("link"))).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert!(of("link").is_symlink());
        assert_eq!(fs::read_to_string(of("old")).unwrap(), "new");

        let error = Output::open(Some(folder.path())).err().unwrap().to_string();
        assert!(error.contains("is a folder"), "{error}");
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        for stream in ["/dev/null", "-"] {
            assert!(Output::open(Some(Path::new(stream))).unwrap().file.is_none(), "{stream}");
        }
    }
}
