//! `oasis pdl check`

use crate::cli::{Check, MessageFormat, Pdl};
use oasis_pdl::{Disk, Report, compile};
use std::{io::IsTerminal, process::ExitCode};

/// Does what was asked; the exit status says whether the files are right.
pub fn run(verb: Pdl) -> anyhow::Result<ExitCode> {
    match verb {
        Pdl::Check(arguments) => Ok(check(&arguments)),
    }
}

fn check(arguments: &Check) -> ExitCode {
    let report = compile(&arguments.files, &arguments.include, &Disk);
    match arguments.message_format {
        MessageFormat::Json => {
            for diagnostic in &report.diagnostics {
                println!("{}", diagnostic.to_json(&report.sources));
            }
        }
        MessageFormat::Human => explain(&report),
    }
    if report.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn explain(report: &Report) {
    if report.is_ok() {
        let concrete = report.model.probes.iter().filter(|probe| !probe.is_abstract);
        println!(
            "ok: {}, {}",
            counted(concrete.count(), "probe"),
            counted(report.model.structs.len(), "struct")
        );
        return;
    }
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    eprintln!("{}", report.render(colours));
    eprintln!("\n{}", counted(report.diagnostics.len(), "error"));
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
