//! `oasis pdl check`

use super::{arguments::Check, read};
use crate::diagnostics::{MessageFormat, counted};
use std::process::ExitCode;

pub fn run(arguments: &Check) -> ExitCode {
    let report = read(&arguments.input);
    if !report.is_ok() {
        return ExitCode::FAILURE;
    }
    if matches!(arguments.input.messages.format(), MessageFormat::Human) {
        let model = &report.model;
        let concrete = model.probes.iter().filter(|probe| !probe.is_abstract);
        println!(
            "ok: {}, {}, {}",
            counted(concrete.count(), "probe"),
            counted(model.structs.len(), "struct"),
            counted(model.enums.len(), "enum")
        );
    }
    ExitCode::SUCCESS
}
