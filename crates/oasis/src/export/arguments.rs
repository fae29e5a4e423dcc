//! The arguments of `oasis export`.

use super::content::ContentArguments;
use crate::{archive_folder::ArchiveFolder, features, formats, target::Target};
use anyhow::Context;
use clap::Args;
use oasis_format::Format;
use oasis_wire::time;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// NODE/INSTANCE, where * matches any text ('plant-7/*') [default: all instances].
    pub instances: Vec<Target>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Output format [default: that of the ending of -o, else csv].
    #[arg(long, value_parser = formats::of_samples())]
    pub format: Option<&'static Format>,
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
    #[command(flatten)]
    pub content: ContentArguments,
}

impl Arguments {
    /// The format: that of the flag, else that of the ending of the output, else CSV.
    ///
    /// # Errors
    /// If the ending is that of a format without samples, or of one that this program is built without.
    pub fn format(&self) -> anyhow::Result<&'static Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let ending = self.output.as_ref().and_then(|output| output.extension()?.to_str()).unwrap_or("csv");
        let asked = format!("the ending .{ending} of the output");
        for (name, feature) in
            [("parquet", features::ARROW), ("arrow", features::ARROW), ("mcap", features::MCAP)]
        {
            if ending.eq_ignore_ascii_case(name) {
                feature.require(&asked)?;
            }
        }
        let names = [ending.to_ascii_lowercase(), "csv".into()];
        let found = names.iter().find_map(|name| oasis_format::find(name)).context("CSV is always there")?;
        match found.samples {
            Some(_) => Ok(found),
            None => anyhow::bail!("{asked} is that of a format without samples: name one with --format"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn the_ending_of_the_output_chooses_the_format_unless_a_flag_does() {
        let format = |flags: &[&str]| {
            let command = Command::try_parse_from(["export"].iter().chain(flags)).unwrap();
            command.arguments.format().map(|format| format.name)
        };
        for (flags, name) in [
            (&[][..], "csv"),
            (&["-o", "t"], "csv"),
            (&["-o", "t.txt"], "csv"),
            (&["-o", "t.jsonl"], "jsonl"),
            (&["-o", "T.JSON"], "jsonl"),
            (&["-o", "t.jsonl", "--format", "csv"], "csv"),
        ] {
            assert_eq!(format(flags).unwrap(), name, "{flags:?}");
        }
        for (ending, feature) in
            [("parquet", features::ARROW), ("arrow", features::ARROW), ("mcap", features::MCAP)]
        {
            let found = format(&["-o", &format!("t.{ending}")]);
            match feature.require("") {
                Ok(()) => assert_eq!(found.unwrap(), ending),
                Err(_) => assert!(found.unwrap_err().to_string().contains("--features"), "{ending}"),
            }
        }
        assert!(format(&["-o", "t.table"]).unwrap_err().to_string().contains("--format"));
    }
}
