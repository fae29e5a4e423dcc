//! Checks that each command obeys the variables of its flags, and that the documentation says which do.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use crate::cli;
use clap::{Arg, Command};
use std::{fs, path::Path};

/// Flags that name a DAC, an archive or a configuration file, and their variables in the order of the table.
const VARIABLES: [(&str, &str); 4] =
    [("url", "OASIS_URL"), ("dac", "OASIS_DAC"), ("archive", "OASIS_ARCHIVE"), ("config", "OASIS_CONFIG")];
/// Commands that refuse the variable, or have another use of the flag's name.
const NOT_OBEYED: [(&str, &str); 1] = [
    // A simulated plant stays out of archives.
    ("demo", "archive"),
];

/// Whether the flag has its variable, by its parser or by the command's own code, which then is in its help.
fn obeys(argument: &Arg, variable: &str) -> bool {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    argument.get_env().is_some_and(|name| name == variable) || help.contains(&format!("[env: {variable}"))
}

/// Adds the flags of a command and of those below it that do not obey their variable. Returns which variables have an effect.
fn check(path: &str, command: &Command, wrong: &mut Vec<String>) -> [bool; 4] {
    let mut found = [false; 4];
    for (index, (flag, variable)) in VARIABLES.into_iter().enumerate() {
        let Some(argument) = command.get_arguments().find(|argument| argument.get_long() == Some(flag))
        else {
            continue;
        };
        if NOT_OBEYED.contains(&(path, flag)) {
            continue;
        }
        found[index] = true;
        if !obeys(argument, variable) {
            wrong.push(format!("{path} --{flag} does not obey {variable}"));
        }
    }
    for below in command.get_subcommands() {
        let of_below = check(&format!("{path} {}", below.get_name()), below, wrong);
        found = std::array::from_fn(|index| found[index] || of_below[index]);
    }
    found
}

#[test]
fn each_command_obeys_the_variables_of_its_flags_as_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/environment.md");
    let page = fs::read_to_string(page).unwrap();
    let mut wrong = Vec::new();
    let root = cli::command();
    for command in root.get_subcommands() {
        let found = check(command.get_name(), command, &mut wrong);
        // Earlier spellings of commands are documented with those.
        if command.is_hide_set() {
            continue;
        }
        let cells = found.map(|obeys| if obeys { " yes |" } else { " |" });
        let row = format!("| `oasis {}` |{}", command.get_name(), cells.concat());
        let is_there = page.lines().any(|line| line == row);
        if found.contains(&true) && !is_there {
            wrong.push(format!("docs/reference/environment.md lacks the row {row}"));
        }
        let begin = format!("| `oasis {}` |", command.get_name());
        if !found.contains(&true) && page.contains(&begin) {
            wrong.push(format!("docs/reference/environment.md has a row that begins {begin}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
