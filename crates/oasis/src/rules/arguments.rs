//! The arguments of `oasis rules`.

#[cfg(feature = "live")]
use crate::live::locate::Located;
#[cfg(all(feature = "live", feature = "lsp"))]
use crate::live::locate::variable;
use crate::{
    archive_folder::ArchiveFolder, diagnostics::MessageFlags, format_files::Fmt, output_format::OutputFlags,
};
use clap::{Args, Subcommand};
#[cfg(feature = "live")]
use oasis_client::DacAddress;
use oasis_wire::time;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check files, and explain errors.
    #[command(after_help = "Examples:
  oasis rules check --pdl plant.pdl plant.rules
  oasis rules check --archive ~/samples plant.rules       the types are those of the archive
  oasis rules check --mcap drive.mcap plant.rules         those of a recording, also of ROS 2
  oasis rules check --pdl plant.pdl --json plant.rules")]
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
    /// Run rules over an archive or MCAP files, and print their events in order. Nothing acts on them.
    #[command(after_help = "Examples:
  oasis rules run --archive ~/samples plant.rules
  oasis rules run --mcap drive.mcap plant.rules
  oasis rules run --archive ~/samples --pdl-limits        the alarms that PDL files declare
  oasis rules run --archive ~/samples --from -7d --json plant.rules | jq 'select(.event == \"raised\")'")]
    Run(Run),
    #[cfg(feature = "live")]
    /// List the rules that a running DAC evaluates, and why files are refused.
    #[command(after_help = "Examples:
  oasis rules list
  oasis rules list --url http://127.0.0.1:7070 --json | jq 'select(.kind == \"alarm\")'")]
    List(List),
    /// A language server for editors, on standard input and output (docs/guides/write-rules.md).
    #[command(after_help = "Examples:
  oasis rules lsp --url http://127.0.0.1:7070     types and instances of a running DAC
  oasis rules lsp --archive ~/samples             those of an archive
  oasis rules lsp --pdl plant.pdl                 types of PDL files")]
    Lsp(Lsp),
}

#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Args)]
pub struct Lsp {
    #[cfg(feature = "live")]
    /// Running DAC that has the types and instances: http://HOST:PORT of its page, or https:// [env: OASIS_URL, unless PDL files, MCAP files or an archive are named].
    #[arg(long, value_name = "URL", alias = "dac")]
    pub url: Option<DacAddress>,
    #[cfg(feature = "live")]
    /// CA of the DAC's certificate, with https:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    pub ca: Option<PathBuf>,
    #[command(flatten)]
    pub types: Types,
    /// Accepted for compatibility with editors; has no effect.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

#[cfg(all(feature = "live", feature = "lsp"))]
impl Lsp {
    /// The DAC that is named, by the environment only if nothing else is.
    pub fn dac(&self) -> anyhow::Result<Option<DacAddress>> {
        let types = &self.types;
        let has_types = !types.pdl.is_empty() || !types.mcap.is_empty() || types.archive.is_named();
        match &self.url {
            Some(url) => Ok(Some(url.clone())),
            None if has_types => Ok(None),
            None => variable("OASIS_URL"),
        }
    }
}

#[derive(Debug, Args)]
pub struct Check {
    /// Files of rules.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub types: Types,
    #[command(flatten)]
    pub messages: MessageFlags,
}

/// The files that declare the probe types of inputs.
#[derive(Debug, Args)]
pub struct Types {
    /// PDL file with probe types; can be repeated [default: the types of the archive].
    #[arg(long, value_name = "FILE")]
    pub pdl: Vec<PathBuf>,
    /// Folder to search for includes of PDL files, after the folder of the including file.
    #[arg(short = 'I', long = "include", value_name = "DIR", requires = "pdl")]
    pub include: Vec<PathBuf>,
    /// MCAP file whose types are taken, in place of an archive; can be repeated.
    #[arg(long, value_name = "FILE", conflicts_with = "pdl")]
    pub mcap: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
}

#[derive(Debug, Args)]
pub struct Run {
    /// File of rules.
    #[arg(required_unless_present = "pdl_limits", conflicts_with = "pdl_limits")]
    pub file: Option<PathBuf>,
    /// Run the limits of PDL in place of a file: warn, alarm, min and max.
    #[arg(long)]
    pub pdl_limits: bool,
    /// MCAP file in place of an archive; can be repeated.
    #[arg(long, value_name = "FILE")]
    pub mcap: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    #[arg(help = format!("Start at this time: {} [default: the oldest sample stored]", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Stop at this time (exclusive) [default: after the newest sample stored].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    #[command(flatten)]
    pub output: OutputFlags,
}
