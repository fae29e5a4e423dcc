//! The groups of commands in the help of `oasis`, and the first steps above them.

use clap::{Command, builder::StyledStr};

/// Commands for one purpose.
pub struct Group {
    pub title: &'static str,
    /// Names in the order of the help.
    pub commands: &'static [&'static str],
}

/// All groups. Each command that the help shows is in one of them.
pub const GROUPS: [Group; 6] = [
    Group { title: "Run processes of OASIS", commands: &["up", "demo", "node", "dac", "tem", "relay"] },
    Group {
        title: "Follow live samples, and control probes",
        commands: &["list", "tail", "alarms", "loss", "command", "settings", "label", "mcp"],
    },
    Group {
        title: "Record, and keep recordings",
        commands: &["run", "annotation", "archive", "import", "replay"],
    },
    Group { title: "Ask for recorded samples", commands: &["sql", "export"] },
    Group {
        title: "Administer a site",
        commands: &[
            "doctor",
            "setup",
            "handlers",
            "notify",
            "threads",
            "user",
            "token",
            "role",
            "audit-log",
            "ca",
            "backup",
            "restore",
        ],
    },
    Group {
        title: "Develop programs and rules",
        commands: &["init", "pdl", "rules", "lab", "completions", "man-pages"],
    },
];

/// Ten commands to begin with: what is typed after `oasis`, and its effect.
const FIRST_STEPS: [(&str, &str); 10] = [
    ("demo", "a simulated plant, at http://127.0.0.1:7070"),
    ("up", "this host, at the same address"),
    ("doctor", "what keeps this host from running OASIS"),
    ("list", "the probe instances"),
    ("tail my-host/processor", "samples of one, in the terminal"),
    ("command my-host/processor hertz 10", "ten samples a second"),
    ("node --dac 192.0.2.7:7071", "this host, at the DAC of another one"),
    ("init machine --lang python", "a program that OASIS watches"),
    ("sql 'SELECT * FROM instances'", "recorded samples as tables"),
    ("export -o samples.csv", "recorded samples as a file"),
];

/// Adds groups and first steps to the help of `oasis`.
pub fn grouped(command: Command) -> Command {
    let heading = command.get_styles().get_header();
    let heading = |title: &str| format!("{heading}{title}:{heading:#}\n");
    let mut help = heading("First steps, typed after oasis");
    for line in lines(FIRST_STEPS.iter().map(|(name, about)| Command::new(*name).about(*about))) {
        help += &line;
    }
    let mut lines = lines(ordered(&command).cloned()).into_iter();
    for group in &GROUPS {
        help += &format!("\n{}", heading(group.title));
        let built = group.commands.iter().filter(|name| command.find_subcommand(name).is_some());
        lines.by_ref().take(built.count()).for_each(|line| help += &line);
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{help}\n{}{{options}}{{after-help}}",
        heading("Options")
    );
    command.help_template(StyledStr::from(template))
}

/// The commands that this program is built with, in the order of the groups.
fn ordered(command: &Command) -> impl Iterator<Item = &Command> {
    let names = GROUPS.iter().flat_map(|group| group.commands);
    names.filter_map(|name| command.find_subcommand(name))
}

/// Returns a line of help for each command, aligned and wrapped for the terminal.
fn lines(commands: impl Iterator<Item = Command>) -> Vec<String> {
    let commands = commands.enumerate().map(|(place, command)| command.display_order(place));
    let list = Command::new("oasis")
        .disable_help_subcommand(true)
        .help_template("{subcommands}")
        .subcommands(commands)
        .render_help();
    let mut lines: Vec<String> = Vec::new();
    for line in list.ansi().to_string().trim_end().lines() {
        let is_continued = line.starts_with("   ") || line.trim().is_empty();
        match lines.last_mut().filter(|_| is_continued) {
            Some(last) => *last += &format!("{line}\n"),
            None => lines.push(format!("{line}\n")),
        }
    }
    lines
}

/// Returns the groups as commands of their own, for the manual page.
#[cfg(feature = "man-pages")]
pub fn sections(command: &Command) -> impl Iterator<Item = Command> {
    GROUPS.iter().map(|group| {
        let commands = group.commands.iter().filter_map(|name| command.find_subcommand(name));
        let commands = commands.enumerate().map(|(place, command)| command.clone().display_order(place));
        Command::new("oasis").subcommand_help_heading(group.title).subcommands(commands)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

    use super::*;
    use crate::cli::{self, Cli};
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// Width of the first column that fits 40 columns of a terminal beside a description.
    const MAX_NAME_WIDTH: usize = 13;
    /// Width of a description in one line of 80 columns.
    const MAX_ABOUT_WIDTH: usize = 80 - 2 - MAX_NAME_WIDTH - 2;

    #[test]
    #[cfg(feature = "live")]
    fn each_command_is_in_exactly_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    #[cfg(feature = "live")]
    fn the_first_steps_can_be_typed() {
        for (typed, _) in FIRST_STEPS {
            let words = typed.split_whitespace().map(|word| word.trim_matches('\''));
            // A query is one word for a shell.
            let words: Vec<&str> = if typed.starts_with("sql") { vec!["sql"] } else { words.collect() };
            let parsed = cli::command().try_get_matches_from(["oasis"].iter().chain(&words));
            assert!(parsed.is_ok(), "{typed}: {parsed:?}");
        }
    }

    #[test]
    fn the_help_has_one_line_for_each_command() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let about = command.get_about().unwrap().to_string();
            assert!(command.get_name().len() <= MAX_NAME_WIDTH, "{}", command.get_name());
            assert!(about.len() <= MAX_ABOUT_WIDTH, "{} bytes: {about}", about.len());
        }
        let help = cli::command().render_help().to_string();
        for group in &GROUPS {
            let section = help.split(group.title).nth(1).unwrap().split("\n\n").next().unwrap();
            let named: BTreeSet<&str> =
                section.lines().filter_map(|line| line.split_whitespace().next()).collect();
            for name in group.commands.iter().filter(|name| Cli::command().find_subcommand(name).is_some()) {
                assert!(named.contains(name), "{name}: {section}");
            }
        }
    }

    /// Names of commands that list something, without a flag of their own for it.
    const LISTS: [&str; 12] = [
        "alarms",
        "audit-log show",
        "doctor",
        "handlers",
        "import",
        "loss",
        "role show",
        "rules run",
        "sql",
        "tail",
        "threads",
        "archive show",
    ];

    #[test]
    fn whatever_lists_has_json() {
        let mut checked = 0;
        let mut missing = Vec::new();
        check("", &Cli::command(), false, &mut |name, has_json| {
            let verb = name.rsplit(' ').next().unwrap_or_default();
            if LISTS.contains(&name) || matches!(verb, "list" | "status" | "check" | "journal" | "statistics")
            {
                checked += 1;
                if !has_json {
                    missing.push(name.to_owned());
                }
            }
        });
        assert!(missing.is_empty(), "without --json: {missing:?}");
        assert!(checked >= 12, "{checked}");
    }

    /// Calls `found` with each command, and whether it or one above has `--json`.
    fn check(path: &str, command: &Command, inherited: bool, found: &mut impl FnMut(&str, bool)) {
        for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = format!("{path} {}", below.get_name());
            let json = below.get_arguments().find(|argument| argument.get_long() == Some("json"));
            found(name.trim_start(), inherited || json.is_some());
            check(&name, below, inherited || json.is_some_and(clap::Arg::is_global_set), found);
        }
    }

    #[test]
    #[cfg(feature = "live")]
    fn earlier_spellings_still_work() {
        for typed in [
            "audit --format json",
            "shards 4",
            "forget --archive a plant-7",
            "sign-in-link",
            "list --format json",
            "pdl check --message-format json a.pdl",
            "rules lsp --dac http://127.0.0.1:7070",
            "alarms journal --limit 3",
            "audit-log show --newest 3",
            "annotation add rain --time -1h --until -5m",
            "sql --rules a",
            "node --spool-directory a",
            "setup --directory a",
            "restore a --to b",
        ] {
            let parsed = cli::command().try_get_matches_from(["oasis"].into_iter().chain(typed.split(' ')));
            assert!(parsed.is_ok(), "{typed}: {}", parsed.unwrap_err());
        }
    }
}
