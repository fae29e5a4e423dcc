//! The arguments of `oasis run`.

use crate::{live::locate::Located, output_format::OutputFlags};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start a test run: all samples from now on belong to it.
    #[command(after_help = "Examples:
  oasis run start 'soak, pump 3 hot'
  oasis run start 'soak, pump 3 hot' --tag night --notes 'valve half open' --pin")]
    Start {
        /// A unique name.
        name: String,
        #[command(flatten)]
        description: Description,
        /// Pin it: retention keeps its samples.
        #[arg(long)]
        pin: bool,
    },
    /// Stop a test run.
    #[command(after_help = "Examples:
  oasis run stop 'soak, pump 3 hot'")]
    Stop {
        /// Its name.
        name: String,
    },
    /// List test runs, newest first.
    #[command(after_help = "Examples:
  oasis run list
  oasis run list --tag night
  oasis run list --json | jq -r .name")]
    List {
        /// Only test runs with this tag.
        #[arg(long)]
        tag: Option<String>,
    },
    /// Show a test run: notes, tags, times, and statistics of each instance and metric.
    #[command(after_help = "Examples:
  oasis run show 'soak, pump 3 hot'
  oasis run show 'soak, pump 3 hot' --node plant-7 --instance processor
  oasis run show 'soak, pump 3 hot' --json | jq '.instances[].summary.lost'")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        only: Only,
    },
    /// Change name, notes or tags; new tags replace the old ones.
    #[command(after_help = "Examples:
  oasis run edit 'soak, pump 3 hot' --name 'soak, pump 3 warm'
  oasis run edit 'soak, pump 3 hot' --notes 'valve was shut' --tag night --tag discard")]
    Edit {
        /// Its name.
        name: String,
        /// Its new name.
        #[arg(long = "name", value_name = "NAME")]
        renamed: Option<String>,
        #[command(flatten)]
        description: Description,
    },
    /// Pin it: retention keeps its samples.
    #[command(after_help = "Examples:
  oasis run pin 'soak, pump 3 hot'")]
    Pin {
        /// Its name.
        name: String,
    },
    /// Unpin it: retention applies to its samples again.
    #[command(after_help = "Examples:
  oasis run unpin 'soak, pump 3 hot'")]
    Unpin {
        /// Its name.
        name: String,
    },
    /// Delete a test run; retention still applies to its samples.
    #[command(after_help = "Examples:
  oasis run delete 'soak, pump 3 hot'")]
    Delete {
        /// Its name.
        name: String,
    },
    /// Compare two test runs: samples, rates, intervals, losses, values of each metric, and increases of counters.
    #[command(after_help = "Examples:
  oasis run compare 'soak, pump 3 cold' 'soak, pump 3 hot'
  oasis run compare 'soak, pump 3 cold' 'soak, pump 3 hot' --instance processor")]
    Compare {
        /// Name of the first test run.
        name: String,
        /// Name of the second test run.
        with: String,
        #[command(flatten)]
        only: Only,
    },
}

#[derive(Debug, Args)]
pub struct Description {
    /// Notes.
    #[arg(long, value_name = "TEXT")]
    pub notes: Option<String>,
    /// A tag; repeatable.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// A filter of instances.
#[derive(Debug, Args)]
pub struct Only {
    /// Only instances of this node.
    #[arg(long)]
    pub node: Option<String>,
    /// Only instances with this name.
    #[arg(long)]
    pub instance: Option<String>,
}

impl Only {
    /// The request body of the API.
    pub fn query(&self) -> Vec<(&str, &str)> {
        let asked = [("node", &self.node), ("instance", &self.instance)];
        asked.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?))).collect()
    }
}
