//! `oasis rules list`: what a running DAC evaluates.

use super::arguments::List;
use crate::{live::list::table, output_format::Format};
use oasis_format::visible::Visible;
use oasis_site::api;
use serde_json::Value;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Column headings.
const COLUMN_HEADINGS: [&str; 6] = ["RULE", "KIND", "SEVERITY", "INSTANCES", "MEMORY", "FILE"];

/// Prints the rules. The exit status reports whether all files are valid.
pub fn run(arguments: &List) -> anyhow::Result<ExitCode> {
    let found = api::at(&arguments.located.server(&[])?)?.get("/rules", &[])?;
    let of = |name: &str| found[name].as_array().cloned().unwrap_or_default();
    let (rules, files) = (of("rules"), of("files"));
    if rules.is_empty() && files.is_empty() {
        eprintln!(
            "no rules: name files of rules in the configuration of the DAC (docs/reference/oasis.toml)"
        );
    }
    let is_refused = |file: &Value| file["state"] == "refused";
    let notes: Vec<_> = files.iter().flat_map(notes).collect();
    match print(&rules, arguments.output.format()) {
        // `oasis rules list | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    notes.iter().for_each(|note| eprintln!("{note}"));
    Ok(if files.iter().any(is_refused) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(rules: &[Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return rules.iter().try_for_each(|rule| writeln!(out, "{rule}"));
    }
    let rows: Vec<_> = rules.iter().map(row).collect();
    table(&mut out, &COLUMN_HEADINGS, &rows)
}

fn row(rule: &Value) -> Vec<String> {
    let text = |key: &str| Visible(rule[key].as_str().unwrap_or("-")).to_string();
    let number = |key: &str| rule[key].as_u64().unwrap_or_default();
    let memory = format!("{} B", number("memory_bytes").saturating_mul(number("instances")));
    vec![text("name"), text("kind"), text("severity"), number("instances").to_string(), memory, text("file")]
}

/// Returns notes about a file: that it is refused, or that rules of it wait, and why.
fn notes(file: &Value) -> Vec<String> {
    let name = Visible(file["name"].as_str().unwrap_or_default()).to_string();
    let problems = problems(file);
    let note = match file["state"].as_str() {
        Some("refused") => format!("{name} is refused, and its earlier rules stay active:"),
        Some("loaded") if !problems.is_empty() => format!("rules of {name} wait:"),
        _ => return Vec::new(),
    };
    [note].into_iter().chain(problems.into_iter().map(|problem| format!("  {problem}"))).collect()
}

/// Why rules of a file are not evaluated: `pumps.rules:3:12: R0008: unknown metric …`
fn problems(file: &Value) -> Vec<String> {
    let name = Visible(file["name"].as_str().unwrap_or_default()).to_string();
    let diagnostics = file["diagnostics"].as_array().cloned().unwrap_or_default();
    let problem = |wrong: &Value| {
        let place = match (wrong["line"].as_u64(), wrong["column"].as_u64()) {
            (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
            _ => name.clone(),
        };
        let text = |key: &str| Visible(wrong[key].as_str().unwrap_or_default()).to_string();
        format!("{place}: {}: {}", text("code"), text("message"))
    };
    diagnostics.iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_is_a_row_and_a_refused_file_says_why() {
        let rule = json!({"name": "Hot\u{1b}", "kind": "alarm", "severity": "high", "memory_bytes": 100, "instances": 3, "file": "a.rules"});
        assert_eq!(row(&rule), ["Hot\\u{1b}", "alarm", "high", "3", "300 B", "a.rules"]);
        let rule = json!({"name": "Mean", "kind": "derive", "memory_bytes": 100, "instances": 0});
        assert_eq!(row(&rule)[2..], ["-", "0", "0 B", "-"]);
        let wrong = json!({"code": "R0008", "message": "unknown metric `x`", "line": 3, "column": 12});
        let file = json!({"name": "a.rules", "state": "refused", "diagnostics": [wrong]});
        let problem = "  a.rules:3:12: R0008: unknown metric `x`";
        assert_eq!(notes(&file), ["a.rules is refused, and its earlier rules stay active:", problem]);
        let waits = json!({"name": "a.rules", "state": "loaded", "diagnostics": [{"code": "R0007", "message": "unknown probe type `T`"}]});
        assert_eq!(notes(&waits), ["rules of a.rules wait:", "  a.rules: R0007: unknown probe type `T`"]);
        assert_eq!(
            notes(&json!({"name": "a.rules", "state": "loaded", "diagnostics": []})),
            Vec::<String>::new()
        );
    }
}
