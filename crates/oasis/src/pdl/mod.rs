//! `oasis pdl`: one file a verb.

mod arguments;
mod check;
mod compile;
mod diff;
mod fmt;
mod lsp;
mod replace;

pub use arguments::Verb;

use arguments::{Input, MessageFormat};
use oasis_pdl::{Disk, Report};
use std::{io::IsTerminal, process::ExitCode};

/// Most errors printed at once: further ones are often consequences.
const SHOWN: usize = 100;

/// Runs a subcommand. The exit status reports whether the files are valid.
pub fn run(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Check(arguments) => Ok(check::run(&arguments)),
        Verb::Compile(arguments) => compile::run(&arguments),
        Verb::Fmt(arguments) => fmt::run(&arguments),
        Verb::Diff(arguments) => diff::run(&arguments),
        Verb::Lsp(_) => lsp::run(),
    }
}

/// Compiles the files and reports errors.
fn read(input: &Input) -> Report {
    let report = oasis_pdl::compile(&input.files, &input.include, &Disk);
    explain(&report, input.message_format);
    report
}

fn explain(report: &Report, format: MessageFormat) {
    match format {
        MessageFormat::Json => {
            for diagnostic in &report.diagnostics {
                println!("{}", diagnostic.to_json(&report.sources));
            }
        }
        MessageFormat::Human if report.is_ok() => {}
        MessageFormat::Human => {
            let colors = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            for diagnostic in report.diagnostics.iter().take(SHOWN) {
                eprintln!("{}\n", diagnostic.render(&report.sources, colors));
            }
            let hidden = report.diagnostics.len().saturating_sub(SHOWN);
            let rest = if hidden == 0 { String::new() } else { format!(", {hidden} not shown") };
            eprintln!("{}{rest}", counted(report.diagnostics.len(), "error"));
        }
    }
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
