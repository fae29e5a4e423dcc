//! In place of imports of MCAP files, for programs that are built without MCAP: they are refused.

use crate::features::MCAP;
use oasis_format::Reader;
use oasis_import::Import;
use std::path::Path;

/// Refuses the file.
///
/// # Errors
/// Always.
pub fn add(_: &Path, _: &Reader, _: &str, _: &mut Import) -> anyhow::Result<bool> {
    Err(MCAP.missing("the file"))
}
