//! Why an archive cannot be opened.

use crate::catalogue::CatalogueError;
use std::{io, path::PathBuf};

/// Why an archive cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder.
    #[error("cannot use {path} as an archive (archive.directory): {error}", path = .path.display())]
    Directory {
        /// As configured.
        path: PathBuf,
        /// As the system says it.
        error: io::Error,
    },
    /// There is none.
    #[error("{path} is no archive: it has no catalogue.sqlite", path = .0.display())]
    Absent(PathBuf),
    /// Another process has it.
    #[error("another process has the archive {path} open: give each DAC a folder of its own (archive.directory), and stop the DAC to import (on a read-only or full disk a reader has it open, too)", path = .0.display())]
    Locked(PathBuf),
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Nothing fits on its disk any more.
    #[error("the disk of {path} is full, and an archive needs some room to be opened: make some, or start without it (archive.directory): {error}", path = .path.display())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// What could not be done.
        error: Box<OpenError>,
    },
}
