//! What can be typed behind `oasis run`.

use crate::{cli::Format, live::dac_address::Server};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
    #[command(flatten)]
    pub server: Server,
    /// How to print.
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start a test run: all samples from now on belong to it.
    #[command(after_help = "Examples:
  oasis run start 'soak, pump 3 hot'
  oasis run start 'soak, pump 3 hot' --tag night --notes 'valve half open' --pin")]
    Start {
        /// Any text; no other test run may have it.
        name: String,
        #[command(flatten)]
        description: Description,
        /// Keep its samples whatever retention says.
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
  oasis run list --format json | jq -r .name")]
    List {
        /// Only those with this tag.
        #[arg(long)]
        tag: Option<String>,
    },
    /// Show a test run: notes, tags, times, and each instance and metric in figures.
    #[command(after_help = "Examples:
  oasis run show 'soak, pump 3 hot'
  oasis run show 'soak, pump 3 hot' --node plant-7 --instance processor
  oasis run show 'soak, pump 3 hot' --format json | jq '.instances[].summary.lost'")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        only: Only,
    },
    /// Change name, notes or tags; new tags take the place of the old ones.
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
    /// Keep its samples whatever retention says.
    #[command(after_help = "Examples:
  oasis run pin 'soak, pump 3 hot'")]
    Pin {
        /// Its name.
        name: String,
    },
    /// Let retention have its samples.
    #[command(after_help = "Examples:
  oasis run unpin 'soak, pump 3 hot'")]
    Unpin {
        /// Its name.
        name: String,
    },
    /// Forget a test run; its samples stay for as long as retention keeps them.
    #[command(after_help = "Examples:
  oasis run delete 'soak, pump 3 hot'")]
    Delete {
        /// Its name.
        name: String,
    },
    /// Lay two test runs side by side: samples, rates, intervals, losses, each metric's values, and how far counters have counted.
    #[command(after_help = "Examples:
  oasis run compare 'soak, pump 3 cold' 'soak, pump 3 hot'
  oasis run compare 'soak, pump 3 cold' 'soak, pump 3 hot' --instance processor")]
    Compare {
        /// Name of the first one.
        name: String,
        /// Name of the second one.
        with: String,
        #[command(flatten)]
        only: Only,
    },
}

#[derive(Debug, Args)]
pub struct Description {
    /// What is to be remembered of it.
    #[arg(long, value_name = "TEXT")]
    pub notes: Option<String>,
    /// A word to find it by; repeatable.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// Which instances.
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
    /// As the API takes it.
    pub fn query(&self) -> Vec<(&str, &str)> {
        let asked = [("node", &self.node), ("instance", &self.instance)];
        asked.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?))).collect()
    }
}
