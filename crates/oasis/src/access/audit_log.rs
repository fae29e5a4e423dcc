//! `oasis audit-log`: shows and verifies the audit log.

#[cfg(feature = "live")]
use super::merged_log::{self, Dacs};
use super::{
    folder::{AccessFolder, Folder},
    unless_pipe_is_closed,
};
use crate::{
    output_format::{Format, OutputFlags},
    time_flag,
};
use anyhow::bail;
use clap::{Args, Subcommand};
use oasis_access::{Head, Record, read_records, verify};
use oasis_format::visible::Visible;
use serde_json::Value;
use std::{
    collections::VecDeque,
    io::{self, Write},
    ops::ControlFlow,
    process::ExitCode,
};

/// Most records that `-n` keeps.
const MAX_NEWEST_RECORDS: u64 = 1_000_000;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    folder: AccessFolder,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show records, oldest first.
    #[command(after_help = "Examples:
  oasis audit-log show -n 20
  oasis audit-log show --from -1d --principal person:ada
  oasis audit-log show --action command: --target plant-7/ --json | jq .arguments
  oasis audit-log show --tem https://tem.example.org:7070 --from -1d        the logs of all DACs as one")]
    Show(Box<Show>),
    /// Check that no record was changed, removed, reordered or cut off; exits with status 1 if one was.
    #[command(after_help = "Examples:
  oasis audit-log verify
  oasis audit-log verify --head 1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    Verify {
        /// Record that must be there, as an earlier check printed it: shows that nothing before it was exchanged.
        #[arg(long, value_name = "SEQ:HASH")]
        head: Option<Head>,
    },
}

#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    filter: Filter,
    #[cfg(feature = "live")]
    #[command(flatten)]
    dacs: Dacs,
}

#[derive(Debug, Default, Args)]
pub(super) struct Filter {
    /// Only records of this time or later.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) from: Option<String>,
    /// Only records before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) to: Option<String>,
    /// Only records of this principal, such as person:ada.
    #[arg(long)]
    pub(super) principal: Option<String>,
    /// Only actions that begin with this, such as command: or user:add.
    #[arg(long)]
    pub(super) action: Option<String>,
    /// Only targets that begin with this, such as plant-7/.
    #[arg(long)]
    pub(super) target: Option<String>,
    /// Only the newest N of them.
    #[arg(short = 'n', long, value_name = "N", alias = "newest", value_parser = clap::value_parser!(u64).range(1..=MAX_NEWEST_RECORDS))]
    pub(super) last: Option<u64>,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Runs a subcommand.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    #[cfg(feature = "live")]
    if let Verb::Show(asked) = &arguments.verb {
        let is_folder = arguments.folder.is_named();
        let dacs = if is_folder { asked.dacs.clone() } else { asked.dacs.or_of_environment()? };
        if dacs.are_named() {
            return unless_pipe_is_closed(merged_log::show(&dacs, &asked.filter)).map(|()| ExitCode::SUCCESS);
        }
    }
    let folder = arguments.folder.find()?;
    if !folder.audit_path().exists() {
        bail!(
            "there is no audit log at {}: is it the folder that --access names?",
            folder.audit_path().display()
        );
    }
    match &arguments.verb {
        Verb::Show(asked) => unless_pipe_is_closed(show(&folder, &asked.filter)).map(|()| ExitCode::SUCCESS),
        Verb::Verify { head } => check(&folder, *head),
    }
}

fn show(folder: &Folder, filter: &Filter) -> anyhow::Result<()> {
    let (from, to) = time_flag::span(filter.from.as_deref(), filter.to.as_deref())?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut newest = VecDeque::new();
    let mut written = Ok(());
    read_records(&folder.audit_path(), |record| {
        if !filter.matches(&record, from, to) {
            return ControlFlow::Continue(());
        }
        if let Some(most) = filter.last {
            if newest.len() as u64 >= most {
                newest.pop_front();
            }
            newest.push_back(record);
            return ControlFlow::Continue(());
        }
        written = print(&mut out, &record, filter.output.format());
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    newest.iter().try_for_each(|record| print(&mut out, record, filter.output.format()))?;
    Ok(out.flush()?)
}

impl Filter {
    fn matches(&self, record: &Record, from: Option<u64>, to: Option<u64>) -> bool {
        let begins = |text: &str, with: &Option<String>| {
            with.as_ref().is_none_or(|with| text.starts_with(with.as_str()))
        };
        let time = record.nanos().map(|time| time.0);
        begins(&record.action, &self.action)
            && begins(&record.target, &self.target)
            && self.principal.as_ref().is_none_or(|principal| *principal == record.principal)
            && from.is_none_or(|from| time.is_none_or(|time| time >= from))
            && to.is_none_or(|to| time.is_none_or(|time| time < to))
    }
}

fn print(out: &mut impl Write, record: &Record, format: Format) -> io::Result<()> {
    match format {
        Format::Json => {
            let json = serde_json::to_string(record).map_err(io::Error::from)?;
            writeln!(out, "{json}")
        }
        Format::Text => writeln!(out, "{}", Visible(&line(record))),
    }
}

/// Number, time, who from where, what to what with which arguments, and the result.
pub(super) fn line(record: &Record) -> String {
    let Record { seq, time, principal, address, action, target, arguments, result, of, .. } = record;
    let mut line = format!("{seq} {time} {principal}");
    if !address.is_empty() {
        line += &format!(" from {address}");
    }
    line += &format!(": {action}");
    if !target.is_empty() {
        line += &format!(" {target}");
    }
    let is_empty = arguments.is_null() || arguments.as_object().is_some_and(serde_json::Map::is_empty);
    if !is_empty {
        line += &format!(" {}", without_nulls(arguments));
    }
    if let Some(of) = of {
        line += &format!(" (of {of})");
    }
    format!("{line}: {result}")
}

fn without_nulls(arguments: &Value) -> Value {
    match arguments.as_object() {
        Some(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        None => arguments.clone(),
    }
}

/// Formats a number with its noun.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn check(folder: &Folder, known: Option<Head>) -> anyhow::Result<ExitCode> {
    let report = verify(&folder.audit_path(), known)?;
    let mut out = io::stdout().lock();
    for finding in &report.findings {
        writeln!(out, "{}", Visible(&finding.to_string()))?;
    }
    if report.more > 0 {
        writeln!(out, "{} more findings", report.more)?;
    }
    let expired = report.first.filter(|first| *first > 1);
    let beginning = expired.map(|first| format!("; records before {first} have expired")).unwrap_or_default();
    let verdict = if report.is_intact() { "intact" } else { "DAMAGED" };
    let records = count(report.records, "record");
    writeln!(out, "{verdict}: {records} in {}{beginning}", count(report.files as u64, "file"))?;
    if let Some(head) = report.head.filter(|_| report.is_intact()) {
        writeln!(out, "head {head}: keep it at another place, and check it later with --head")?;
    }
    Ok(if report.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
