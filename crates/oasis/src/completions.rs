//! `oasis completions`: what a shell needs to complete commands and options.

use clap::{Args, Command};
use clap_complete::Shell;
use std::io::{self, ErrorKind, Write};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The shell.
    pub shell: Shell,
}

/// Prints the script of a shell for `command`.
pub fn run(arguments: &Arguments, command: Command) -> anyhow::Result<()> {
    match io::stdout().write_all(&script(arguments.shell, command)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "oasis", &mut script);
    script
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory, ValueEnum};

    #[test]
    fn each_shell_completes_commands_and_options() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell, Cli::command())).unwrap();
            for word in ["export", "archive", "completions", "verbose"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
