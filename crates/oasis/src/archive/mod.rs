//! `oasis archive`: what an archive's folder holds, and whether it is as it was written.

mod check;
mod show;

use crate::{archive_folder::ArchiveFolder, broken_pipe::is_broken_pipe, cli::Format};
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say what is stored: how much, of which instances, from when to when, what is missing.
    #[command(after_help = "Examples:
  oasis archive show --archive ~/samples
  oasis archive show --archive ~/samples --format json | jq .instances")]
    Show(Look),
    /// Read all files from end to end, and say which bytes are not what was written and whose samples that costs. Changes nothing; ends with 1 if it finds any.
    #[command(after_help = "Examples:
  oasis archive check --archive ~/samples
  oasis archive check --archive ~/samples && cp -a ~/samples /backup/")]
    Check(Look),
}

#[derive(Debug, Args)]
struct Look {
    #[command(flatten)]
    archive: ArchiveFolder,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Looks at an archive, its DAC at work or not.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let done = match &arguments.verb {
        Verb::Show(look) => show::run(&look.archive.find()?, look.format).map(|()| ExitCode::SUCCESS),
        Verb::Check(look) => check::run(&look.archive.find()?, look.format),
    };
    match done {
        // `oasis archive show | head` is no error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if amount < 1024.0 {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{amount:.1} {unit}") };
        }
        amount /= 1024.0;
    }
    format!("{amount:.1} TiB")
}

/// A number of things.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(10 << 30), "10.0 GiB");
        assert_eq!(size(5 << 40), "5.0 TiB");
    }
}
