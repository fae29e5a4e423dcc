//! The arguments of `oasis rules`.

use crate::{
    archive_folder::ArchiveFolder, diagnostics::MessageFormat, format_files::Fmt, output_format::Format,
};
use clap::{Args, Subcommand};
use oasis_wire::time;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check files, and explain errors.
    #[command(after_help = "Examples:
  oasis rules check --pdl plant.pdl plant.rules
  oasis rules check --archive ~/samples plant.rules       the types are those of the archive
  oasis rules check --pdl plant.pdl --message-format json plant.rules")]
    Check(Check),
    /// Format files, and list those that changed.
    #[command(after_help = "Examples:
  oasis rules fmt *.rules
  oasis rules fmt --check *.rules            show what would change, for CI: status 1 if anything would
  oasis rules fmt - < plant.rules            from standard input to standard output, for editors")]
    Fmt(Fmt),
    /// Describe each rule in plain English, with the most memory that it takes.
    #[command(after_help = "Examples:
  oasis rules explain --pdl plant.pdl plant.rules")]
    Explain(Check),
    /// Run rules over an archive, and print their events in order. Nothing acts on them.
    #[command(after_help = "Examples:
  oasis rules run --archive ~/samples plant.rules
  oasis rules run --archive ~/samples --from -7d --format json plant.rules | jq 'select(.event == \"raised\")'")]
    Run(Run),
}

#[derive(Debug, Args)]
pub struct Check {
    /// Files of rules.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub types: Types,
    /// Output format of errors.
    #[arg(long, value_enum, default_value_t)]
    pub message_format: MessageFormat,
}

/// Where the probe types of inputs are declared.
#[derive(Debug, Args)]
pub struct Types {
    /// PDL file with probe types; can be repeated [default: the types of the archive].
    #[arg(long, value_name = "FILE")]
    pub pdl: Vec<PathBuf>,
    /// Folder to search for includes of PDL files, after the folder of the including file.
    #[arg(short = 'I', long = "include", value_name = "DIR", requires = "pdl")]
    pub include: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
}

#[derive(Debug, Args)]
pub struct Run {
    /// File of rules.
    pub file: PathBuf,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    #[arg(help = format!("Start at this time: {} [default: the oldest sample stored]", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Stop at this time (exclusive) [default: after the newest sample stored].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Output format of events.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
