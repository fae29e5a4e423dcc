//! The arguments of `oasis sql`.

#[cfg(feature = "live")]
use crate::live::locate::{Located, variable};
use crate::{archive_folder::ArchiveFolder, formats};
use clap::Args;
#[cfg(feature = "live")]
use oasis_client::{DacAddress, Server, TemAddress};
use oasis_format::Format;
#[cfg(feature = "live")]
use oasis_tem::DacName;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub archive: ArchiveFolder,
    #[cfg(feature = "live")]
    /// Send the query to a running DAC instead: http://HOST:PORT of its page, or https://. It answers what your permissions allow [env: OASIS_URL, unless an archive is named].
    #[arg(long, value_name = "URL", conflicts_with_all = ["archive", "config", "access", "rules_dir", "stats"])]
    url: Option<DacAddress>,
    #[cfg(feature = "live")]
    /// CA of the DAC's certificate, with https:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    ca: Option<PathBuf>,
    #[cfg(feature = "live")]
    /// TEM that knows the running DACs: http://HOST:PORT of its page, or https://. May be repeated.
    #[arg(long, value_name = "URL", value_delimiter = ',', conflicts_with_all = ["archive", "config", "access", "rules_dir", "stats", "url"])]
    tem: Vec<TemAddress>,
    #[cfg(feature = "live")]
    /// Name of the DAC that answers, as the TEM lists it [default: the only one].
    #[arg(long, value_name = "NAME", requires = "tem")]
    dac_name: Option<DacName>,
    /// Folder of the accounts: adds the table audit_log.
    #[arg(long, value_name = "DIR")]
    pub access: Option<PathBuf>,
    #[cfg(feature = "live")]
    /// Directory of the DAC's rules, for the tables alarms and events [default: rules.directory of the configuration file, or ARCHIVE-rules].
    #[arg(long, value_name = "DIR", alias = "rules")]
    pub rules_dir: Option<PathBuf>,
    /// A query; or .tables, .schema TABLE or .help. Read from standard input if none is given.
    pub query: Option<String>,
    /// Output format [default: table on a terminal, csv otherwise].
    #[arg(long, value_parser = formats::of_rows())]
    format: Option<&'static Format>,
    /// Print JSON for programs: --format jsonl.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print on standard error how many times segment files were opened to read samples.
    #[arg(long)]
    pub stats: bool,
}

impl Arguments {
    /// Returns the format that the flags choose, if they do.
    pub fn format(&self) -> Option<&'static Format> {
        if self.json { oasis_format::find("jsonl") } else { self.format }
    }
}

#[cfg(feature = "live")]
impl Arguments {
    /// The DAC that answers instead of a folder, if one is named.
    pub fn server(&self) -> anyhow::Result<Option<Server>> {
        if !self.tem.is_empty() {
            let through = Located::through(self.tem.clone(), self.ca.clone(), self.dac_name.clone());
            return through.server(&[]).map(Some);
        }
        let url = match &self.url {
            Some(url) => Some(url.clone()),
            None if self.names_a_folder() => None,
            None => variable("OASIS_URL")?,
        };
        Ok(url.map(|url| Server { url, ca: self.ca.clone() }))
    }

    /// Whether a folder is to answer, or something that only a folder has is asked for.
    fn names_a_folder(&self) -> bool {
        self.archive.is_named() || self.access.is_some() || self.rules_dir.is_some() || self.stats
    }
}
