//! `oasis pdl diff`

use super::{
    arguments::{Diff, Input},
    read,
};
use crate::{
    diagnostics::{MessageFormat, counted},
    exit_codes,
};
use oasis_pdl::{Change, Class, Report, Sources, Span, compare};
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

/// The exit status is that of the worst change.
pub fn run(arguments: &Diff) -> anyhow::Result<ExitCode> {
    let [old, new] = [&arguments.old, &arguments.new].map(|path| compiled(path, arguments));
    if !old.is_ok() || !new.is_ok() {
        return Ok(ExitCode::FAILURE);
    }
    let changes = compare(&old.model, &new.model);
    let sources = [&old.sources, &new.sources];
    let mut out = io::stdout().lock();
    match arguments.messages.format() {
        MessageFormat::Json => {
            for change in &changes {
                writeln!(out, "{}", change.to_json(&old.sources, &new.sources))?;
            }
        }
        MessageFormat::Human => {
            let colors = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
            explain(&mut out, &changes, sources, colors)?;
        }
    }
    // The worst comes first.
    Ok(match changes.first().map(|change| change.class) {
        Some(Class::Breaking) => ExitCode::from(exit_codes::BREAKING),
        Some(Class::NeedsVersion) => ExitCode::from(exit_codes::NEEDS_VERSION),
        Some(Class::NewVersion | Class::Safe) | None => ExitCode::SUCCESS,
    })
}

fn compiled(path: &Path, arguments: &Diff) -> Report {
    read(&Input {
        files: vec![path.to_owned()],
        include: arguments.include.clone(),
        messages: arguments.messages,
    })
}

/// Prints a group for each class, with a line for each change.
fn explain(out: &mut impl Write, changes: &[Change], sources: [&Sources; 2], colors: bool) -> io::Result<()> {
    for class in Class::ALL {
        let (title, color) = heading(class);
        let group: Vec<&Change> = changes.iter().filter(|change| change.class == class).collect();
        if group.is_empty() {
            continue;
        }
        if colors {
            writeln!(out, "\x1b[1;{color}m{title}\x1b[0m")?;
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

/// The heading of a class, and its terminal color.
fn heading(class: Class) -> (&'static str, u8) {
    match class {
        Class::Breaking => ("Breaks readers:", 31),
        Class::NeedsVersion => ("Needs a higher version:", 33),
        Class::NewVersion => ("Covered by a higher version:", 36),
        Class::Safe => ("Safe:", 32),
    }
}

fn line(change: &Change, [old, new]: [&Sources; 2]) -> String {
    let text = format!("{}: {}", change.probe, change.message);
    match (change.old.map(|span| place(span, old)), change.new.map(|span| place(span, new))) {
        (Some(old), Some(new)) => format!("{new}: {text} (was {old})"),
        (Some(old), None) => format!("{old}: {text}"),
        (None, Some(new)) => format!("{new}: {text}"),
        (None, None) => text,
    }
}

fn place(span: Span, sources: &Sources) -> String {
    let (line, _) = sources.line_and_column(span);
    format!("{}:{line}", sources.path(span.file).display())
}
