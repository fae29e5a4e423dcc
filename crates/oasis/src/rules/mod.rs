//! `oasis rules`: one file a verb.

mod arguments;
mod check;
mod explain;
mod fmt;
#[cfg(feature = "live")]
mod list;
mod lsp;
mod recording;
mod run;
#[cfg(feature = "live")]
mod surroundings;
mod types;

pub use arguments::Verb;

use crate::diagnostics::{MessageFormat, explain};
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
        Verb::Lsp(arguments) => lsp::run(arguments),
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
