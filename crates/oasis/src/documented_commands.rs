//! Checks that every `oasis` command line in the documentation is valid.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use crate::cli::Cli;
use clap::{Command, CommandFactory, Parser, error::ErrorKind};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Markdown files of this folder, and of the folders in it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut pages: Vec<_> =
        files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "md")).collect();
    for folder in folders {
        pages.extend(self::pages(&folder));
    }
    pages
}

/// Lines of blocks of shell commands. A backslash at the end of a line joins it with the next one.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            is_shell = matches!(language, "sh" | "console");
            continue;
        }
        if !is_shell {
            continue;
        }
        let mut command = line.strip_prefix("$ ").unwrap_or(line).to_owned();
        while let Some(begin) = command.strip_suffix('\\') {
            command = format!("{begin}{}", lines.next().unwrap_or_default());
        }
        commands.push(command);
    }
    commands
}

/// Words of a command line as a shell reads them, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(open)) if letter == open => quote = None,
            (' ', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            ('|' | '<' | '>' | '&', None) => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[test]
fn every_command_of_the_documentation_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = 0;
    let mut refused = Vec::new();
    for page in
        pages(&root.join("docs")).into_iter().chain([root.join("README.md"), root.join("SECURITY.md")])
    {
        for command in commands(&fs::read_to_string(&page).unwrap()) {
            let words = words(&command);
            // Elided parts are not checked.
            let is_ours = words.first().is_some_and(|program| program.rsplit('/').next() == Some("oasis"));
            if !is_ours || command.contains('…') {
                continue;
            }
            checked += 1;
            if let Err(error) = Cli::try_parse_from(words)
                && !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
            {
                refused.push(format!("{}: {command}\n{error}", page.display()));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(checked > 50, "{checked}");
}

/// Flags of curl, servers and pools of Python, Docker and pkg-config that pages name alone.
const FOREIGN_FLAGS: [&str; 8] = [
    "--data-urlencode",
    "--max-requests",
    "--max-tasks-per-child",
    "--preload",
    "--read-only",
    "--reload",
    "--static",
    "--workers",
];

/// Adds the long flags of a command and of those below it.
fn add_flags(command: &Command, flags: &mut BTreeSet<String>) {
    for argument in command.get_arguments() {
        let names = argument.get_long().into_iter().chain(argument.get_all_aliases().unwrap_or_default());
        flags.extend(names.map(|name| format!("--{name}")));
    }
    command.get_subcommands().for_each(|below| add_flags(below, flags));
}

/// Spans of code within the text of a page, outside of blocks.
fn code_spans(page: &str) -> Vec<String> {
    let mut is_block = false;
    let text = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    let text = text.collect::<Vec<_>>().join("\n");
    text.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect()
}

#[test]
fn every_flag_of_the_documentation_exists() {
    let mut flags: BTreeSet<String> = FOREIGN_FLAGS.map(str::to_owned).into();
    flags.extend(["--help".to_owned(), "--version".to_owned()]);
    add_flags(&Cli::command(), &mut flags);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let (mut checked, mut unknown) = (0, Vec::new());
    // Evidence has the flags of the lab.
    for page in pages(&root).into_iter().filter(|page| !page.starts_with(root.join("evidence"))) {
        for span in code_spans(&fs::read_to_string(&page).unwrap()) {
            let is_lab = span.starts_with("oasis lab");
            if is_lab || !(span.starts_with("--") || span.starts_with("oasis ")) {
                continue;
            }
            for flag in words(&span).iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let flag = flag.split(['=', '[', ',', '(']).next().unwrap_or_default();
                checked += 1;
                if !flags.contains(flag) {
                    unknown.push(format!("{}: {flag} in `{span}`", page.display()));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(checked > 100, "{checked}");
}

#[test]
fn words_are_those_of_a_shell() {
    assert_eq!(words("oasis tail 'my host/*' -n 2 | head"), ["oasis", "tail", "my host/*", "-n", "2"]);
    assert_eq!(words("oasis list   # all of them"), ["oasis", "list"]);
    assert_eq!(words("oasis list ''"), ["oasis", "list", ""]);
}
