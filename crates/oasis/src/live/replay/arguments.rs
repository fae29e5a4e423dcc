//! The arguments of `oasis replay`.

use crate::{
    archive_folder::ArchiveFolder,
    target::{self, Target},
};
use clap::Args;
use oasis_replay::Speed;
use oasis_wire::time;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Recording: the name of a test run in the archive, or an archive folder for all of it.
    #[arg(value_name = "RUN|FOLDER")]
    pub what: String,
    /// NODE/INSTANCE to play, where * matches any text ('plant-7/*') [default: all except replays].
    pub instances: Vec<Target>,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Data channel of the receiving DAC.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7071", env = "OASIS_DAC", value_parser = target::data_channel)]
    pub dac: String,
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
