//! `oasis rules`: one file a verb.

mod arguments;
#[cfg(all(feature = "live", feature = "lsp"))]
mod catalog;
mod check;
mod explain;
mod fmt;
#[cfg(feature = "live")]
mod list;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg_attr(not(feature = "mcap"), path = "no_recording.rs")]
mod recording;
mod run;
mod types;

pub use arguments::Verb;

use crate::diagnostics::{MessageFormat, explain};
#[cfg(not(feature = "lsp"))]
use crate::features::LSP;
use oasis_rules::Report;
use oasis_wire::schema::ProbeType;
use std::{fs, path::Path, process::ExitCode, sync::Arc};

/// Runs a subcommand. The exit status reports whether the files are valid.
pub fn run(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Fmt(arguments) => fmt::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        #[cfg(feature = "live")]
        Verb::List(arguments) => list::run(&arguments),
        #[cfg(feature = "lsp")]
        Verb::Lsp(arguments) => lsp::run(arguments),
        #[cfg(not(feature = "lsp"))]
        Verb::Lsp(_) => Err(LSP.missing("oasis rules lsp")),
    }
}

/// Compiles a file and reports errors and warnings.
fn read(path: &Path, types: &[Arc<ProbeType>], format: MessageFormat) -> Report {
    let report = match fs::read_to_string(path) {
        Ok(text) => oasis_rules::compile(path, &text, types),
        Err(error) => Report::unreadable(path, &error),
    };
    explain(&report.findings(), &report.sources, format);
    report
}
