//! The arguments of `oasis import`.

use crate::{
    archive_folder::ArchiveFolder,
    csv_flags::{self, DecimalMark},
    time_flag,
};
use anyhow::{Context, bail};
use clap::{ArgAction, Args};
use oasis_format::{
    input::{Dbc, InputFormat, InputOptions, TimeUnit},
    inputs::{INPUTS, by_name},
};
use std::{fs::File, io::Read, path::PathBuf};

/// Most bytes of a CAN database.
const MAX_DBC_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Recordings (docs/reference/formats.md), segment files (.oseg) or folders of segment files.
    #[arg(required_unless_present = "nats", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// NATS JetStream whose copies are imported: nats://HOST:PORT or tls://HOST:PORT, several with commas; the configuration has the credentials (nats).
    #[arg(long, value_name = "URL", conflicts_with = "files")]
    pub nats: Option<String>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Prefix for the names of imported nodes [default: the file name without extension; none with --nats].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Describe the files without importing them: channels, types, counts, times, and content that would be left out.
    #[arg(long, conflicts_with = "nats")]
    pub describe: bool,
    /// Describe as JSON.
    #[arg(long, requires = "describe")]
    pub json: bool,
    /// Import the intact records of a file with defective ones, which are counted and reported; exit status 3.
    #[arg(long, visible_alias = "recover")]
    pub partial: bool,
    #[command(flatten)]
    pub content: ContentArguments,
}

/// Properties that files do not state, or state wrong.
#[derive(Debug, Args)]
#[command(next_help_heading = "Content of the files")]
pub struct ContentArguments {
    /// Format of the files [default: by content, then by file name].
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Instance of a file without names of instances [default: the file name without extension].
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Time of the first sample; all others move with it. For times since a start, or before 1970.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    start: Option<String>,
    /// CSV: character between fields, or tab [default: found in the file].
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,
    /// CSV: decimal mark [default: found in the file].
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// CSV: whether the first line has names [default: found in the file].
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    header: Option<bool>,
    /// CSV: column of times, by name or by number from 1 on [default: found in the file].
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// CSV: form of times: s, ms, us, ns, iso, or a pattern such as %d.%m.%Y %H:%M:%S%.f [default: found in the file].
    #[arg(long, value_name = "FORM")]
    time_format: Option<String>,
    /// CSV: samples in a second, for a file without times.
    #[arg(long, value_name = "HZ", conflicts_with_all = ["time_column", "time_format"])]
    rate: Option<f64>,
    /// Line protocol: unit of times: s, ms, us or ns [default: found in the file].
    #[arg(long, value_name = "UNIT")]
    precision: Option<String>,
    /// candump: CAN database that describes the frames (.dbc); can be given several times.
    #[arg(long, value_name = "FILE")]
    dbc: Vec<PathBuf>,
}

impl ContentArguments {
    /// The format, if one is named.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn format(&self) -> anyhow::Result<Option<&'static InputFormat>> {
        let Some(name) = &self.format else { return Ok(None) };
        let names: Vec<_> = INPUTS.iter().map(|format| format.name).collect();
        let format = by_name(name);
        format.map(Some).with_context(|| format!("--format is {name:?}: write one of {}", names.join(", ")))
    }

    /// The options of reading.
    ///
    /// # Errors
    /// If a flag is invalid, or a database cannot be read.
    pub fn options(&self, is_partial: bool) -> anyhow::Result<InputOptions> {
        let delimiter = csv_flags::delimiter(self.delimiter.as_deref())?;
        if let Some(rate) = self.rate.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
            bail!("--rate is {rate}: write the samples in a second, such as 100");
        }
        let precision = match self.precision.as_deref() {
            None => None,
            Some(unit) => Some(
                TimeUnit::of(unit)
                    .with_context(|| format!("--precision is {unit:?}: write s, ms, us or ns"))?,
            ),
        };
        let read = |path: &PathBuf| {
            let mut content = Vec::new();
            let file =
                File::open(path).and_then(|file| file.take(MAX_DBC_BYTES + 1).read_to_end(&mut content));
            file.with_context(|| format!("cannot read --dbc {}", path.display()))?;
            if content.len() as u64 > MAX_DBC_BYTES {
                bail!("--dbc {} has more than {MAX_DBC_BYTES} bytes: name a CAN database", path.display());
            }
            anyhow::Ok(Dbc { path: path.display().to_string(), content })
        };
        Ok(InputOptions {
            is_partial,
            instance: self.instance.clone(),
            start: time_flag::time("--start", self.start.as_deref())?,
            delimiter,
            decimal_comma: self.decimal.map(|mark| mark == DecimalMark::Comma),
            has_header: self.header,
            time_column: self.time_column.clone(),
            time_format: self.time_format.clone(),
            rate: self.rate,
            precision,
            dbc: self.dbc.iter().map(read).collect::<anyhow::Result<_>>()?,
        })
    }
}
