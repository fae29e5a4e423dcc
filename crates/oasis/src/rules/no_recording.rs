//! In place of MCAP files as an archive, for programs that are built without MCAP: they are refused.

use crate::features::MCAP;
use oasis_store::History;
use oasis_wire::schema::ProbeType;
use std::{path::PathBuf, sync::Arc};

/// The samples of MCAP files, which nothing reads.
pub struct Recording {
    pub history: History,
}

impl Recording {
    /// Refuses the files.
    ///
    /// # Errors
    /// Always.
    pub fn read(_: &[PathBuf]) -> anyhow::Result<Self> {
        Err(MCAP.missing("--mcap"))
    }
}

/// Refuses the files.
///
/// # Errors
/// Always.
pub fn types(_: &[PathBuf]) -> anyhow::Result<Vec<Arc<ProbeType>>> {
    Err(MCAP.missing("--mcap"))
}
