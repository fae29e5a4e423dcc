//! Progress and notes of an import, on standard error.

use crate::progress::Progress;
use oasis_format::visible::Visible;
use oasis_recordings::file::{Note, Step, Watch};
use std::{cell::RefCell, path::Path};

/// Bytes of a megabyte in progress lines.
const MEGABYTE: u64 = 1_000_000;

/// Shows an import on standard error.
pub struct Terminal(RefCell<Progress>);

impl Terminal {
    pub fn new() -> Self {
        Self(RefCell::new(Progress::new()))
    }

    /// Removes the progress line, before other output.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

impl Watch for Terminal {
    fn on_step(&self, step: Step<'_>) {
        self.0.borrow_mut().show(|| match step {
            Step::Unpack { file, bytes } => format!("{}: {} MB unpacked", file.display(), bytes / MEGABYTE),
            Step::Read { file, position, total, batches } => {
                let [read, total] = [position, total].map(|bytes| bytes.div_ceil(MEGABYTE));
                let name = file.file_name().unwrap_or_default().display();
                format!("{name}: {read} of {total} MB, {batches} batches")
            }
            Step::Segments { done, total } => format!("{done} of {total} segment files"),
        });
    }

    fn on_note(&self, Note { file, subject, text }: Note<'_>) {
        self.clear();
        print_note(file, subject, text);
    }
}

/// Prints a note on standard error.
pub fn print_note(file: &Path, subject: Option<&str>, text: &str) {
    match subject {
        Some(subject) => eprintln!("{}: {text}", Visible(subject)),
        None => eprintln!("{}: {text}", file.display()),
    }
}
