//! The archive: what it costs those who watch, what it stores and how fast, how fast its past is read, and how long a start takes.

mod history;
mod load;
mod postgresql;
mod replay;
mod restart;
mod rows;
mod search;
mod sql;

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The archive's figures.
#[derive(Debug, Clone, Args)]
pub struct Archive {
    /// Folder for archives; they are removed again.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
    /// Samples a second that are archived while others watch.
    #[arg(long, default_value_t = 1_000_000)]
    hertz: u32,
    /// Subscribers that watch.
    #[arg(long, default_value_t = 100)]
    subscribers: usize,
    /// Length of each run with or without an archive, in seconds.
    #[arg(long, default_value_t = 20)]
    length_s: u64,
    /// Pairs of such runs.
    #[arg(long, default_value_t = 3)]
    pairs: usize,
    /// Rows to insert, and to query, in millions.
    #[arg(long, default_value_t = 2)]
    rows_m: u64,
    /// Log records to search, in millions.
    #[arg(long, default_value_t = 10)]
    records_m: u64,
    /// Sizes of archives to start on, in GB.
    #[arg(long, value_delimiter = ',', default_value = "1,3,10")]
    sizes: Vec<u64>,
    /// PostgreSQL database for a schema that is removed again, such as `host=/run/postgresql user=oasis dbname=plant`; not encrypted.
    #[arg(long, value_name = "URL", env = "OASIS_POSTGRESQL_URL", hide_env_values = true)]
    postgresql_url: Option<String>,
    /// Figures that are measured.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "load,rows,history,search,restart,sql,replay,postgresql"
    )]
    what: Vec<Figure>,
}

/// Figures that can be measured.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Figure {
    /// Samples archived while others watch.
    Load,
    /// Rows a second, beside SQLite.
    Rows,
    /// The past in points.
    History,
    /// Log records by word, field and level.
    Search,
    /// From a start to serving.
    Restart,
    /// Rows a second of a query, beside SQLite.
    Sql,
    /// Samples a second of `oasis replay`, beside the same samples encoded and sent.
    Replay,
    /// Rows a second into PostgreSQL, beside a bare binary `COPY`.
    Postgresql,
}

impl Archive {
    /// Measures, and returns sections of the report.
    pub fn run(&self) -> anyhow::Result<Vec<String>> {
        let mut sections = Vec::new();
        for what in &self.what {
            sections.push(match what {
                Figure::Load => self.load()?,
                Figure::Rows => self.rows()?,
                Figure::History => self.history()?,
                Figure::Search => self.search()?,
                Figure::Restart => self.restart()?,
                Figure::Sql => self.sql()?,
                Figure::Replay => self.replay()?,
                Figure::Postgresql => self.postgresql()?,
            });
        }
        Ok(sections)
    }

    fn new_folder(&self) -> anyhow::Result<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("oasis-lab-").tempdir_in(&self.folder)?)
    }
}
