//! The arguments of `oasis import`.

#[cfg(feature = "live")]
use crate::live::locate::variable;
use crate::{archive_folder::ArchiveFolder, csv_flags::DecimalMark, time_flag};
use anyhow::{Context, anyhow, bail};
use clap::{ArgAction, Args};
#[cfg(feature = "live")]
use oasis_client::{DacAddress, Server};
use oasis_format::input::{Dbc, InputFormat, InputOptions};
use oasis_recordings::file::{BadChoice, Choices};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

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
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub dac: DacArguments,
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

/// The DAC that imports the files into its archive.
#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub struct DacArguments {
    /// Address of a running DAC, which imports the files into its archive: http://HOST:PORT of its page [env: OASIS_URL, unless an archive is named].
    #[arg(long, value_name = "URL", conflicts_with_all = ["archive", "config", "nats"])]
    url: Option<DacAddress>,
    /// CA of the DAC's certificate, with https:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    ca: Option<PathBuf>,
}

#[cfg(feature = "live")]
impl Arguments {
    /// Returns the DAC, if one is named.
    ///
    /// # Errors
    /// If `OASIS_URL` is no address.
    pub fn server(&self) -> anyhow::Result<Option<Server>> {
        let url = match &self.dac.url {
            Some(url) => Some(url.clone()),
            None if self.nats.is_some() || self.archive.is_named() => None,
            None => variable("OASIS_URL")?,
        };
        Ok(url.map(|url| Server { url, ca: self.dac.ca.clone() }))
    }
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
    /// CSV: thousands separator: comma, point, space, apostrophe or none [default: found in the file].
    #[arg(long, value_name = "NAME")]
    thousands: Option<String>,
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
    /// The choices, without the databases.
    ///
    /// # Errors
    /// If a time is invalid.
    pub fn choices(&self, is_partial: bool) -> anyhow::Result<Choices> {
        Ok(Choices {
            name: None,
            partial: is_partial,
            format: self.format.clone(),
            instance: self.instance.clone(),
            start: time_flag::time("--start", self.start.as_deref())?,
            delimiter: self.delimiter.clone(),
            decimal_comma: self.decimal.map(|mark| mark == DecimalMark::Comma),
            thousands: self.thousands.clone(),
            header: self.header,
            time_column: self.time_column.clone(),
            time_format: self.time_format.clone(),
            rate: self.rate,
            precision: self.precision.clone(),
        })
    }

    /// The format, if one is named.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn format(&self) -> anyhow::Result<Option<&'static InputFormat>> {
        let choices = Choices { format: self.format.clone(), ..Choices::default() };
        choices.format().map_err(|error| of_flag(&error))
    }

    /// The options of reading.
    ///
    /// # Errors
    /// If a flag is invalid, or a database cannot be read.
    pub fn options(&self, is_partial: bool) -> anyhow::Result<InputOptions> {
        let choices = self.choices(is_partial)?;
        choices.options(self.databases()?).map_err(|error| of_flag(&error))
    }

    /// The CAN databases.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn databases(&self) -> anyhow::Result<Vec<Dbc>> {
        self.dbc.iter().map(|path| read_database(path)).collect()
    }
}

fn read_database(path: &Path) -> anyhow::Result<Dbc> {
    let mut content = Vec::new();
    let file = File::open(path).and_then(|file| file.take(MAX_DBC_BYTES + 1).read_to_end(&mut content));
    file.with_context(|| format!("cannot read --dbc {}", path.display()))?;
    if content.len() as u64 > MAX_DBC_BYTES {
        bail!("--dbc {} has more than {MAX_DBC_BYTES} bytes: name a CAN database", path.display());
    }
    Ok(Dbc { path: path.display().to_string(), content })
}

/// Returns the error of a flag.
fn of_flag(BadChoice { choice, why }: &BadChoice) -> anyhow::Error {
    anyhow!("--{} is {why}", choice.replace('_', "-"))
}
