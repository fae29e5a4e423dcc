//! `oasis import --describe`: the content of recordings, without importing them.

use super::{Arguments, open};
use crate::exit_codes;
use anyhow::Context;
use oasis_format::visible::Visible;
use oasis_recordings::file::{FileDescription, FindingDescription};
use oasis_wire::{
    schema::{Metric, MetricType},
    time,
};
use serde_json::json;
use std::{fmt::Write, path::Path, process::ExitCode};

/// Metrics of a series that the text names.
const MAX_NAMED_METRICS: usize = 12;

/// Describes the files on standard output; `describe` returns the description of one.
///
/// # Errors
/// If the only file cannot be read.
pub fn run(
    arguments: &Arguments,
    mut describe: impl FnMut(&Path) -> anyhow::Result<FileDescription>,
) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    let (mut has_failed, mut is_complete) = (false, true);
    for path in &arguments.files {
        let described = describe(path).with_context(|| path.display().to_string());
        match described {
            Ok(description) => {
                is_complete &= description.is_complete();
                if arguments.json {
                    all.push(serde_json::to_value(&description)?);
                } else {
                    print!("{}", text_of(&description)?);
                }
            }
            Err(error) if arguments.files.len() == 1 => return Err(error),
            Err(error) => {
                has_failed = true;
                eprintln!("{}", crate::explained(&error));
                all.push(json!({"file": path.display().to_string(), "error": format!("{error:#}")}));
            }
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(match (has_failed, is_complete) {
        (true, _) => ExitCode::FAILURE,
        (false, false) => ExitCode::from(exit_codes::INCOMPLETE),
        (false, true) => ExitCode::SUCCESS,
    })
}

/// Describes a file of this host.
pub fn of_file(path: &Path, arguments: &Arguments) -> anyhow::Result<FileDescription> {
    // Defective records are counted, so that all of them are known.
    let options = arguments.content.options(true)?;
    open(path, (arguments.content.format()?, &options), arguments.name.as_deref(), |opened, terminal| {
        opened.describe(terminal)
    })
}

fn text_of(description: &FileDescription) -> anyhow::Result<String> {
    let FileDescription { file, format, series: all, findings, missing } = description;
    let mut text = String::new();
    let samples: u64 = all.iter().map(|series| series.samples).sum();
    writeln!(text, "{file}: {format}, {} series, {samples} samples", all.len())?;
    for series in all {
        let node = series.node.as_deref().map(|node| format!("{}/", Visible(node))).unwrap_or_default();
        let (first, last) = (time::format(series.from_ns), time::format(series.to_ns));
        let instance = Visible(&series.instance);
        writeln!(text, "  {node}{instance}: {} samples, {first} to {last}", series.samples)?;
        let metrics = &series.schema.metrics;
        let named: Vec<_> = metrics.iter().take(MAX_NAMED_METRICS).map(metric_of).collect();
        let more = match metrics.len().saturating_sub(MAX_NAMED_METRICS) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        writeln!(text, "    {}{more}", named.join(", "))?;
    }
    for finding in findings.iter().filter(|finding| !finding.text.is_empty()) {
        let subject = finding.subject.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
        writeln!(text, "  {}{}", mark(finding), Visible(&format!("{subject}{}", finding.text)))?;
    }
    for lost in missing.iter().take(MAX_NAMED_METRICS) {
        let missing = lost.to_sequence.saturating_sub(lost.from_sequence).saturating_add(1);
        let instance = Visible(&lost.instance);
        writeln!(text, "  missing: {instance}: {missing} samples ({})", lost.cause)?;
    }
    Ok(text)
}

fn mark(finding: &FindingDescription) -> &'static str {
    if finding.is_loss { "left out: " } else { "note: " }
}

fn metric_of(metric: &Metric) -> String {
    let unit = metric.unit.as_deref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
    format!("{} {}{}", Visible(&metric.name), type_name(&metric.kind), Visible(&unit))
}

fn type_name(kind: &MetricType) -> String {
    match kind {
        MetricType::Vector(element) => format!("{}[]", type_name(element)),
        MetricType::Struct(of) => format!("struct of {}", of.members.len()),
        primitive => serde_json::to_value(primitive)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default(),
    }
}
