//! What can be typed behind `oasis sql`.

use crate::archive_folder::ArchiveFolder;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// A query; or .tables, .schema TABLE or .help. Read from standard input if none is given.
    pub query: Option<String>,
    /// How to print [default: table on a terminal, csv otherwise].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Say on standard error how many times a segment file was opened to read samples.
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// RFC 4180. A text that a spreadsheet might take for a formula begins with an apostrophe.
    Csv,
    /// One JSON object a line.
    #[value(alias = "json")]
    Jsonl,
}
