//! `oasis pdl`: one file a verb.

mod arguments;
mod check;
mod compile;
mod diff;
mod fmt;
#[cfg(feature = "live")]
mod infer;
#[cfg(feature = "lsp")]
mod lsp;

pub use arguments::Verb;

use crate::diagnostics::explain;
#[cfg(not(feature = "lsp"))]
use crate::features::LSP;
use arguments::Input;
use oasis_pdl::{Disk, Report};
use std::process::ExitCode;

/// Runs a subcommand. The exit status reports whether the files are valid.
pub fn run(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Check(arguments) => Ok(check::run(&arguments)),
        Verb::Compile(arguments) => compile::run(&arguments),
        Verb::Fmt(arguments) => fmt::run(&arguments),
        Verb::Diff(arguments) => diff::run(&arguments),
        #[cfg(feature = "live")]
        Verb::Infer(arguments) => infer::run(&arguments),
        #[cfg(feature = "lsp")]
        Verb::Lsp(_) => lsp::run(),
        #[cfg(not(feature = "lsp"))]
        Verb::Lsp(_) => Err(LSP.missing("oasis pdl lsp")),
    }
}

/// Compiles the files and reports errors and warnings.
fn read(input: &Input) -> Report {
    let report = oasis_pdl::compile(&input.files, &input.include, &Disk);
    explain(&report.findings(), &report.sources, input.messages.format());
    report
}
