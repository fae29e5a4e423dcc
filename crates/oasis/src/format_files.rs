//! Formats files of a language in place, or shows what would change.

use crate::replace::replace;
use anyhow::Context;
use clap::Args;
use similar::TextDiff;
use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Stands for standard input and standard output.
const PIPE: &str = "-";

#[derive(Debug, Args)]
pub struct Fmt {
    /// Files, or - for standard input and output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Show changes without writing them.
    #[arg(long)]
    pub check: bool,
}

/// Formats every file, also after errors in others. `format` returns the text in its one layout, or reports errors.
pub fn run(
    arguments: &Fmt,
    format: &dyn Fn(&Path, io::Result<&str>) -> Option<String>,
) -> anyhow::Result<ExitCode> {
    let laid_out = |path: &Path, text: io::Result<String>| match text {
        Ok(text) => format(path, Ok(&text)).map(|laid_out| (text, laid_out)),
        Err(error) => format(path, Err(error)).map(|laid_out| (String::new(), laid_out)),
    };
    if arguments.files.iter().any(|file| file == Path::new(PIPE)) {
        anyhow::ensure!(arguments.files.len() == 1, "`-` must be the only file");
        return pipe(arguments.check, &laid_out);
    }
    let mut is_fine = true;
    for path in &arguments.files {
        is_fine &= match laid_out(path, fs::read_to_string(path)) {
            None => false,
            Some((text, laid_out)) if text == laid_out => true,
            Some((text, laid_out)) if arguments.check => {
                show_difference(path, &text, &laid_out).map(|()| false)?
            }
            Some((_, laid_out)) => rewrite(path, &laid_out),
        };
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Formats one file. Returns whether it succeeded.
fn rewrite(path: &Path, laid_out: &str) -> bool {
    let outcome = replace(path, laid_out);
    match &outcome {
        Ok(()) => println!("{}", path.display()),
        Err(error) => eprintln!("oasis: {error:#}"),
    }
    outcome.is_ok()
}

/// Returns the text and its formatted version; none after an error.
type LaidOut<'a> = dyn Fn(&Path, io::Result<String>) -> Option<(String, String)> + 'a;

fn pipe(is_check: bool, laid_out: &LaidOut<'_>) -> anyhow::Result<ExitCode> {
    let path = Path::new("<stdin>");
    let mut text = String::new();
    let Some((text, laid_out)) = laid_out(path, io::stdin().read_to_string(&mut text).map(|_| text)) else {
        return Ok(ExitCode::FAILURE);
    };
    if !is_check {
        io::stdout().write_all(laid_out.as_bytes()).context("cannot write standard output")?;
    } else if laid_out != text {
        show_difference(path, &text, &laid_out)?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn show_difference(path: &Path, text: &str, laid_out: &str) -> anyhow::Result<()> {
    let name = path.display().to_string();
    let lines = TextDiff::from_lines(text, laid_out);
    let mut difference = lines.unified_diff();
    difference.header(&name, &name);
    write!(io::stdout(), "{difference}").context("cannot write standard output")
}
