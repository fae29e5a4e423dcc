//! `oasis rules explain`

use super::{arguments::Check, read};
use crate::broken_pipe::is_broken_pipe;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Describes the rules of every file, also after errors in others.
pub fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let Some(types) = arguments.types.load(arguments.messages.format())? else {
        return Ok(ExitCode::FAILURE);
    };
    let mut is_fine = true;
    for path in &arguments.files {
        let report = read(path, &types, arguments.messages.format());
        is_fine &= report.is_ok();
        if !report.is_ok() {
            continue;
        }
        match io::stdout().write_all(report.explain().as_bytes()).map_err(anyhow::Error::from) {
            Err(error) if is_broken_pipe(&error) => break,
            written => written?,
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
