//! `oasis rules check`

use super::{arguments::Check, read};
use crate::diagnostics::{MessageFormat, counted};
use std::process::ExitCode;

/// Checks every file, also after errors in others.
pub fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let Some(types) = arguments.types.load(arguments.messages.format())? else {
        return Ok(ExitCode::FAILURE);
    };
    let mut is_fine = true;
    for path in &arguments.files {
        let report = read(path, &types, arguments.messages.format());
        is_fine &= report.is_ok();
        if report.is_ok() && matches!(arguments.messages.format(), MessageFormat::Human) {
            let program = &report.program;
            let rules = counted(program.rules.len(), "rule");
            println!("{}: ok: {rules}, {}", path.display(), counted(program.inputs.len(), "input"));
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
