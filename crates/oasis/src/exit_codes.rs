//! The exit codes of all commands.

use clap::Args;
use std::io::{self, Write};

/// A file is imported, but messages or values of it are missing.
pub const INCOMPLETE: u8 = 3;
/// A changed type needs another version (`oasis pdl diff`).
pub const NEEDS_VERSION: u8 = 3;
/// A changed type breaks readers (`oasis pdl diff`).
pub const BREAKING: u8 = 4;

/// Code, commands and meaning.
const CODES: [(&str, &str, &str); 6] = [
    ("0", "all", "done; or a reader such as head has closed the pipe"),
    ("1", "all", "failed, or a check has found a problem: the reason is on standard error"),
    ("2", "all", "the command line is wrong: nothing was done"),
    ("3", "import", "imported, but messages or values are missing"),
    ("3", "pdl diff", "the change needs another version of the type"),
    ("4", "pdl diff", "the change breaks readers"),
];

#[derive(Debug, Args)]
pub struct Arguments {}

/// Prints the table.
pub fn run() -> io::Result<()> {
    writeln!(io::stdout(), "{}", table())
}

/// Returns the table as text.
pub fn table() -> String {
    let mut table = format!("{:<6}{:<10}{}", "CODE", "COMMAND", "MEANING");
    for (code, command, meaning) in CODES {
        table += &format!("\n{code:<6}{command:<10}{meaning}");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_the_same_table() {
        let page = include_str!("../../../docs/reference/command-line.md");
        for (code, command, meaning) in CODES {
            let row = format!("| {code} | {command} | {meaning} |");
            assert!(page.contains(&row), "docs/reference/command-line.md lacks: {row}");
        }
    }

    #[test]
    fn codes_of_commands_are_in_the_table() {
        for (code, command) in [(INCOMPLETE, "import"), (NEEDS_VERSION, "pdl diff"), (BREAKING, "pdl diff")] {
            assert!(CODES.iter().any(|row| (row.0, row.1) == (code.to_string().as_str(), command)));
        }
    }
}
