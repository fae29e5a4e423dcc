//! The output of an export.

use anyhow::{Context, bail};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Standard output, or a file that is renamed when complete and removed if incomplete.
pub struct Output {
    to: BufWriter<Box<dyn Write + Send>>,
    /// Temporary and final path.
    file: Option<(PathBuf, PathBuf)>,
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
        let file = File::create(&partial).with_context(|| failed(&partial))?;
        Ok(Self { to: BufWriter::new(Box::new(file)), file: Some((partial, path)) })
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.to.flush()?;
        match self.file.take() {
            // Complete: kept even if it cannot be renamed.
            Some((partial, path)) => fs::rename(&partial, &path)
                .with_context(|| format!("cannot rename {} to {}", partial.display(), path.display())),
            None => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.file
            && let Err(error) = fs::remove_file(partial)
        {
            eprintln!("{} is incomplete and cannot be removed: {error}", partial.display());
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
