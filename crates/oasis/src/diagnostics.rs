//! Prints the errors of compilers.

use clap::{Args, ValueEnum};
use oasis_pdl::{Diagnostic, ErrorCode, Sources};
use std::io::{self, IsTerminal, Write};

/// Most errors printed at once: further ones are often consequences.
const MAX_SHOWN_ERRORS: usize = 100;

/// Output format of errors.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum MessageFormat {
    /// Text for people.
    #[default]
    Human,
    /// One JSON object in each line, for editors and CI.
    Json,
}

/// The flags of a command that reports errors in files.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct MessageFlags {
    /// Print errors as JSON for programs: one object in each line.
    #[arg(long)]
    json: bool,
    /// Earlier spelling of --json.
    #[arg(long, value_enum, hide = true, conflicts_with = "json")]
    message_format: Option<MessageFormat>,
}

impl MessageFlags {
    /// Returns the format that the flags choose.
    pub fn format(self) -> MessageFormat {
        if self.json { MessageFormat::Json } else { self.message_format.unwrap_or_default() }
    }
}

/// Prints all errors and warnings of a compilation: text on standard error, JSON on standard output.
pub fn explain<C: ErrorCode>(diagnostics: &[Diagnostic<C>], sources: &Sources, format: MessageFormat) {
    match format {
        MessageFormat::Json => {
            let mut out = io::stdout().lock();
            // `oasis pdl check … | head` is not an error.
            let _closed = diagnostics
                .iter()
                .try_for_each(|diagnostic| writeln!(out, "{}", diagnostic.to_json(sources)));
        }
        MessageFormat::Human if diagnostics.is_empty() => {}
        MessageFormat::Human => {
            let colors = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            for diagnostic in diagnostics.iter().take(MAX_SHOWN_ERRORS) {
                eprintln!("{}\n", diagnostic.render(sources, colors));
            }
            let hidden = diagnostics.len().saturating_sub(MAX_SHOWN_ERRORS);
            let rest = if hidden == 0 { String::new() } else { format!(", {hidden} not shown") };
            let warnings = diagnostics.iter().filter(|found| found.code.is_warning()).count();
            let counts = [(diagnostics.len() - warnings, "error"), (warnings, "warning")];
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            let counts: Vec<_> = counts.map(|(count, of)| counted(count, of)).collect();
            eprintln!("{}{rest}", counts.join(", "));
        }
    }
}

/// `1 rule`, `2 rules`.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
