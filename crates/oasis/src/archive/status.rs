//! `oasis archive status`: the archive of a running DAC, and its warnings.

use super::{count, size};
use crate::{
    live::locate::Located,
    output_format::{Format, OutputFlags},
};
use clap::Args;
use oasis_format::visible::Visible;
use oasis_site::api;
use serde_json::Value;
use std::io::{self, Write};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    located: Located,
    #[command(flatten)]
    output: OutputFlags,
}

/// Asks the DAC, and prints its answer.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let archive = api::at(&arguments.located.server(&[])?)?.get("/archive", &[])?;
    let mut out = io::stdout().lock();
    match arguments.output.format() {
        Format::Json => writeln!(out, "{archive}")?,
        Format::Text => print(&mut out, &archive)?,
    }
    Ok(())
}

fn print(out: &mut impl Write, archive: &Value) -> io::Result<()> {
    let number = |key: &str| archive[key].as_u64().unwrap_or_default();
    writeln!(
        out,
        "{}: {}; {} and {} evicted since the DAC started",
        Visible(text(archive, "directory")),
        condition(archive),
        count(number("stored"), "sample stored", "samples stored"),
        number("removed_samples")
    )?;
    let rules: Vec<_> = list(archive, "rules").map(row).collect();
    columns(out, &rules)?;
    for warning in list(archive, "warnings") {
        writeln!(out, "warning: {}", Visible(text(warning, "detail")))?;
    }
    Ok(())
}

/// Describes in words what the archive does.
fn condition(archive: &Value) -> String {
    let words = match text(archive, "condition") {
        "storing" => return "stores samples".into(),
        "disk_full" => "stores nothing, because the disk is full",
        "disk_error" => "stores nothing, because the disk reports errors",
        "gone" => "stores nothing, because its folder was removed, renamed or unmounted",
        "stopped" => "stores nothing, because it was stopped (oasis handlers start archive)",
        other => other,
    };
    match text(archive, "detail") {
        "" => Visible(words).to_string(),
        detail => format!("{}: {}", Visible(words), Visible(detail)),
    }
}

/// Cells of a retention rule.
fn row(rule: &Value) -> [String; 4] {
    let [bytes, limit, pinned] =
        ["bytes", "limit", "pinned_bytes"].map(|key| rule[key].as_u64().unwrap_or_default());
    let share = bytes.saturating_mul(100).checked_div(limit).map_or("-".into(), |share| format!("{share} %"));
    let stored = if limit == 0 { size(bytes) } else { format!("{} of {}", size(bytes), size(limit)) };
    [Visible(text(rule, "instances")).to_string(), stored, share, size(pinned)]
}

fn columns(out: &mut impl Write, rows: &[[String; 4]]) -> io::Result<()> {
    let head = ["RULE", "STORED", "FULL", "PINNED"].map(str::to_owned);
    let all = || std::iter::once(&head).filter(|_| !rows.is_empty()).chain(rows);
    let [a, b, c] =
        [0, 1, 2].map(|at: usize| all().map(|row| row[at].chars().count()).max().unwrap_or_default());
    for [rule, stored, full, pinned] in all() {
        writeln!(out, "{rule:a$}  {stored:b$}  {full:>c$}  {pinned}")?;
    }
    Ok(())
}

fn list<'a>(archive: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    archive[key].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn printed(archive: &Value) -> String {
        let mut out = Vec::new();
        print(&mut out, archive).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rules_and_warnings_are_shown_with_what_to_do() {
        let mut archive = json!({"directory": "/a", "condition": "storing", "detail": null, "stored": 1, "removed_samples": 7,
            "rules": [{"instances": "camera/*", "bytes": 600 << 20, "limit": 1 << 30, "pinned_bytes": 0},
                {"instances": "*", "bytes": 5, "limit": 0, "pinned_bytes": 2048}],
            "warnings": [{"instances": "camera/*", "code": "heavy_node", "detail": "node \u{1b} has 90 %: lower its rates"}]});
        assert_eq!(
            printed(&archive),
            "/a: stores samples; 1 sample stored and 7 evicted since the DAC started\n\
             RULE      STORED                FULL  PINNED\n\
             camera/*  600.0 MiB of 1.0 GiB  58 %  0 bytes\n\
             *         5 bytes                  -  2.0 KiB\n\
             warning: node \\u{1b} has 90 %: lower its rates\n"
        );
        archive["condition"] = "disk_full".into();
        archive["detail"] = "No space left on device".into();
        assert!(
            printed(&archive).contains("stores nothing, because the disk is full: No space left on device;")
        );
    }
}
