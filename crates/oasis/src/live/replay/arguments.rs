//! The arguments of `oasis replay`.

use crate::{archive_folder::ArchiveFolder, target::Target};
use clap::Args;
use oasis_client::data_channel;
use oasis_recordings::replay::Speed;
use oasis_wire::time;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Recording: the name of a test run in the archive, or an archive folder for all of it.
    #[arg(value_name = "RUN|FOLDER")]
    pub what: String,
    /// NODE/INSTANCE to play, where * matches any text ('plant-7/*') [default: all except replays].
    pub instances: Vec<Target>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Data channel of the receiving DAC; with tls:// in front if it has a certificate.
    #[arg(long, value_name = "[tls://]HOST:PORT", default_value = "127.0.0.1:7071", env = "OASIS_DAC", value_parser = data_channel)]
    pub dac: String,
    /// CA of the DAC's certificate, with tls:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    pub ca: Option<PathBuf>,
    /// Certificate to connect with, for a DAC that requires one of its nodes.
    #[arg(long, value_name = "FILE", env = "OASIS_CERTIFICATE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of that certificate.
    #[arg(long, value_name = "FILE", env = "OASIS_KEY", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Speed relative to the recording, 0.01 to 10000.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub speed: Speed,
    /// Repeat until Ctrl-C.
    #[arg(long = "loop")]
    pub is_loop: bool,
    #[arg(help = format!("Start at this time: {} [default: the oldest sample]", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Stop at this time (exclusive) [default: after the newest sample].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
}
