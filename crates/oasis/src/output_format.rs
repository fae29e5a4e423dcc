//! The output of most commands: text, or JSON with `--json`.

use clap::{Args, ValueEnum};

/// OutputFlags format of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// JSON for programs: one object in each line.
    #[value(alias = "jsonl")]
    Json,
}

/// The flags of a command that prints text or JSON.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct OutputFlags {
    /// Print JSON for programs: one object in each line.
    #[arg(long, global = true)]
    json: bool,
    /// Earlier spelling of --json.
    #[arg(long, value_enum, hide = true, global = true, conflicts_with = "json")]
    format: Option<Format>,
}

impl OutputFlags {
    /// Returns the format that the flags choose.
    pub fn format(self) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or_default() }
    }
}
