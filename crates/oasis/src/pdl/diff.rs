//! `oasis pdl diff`

use super::arguments::{Diff, Input, MessageFormat};
use super::{counted, read};
use oasis_pdl::{Change, Class, Report, Sources, Span, compare};
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

/// 1 says that a file is wrong, 2 that the arguments are.
const NEEDS_VERSION: u8 = 3;
const BREAKING: u8 = 4;

/// The exit status is that of the worst change.
pub fn run(arguments: &Diff) -> anyhow::Result<ExitCode> {
    let [old, new] = [&arguments.old, &arguments.new].map(|path| compiled(path, arguments));
    if !old.is_ok() || !new.is_ok() {
        return Ok(ExitCode::FAILURE);
    }
    let changes = compare(&old.model, &new.model);
    let sources = [&old.sources, &new.sources];
    let mut out = io::stdout().lock();
    match arguments.message_format {
        MessageFormat::Json => {
            for change in &changes {
                writeln!(out, "{}", change.to_json(&old.sources, &new.sources))?;
            }
        }
        MessageFormat::Human => {
            let colours = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
            explain(&mut out, &changes, sources, colours)?;
        }
    }
    // The worst comes first.
    Ok(match changes.first().map(|change| change.class) {
        Some(Class::Breaking) => ExitCode::from(BREAKING),
        Some(Class::NeedsVersion) => ExitCode::from(NEEDS_VERSION),
        Some(Class::NewVersion | Class::Safe) | None => ExitCode::SUCCESS,
    })
}

fn compiled(path: &Path, arguments: &Diff) -> Report {
    read(&Input {
        files: vec![path.to_owned()],
        include: arguments.include.clone(),
        message_format: arguments.message_format,
    })
}

/// A group a class, a line a change.
fn explain(
    out: &mut impl Write,
    changes: &[Change],
    sources: [&Sources; 2],
    colours: bool,
) -> io::Result<()> {
    for class in Class::ALL {
        let (title, colour) = heading(class);
        let group: Vec<&Change> = changes.iter().filter(|change| change.class == class).collect();
        if group.is_empty() {
            continue;
        }
        if colours {
            writeln!(out, "\x1b[1;{colour}m{title}\x1b[0m")?;
        } else {
            writeln!(out, "{title}")?;
        }
        for change in group {
            writeln!(out, "  {}", line(change, sources))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", counted(changes.len(), "change"))
}

/// What the class means, and how a terminal colours it.
fn heading(class: Class) -> (&'static str, u8) {
    match class {
        Class::Breaking => ("Breaks readers:", 31),
        Class::NeedsVersion => ("Needs a higher version:", 33),
        Class::NewVersion => ("Told by a higher version:", 36),
        Class::Safe => ("Safe:", 32),
    }
}

fn line(change: &Change, [old, new]: [&Sources; 2]) -> String {
    let said = format!("{}: {}", change.probe, change.message);
    match (change.old.map(|span| place(span, old)), change.new.map(|span| place(span, new))) {
        (Some(old), Some(new)) => format!("{new}: {said} (was {old})"),
        (Some(old), None) => format!("{old}: {said}"),
        (None, Some(new)) => format!("{new}: {said}"),
        (None, None) => said,
    }
}

fn place(span: Span, sources: &Sources) -> String {
    let (line, _) = sources.line_and_column(span);
    format!("{}:{line}", sources.path(span.file).display())
}
