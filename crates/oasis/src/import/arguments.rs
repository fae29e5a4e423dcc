//! The arguments of `oasis import`.

use crate::archive_folder::ArchiveFolder;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// MCAP files (.mcap), segment files (.oseg) or folders of segment files.
    #[arg(required_unless_present = "nats", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// NATS JetStream whose copies are imported: nats://HOST:PORT or tls://HOST:PORT, several with commas; the configuration has the credentials (nats).
    #[arg(long, value_name = "URL", conflicts_with = "files")]
    pub nats: Option<String>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Prefix for the names of imported nodes [default: the file name without extension; none with --nats].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}
