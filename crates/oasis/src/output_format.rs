//! The output formats of most commands.

use clap::ValueEnum;

/// Output format of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// JSON for programs: one object in each line.
    #[value(alias = "jsonl")]
    Json,
}
