//! Where an export goes.

use anyhow::Context;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Standard output, or a file that has its name only once it is whole. One that does not become whole is removed.
pub struct Output {
    to: BufWriter<Box<dyn Write + Send>>,
    /// What it is called until then, and what afterwards.
    file: Option<(PathBuf, PathBuf)>,
}

impl Output {
    pub fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { to: BufWriter::new(Box::new(io::stdout())), file: None });
        };
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        Ok(Self { to: BufWriter::new(Box::new(file)), file: Some((partial, path.to_owned())) })
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.to.flush()?;
        match self.file.take() {
            // It is whole, and stays if it cannot be called so.
            Some((partial, path)) => std::fs::rename(&partial, &path)
                .with_context(|| format!("cannot rename {} to {}", partial.display(), path.display())),
            None => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.file
            && let Err(error) = std::fs::remove_file(partial)
        {
            eprintln!("{} is not whole, and cannot be removed: {error}", partial.display());
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
