//! `oasis rules fmt`

use crate::{
    diagnostics::{MessageFormat, explain},
    format_files::{self, Fmt},
};
use oasis_rules::Report;
use std::{io, path::Path, process::ExitCode};

pub fn run(arguments: &Fmt) -> anyhow::Result<ExitCode> {
    format_files::run(arguments, &laid_out)
}

fn laid_out(path: &Path, text: io::Result<&str>) -> Option<String> {
    let report = match text {
        Ok(text) => match oasis_rules::format(path, text) {
            Ok(laid_out) => return Some(laid_out),
            Err(report) => report,
        },
        Err(error) => Report::unreadable(path, &error),
    };
    explain(&report.diagnostics, &report.sources, MessageFormat::Human);
    None
}
