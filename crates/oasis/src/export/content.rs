//! Flags of the content of exported files, by format.

use crate::csv_flags::{DecimalMark, delimiter};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use oasis_format::{CsvDialect, CsvOptions, Format, MessageEncoding, WriteOptions};

/// The content of the files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Content of the files")]
pub struct ContentArguments {
    /// CSV: character between fields, or tab [default: a comma, or ; with --decimal comma].
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,
    /// CSV: decimal mark [default: point].
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// CSV: form of the column time: iso, s, ms, us, ns, or a pattern such as '%d.%m.%Y %H:%M:%S%.3f' [default: iso].
    #[arg(long, value_name = "FORM")]
    time_format: Option<String>,
    /// CSV: units in the names of columns, in brackets.
    #[arg(long)]
    units: bool,
    /// MCAP: encoding of messages [default: json].
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<Encoding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Encoding {
    /// JSON: each probe type with all its names
    Json,
    /// CDR of ROS 2, with schemas in ros2msg
    Cdr,
    /// Protocol Buffers, with descriptors
    Protobuf,
}

impl ContentArguments {
    /// The options of writing this format.
    ///
    /// # Errors
    /// If a flag is invalid, or belongs to another format.
    pub fn options(&self, format: &Format) -> anyhow::Result<WriteOptions> {
        let is_given = [
            ("--delimiter", self.delimiter.is_some(), "csv"),
            ("--decimal", self.decimal.is_some(), "csv"),
            ("--time-format", self.time_format.is_some(), "csv"),
            ("--units", self.units, "csv"),
            ("--encoding", self.encoding.is_some(), "mcap"),
        ];
        let is_wrong = |(_, is_given, of): &(&str, bool, &str)| *is_given && *of != format.name;
        if let Some((flag, _, of)) = is_given.into_iter().find(is_wrong) {
            bail!("{flag} is for --format {of}, and the format is {}", format.name);
        }
        let encoding = match self.encoding {
            None | Some(Encoding::Json) => MessageEncoding::Json,
            Some(Encoding::Cdr) => MessageEncoding::Cdr,
            Some(Encoding::Protobuf) => MessageEncoding::Protobuf,
        };
        let dialect = CsvDialect::new(CsvOptions {
            delimiter: delimiter(self.delimiter.as_deref())?,
            has_decimal_comma: self.decimal == Some(DecimalMark::Comma),
            time_format: self.time_format.as_deref(),
            has_units: self.units,
        });
        Ok(WriteOptions { dialect: dialect.context("cannot write CSV in this dialect")?, encoding })
    }
}
