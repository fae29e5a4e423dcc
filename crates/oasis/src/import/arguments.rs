//! The arguments of `oasis import`.

use crate::archive_folder::ArchiveFolder;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// MCAP files (.mcap), segment files (.oseg) or folders of segment files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Prefix for the names of imported nodes [default: the file name without extension].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}
