//! What can be typed behind `oasis run`.

use crate::cli::{Format, Server};
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
    Stop {
        /// Its name.
        name: String,
    },
    /// List test runs, newest first.
    List {
        /// Only those with this tag.
        #[arg(long)]
        tag: Option<String>,
    },
    /// Show a test run: notes, tags, times, and each instance and metric in figures.
    Show {
        /// Its name.
        name: String,
    },
    /// Change name, notes or tags.
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
    Pin {
        /// Its name.
        name: String,
    },
    /// Let retention have its samples.
    Unpin {
        /// Its name.
        name: String,
    },
    /// Forget a test run; its samples stay for as long as retention keeps them.
    Delete {
        /// Its name.
        name: String,
    },
    /// Lay two test runs side by side: samples, rates, intervals, losses, and each metric's values.
    Compare {
        /// Name of the first one.
        name: String,
        /// Name of the second one.
        with: String,
        /// Only instances of this node.
        #[arg(long)]
        node: Option<String>,
        /// Only instances with this name.
        #[arg(long)]
        instance: Option<String>,
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
