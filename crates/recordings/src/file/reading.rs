//! Reads one file of a recording.

use super::watch::{Cancelled, Step, Watch};
use anyhow::{Context, bail};
use oasis_format::input::{Finding, InputFile, InputFormat, InputOptions, Report, TakeBatch};
use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

/// Reads a file to its end: each batch goes to the function.
///
/// # Errors
/// If it is defective, or the watch cancels.
pub fn read(
    path: &Path,
    format: &InputFormat,
    options: &InputOptions,
    watch: &dyn Watch,
    take: &mut TakeBatch<'_>,
) -> anyhow::Result<Report> {
    let file = File::open(path)?;
    let total = file.metadata()?.len();
    let position = Rc::new(Cell::new(0));
    let mut content = TrackedFile { file, position: position.clone(), watch };
    let mut batches = 0_u64;
    let mut file = InputFile { path, content: &mut content };
    let report = (format.read)(&mut file, options, &mut |recorded, batch| {
        batches += 1;
        watch.on_step(Step::Read { file: path, position: position.get(), total, batches });
        if watch.is_cancelled() {
            return Err(Cancelled.into());
        }
        take(recorded, batch)
    });
    if watch.is_cancelled() {
        bail!(Cancelled);
    }
    let mut report = report.with_context(|| format!("{} file", format.title))?;
    let unused = options.unused_by(format.title).into_iter();
    report.findings.extend(unused.map(|option| {
        Finding::note(None, 1, format!("{option} was given, which is not used for {}", format.title))
    }));
    Ok(report)
}

/// A file whose position is shown.
struct TrackedFile<'a> {
    file: File,
    position: Rc<Cell<u64>>,
    watch: &'a dyn Watch,
}

impl Read for TrackedFile<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_cancelled() {
            return Err(io::Error::other(Cancelled));
        }
        let read = self.file.read(to)?;
        self.position.set(self.position.get() + read as u64);
        Ok(read)
    }
}

impl Seek for TrackedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(to)?;
        self.position.set(at);
        Ok(at)
    }
}
