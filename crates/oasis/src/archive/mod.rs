//! `oasis archive`: shows and checks the content of an archive, removes nodes, shows its state in a DAC, and confirms its retention.

mod check;
pub mod remove;
#[cfg(feature = "live")]
mod retention;
mod show;
#[cfg(feature = "live")]
mod status;

use crate::{archive_folder::ArchiveFolder, broken_pipe::is_broken_pipe, output_format::OutputFlags};
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the stored instances with sizes, time spans and losses.
    #[command(after_help = "Examples:
  oasis archive show --archive ~/samples
  oasis archive show --archive ~/samples --json | jq .instances")]
    Show(Look),
    /// Read all files, and report damaged bytes and lost samples. Changes nothing; exits with status 1 if there is damage.
    #[command(after_help = "Examples:
  oasis archive check --archive ~/samples
  oasis archive check --archive ~/samples && cp -a ~/samples /backup/")]
    Check(Look),
    /// Show whether the archive of a running DAC stores samples, how full its retention rules are, and its warnings with what to do.
    #[cfg(feature = "live")]
    #[command(after_help = "Examples:
  oasis archive status
  oasis archive status --url http://plant:7070 --json | jq .warnings")]
    Status(status::Arguments),
    /// Remove a node or an instance with all its data, from an archive that no DAC has open.
    ///
    /// See docs/guides/forget-a-node.md.
    #[command(after_help = "Examples:
  oasis archive remove --archive ~/samples plant-7             shows what would be removed, and asks
  oasis archive remove --archive ~/samples plant-7/pump --yes  one instance, without asking

A process that is killed leaves nothing half: the next one that opens the archive for writing completes it.")]
    Remove(remove::Arguments),
    /// Control how a DAC evicts old samples.
    #[cfg(feature = "live")]
    Retention(retention::Arguments),
}

#[derive(Debug, Args)]
struct Look {
    #[command(flatten)]
    archive: ArchiveFolder,
    #[command(flatten)]
    output: OutputFlags,
}

/// Shows or checks an archive, also while its DAC runs.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let done = match &arguments.verb {
        Verb::Show(look) => {
            show::run(&look.archive.find()?, look.output.format()).map(|()| ExitCode::SUCCESS)
        }
        Verb::Remove(arguments) => remove::run(arguments).map(|()| ExitCode::SUCCESS),
        Verb::Check(look) => check::run(&look.archive.find()?, look.output.format()),
        #[cfg(feature = "live")]
        Verb::Status(arguments) => status::run(arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "live")]
        Verb::Retention(arguments) => retention::run(arguments).map(|()| ExitCode::SUCCESS),
    };
    match done {
        // `oasis archive show | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

/// Formats a size.
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

/// Formats a number with its noun.
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
