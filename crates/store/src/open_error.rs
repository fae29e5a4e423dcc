//! Errors of opening an archive.

use crate::{catalogue::CatalogueError, folder_identity::FolderGone};
use std::{io, path::PathBuf};

/// Errors of opening an archive.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder.
    #[error("cannot use {path} as an archive (archive.directory): {error}", path = .path.display())]
    Directory {
        /// As configured.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Not an archive.
    #[error("{path} is not an archive: it has no catalogue.sqlite", path = .0.display())]
    Absent(PathBuf),
    /// Open in another process.
    #[error("archive {path} is open in another process: use one folder for each DAC (archive.directory), and stop the DAC to import (on a read-only or full disk a reader also locks it)", path = .0.display())]
    Locked(PathBuf),
    /// Its folder was gone while it was open, and is not there again.
    #[error(transparent)]
    Gone(#[from] FolderGone),
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The disk is full.
    #[error("disk full: cannot open the archive {path}: free some space, or start without an archive (archive.directory): {error}", path = .path.display())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// The failed operation.
        error: Box<OpenError>,
    },
}
