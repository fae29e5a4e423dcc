//! The arguments of `oasis sql`.

use crate::{archive_folder::ArchiveFolder, formats};
use clap::Args;
use oasis_format::Format;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// A query; or .tables, .schema TABLE or .help. Read from standard input if none is given.
    pub query: Option<String>,
    /// Output format [default: table on a terminal, csv otherwise].
    #[arg(long, value_parser = formats::of_rows())]
    pub format: Option<&'static Format>,
    /// Print on standard error how many times segment files were opened to read samples.
    #[arg(long)]
    pub stats: bool,
}
