//! Recordings go into an archive, and come out of it as if they were live.
//!
//! [`import`] makes a recording part of an archive: all of it, or nothing. With the feature `replay`, `replay` plays the samples of an archive through the whole
//! stack. Neither knows file formats; those are in `oasis-format`.

pub mod import;
#[cfg(feature = "replay")]
pub mod replay;
