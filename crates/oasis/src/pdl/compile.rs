//! `oasis pdl compile`

use super::{arguments::Compile, read};
use crate::{
    diagnostics::{MessageFormat, explain},
    replace::replace,
};
use anyhow::{Context, bail};
use oasis_pdl_gen::Language;
use std::{fs, process::ExitCode};

pub fn run(arguments: &Compile) -> anyhow::Result<ExitCode> {
    let mut report = read(&arguments.input);
    if !report.is_ok() {
        return Ok(ExitCode::FAILURE);
    }
    report.diagnostics =
        arguments.languages.iter().flat_map(|language| language.check(&report.model)).collect();
    if !report.is_ok() {
        explain(&report.diagnostics, &report.sources, arguments.input.messages.format());
        return Ok(ExitCode::FAILURE);
    }
    if [Language::C, Language::C99].iter().all(|language| arguments.languages.contains(language)) {
        bail!("c and c99 write a header of the same name: compile each into a folder of its own (--output)");
    }
    let stem = arguments.input.files.first().and_then(|file| file.file_stem()).unwrap_or_default();
    let names = arguments.input.files.iter().filter_map(|file| file.file_name());
    let from = names.map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(", ");
    let output = &arguments.output;
    fs::create_dir_all(output).with_context(|| format!("cannot create the folder {}", output.display()))?;
    for language in &arguments.languages {
        let path = output.join(language.file_name(&stem.to_string_lossy()));
        replace(&path, &language.generate(&report.model, &from))?;
        if matches!(arguments.input.messages.format(), MessageFormat::Human) {
            println!("{}", path.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}
