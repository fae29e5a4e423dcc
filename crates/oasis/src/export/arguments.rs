//! The arguments of `oasis export`.

use crate::{archive_folder::ArchiveFolder, formats, target::Target};
use clap::Args;
use oasis_wire::time;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// NODE/INSTANCE, where * matches any text ('plant-7/*') [default: all instances].
    pub instances: Vec<Target>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Output format.
    #[arg(long, value_parser = formats::of_samples(), default_value = "csv")]
    pub format: &'static oasis_format::Format,
    #[arg(help = format!("Start at this time: {} [default: the oldest sample stored]", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Stop at this time (exclusive) [default: after the newest sample stored].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Only samples between start and stop of the test run with this name; excludes --from and --to.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "to"])]
    pub run: Option<String>,
    /// Output file, renamed to its name when complete. For csv, arrow and parquet it can be a folder, with a file for each probe type [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Folder of accounts and audit log, where the export is recorded if it can be written [default: as for oasis audit-log].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS")]
    pub access: Option<PathBuf>,
}
