//! Recordings go into an archive, and come out of it as if they were live.
//!
//! [`import`] makes a recording part of an archive: all of it, or nothing. With the feature `replay`, `replay` plays the samples of an archive through the whole
//! stack. With the feature `files`, `file` reads the files of recordings. File formats are in `oasis-format`.

#[cfg(feature = "files")]
pub mod file;
pub mod import;
#[cfg(feature = "replay")]
pub mod replay;
