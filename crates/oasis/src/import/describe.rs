//! `oasis import --describe`: the content of recordings, without importing them.

use super::{Arguments, recording, unpacked::Unpacked};
use crate::exit_codes;
use anyhow::{Context, bail};
use oasis_format::{
    input::{DescribedSeries, Finding, Report},
    visible::Visible,
};
use oasis_wire::{
    schema::{Metric, MetricType},
    time,
};
use serde_json::{Value, json};
use std::{fmt::Write, path::Path, process::ExitCode};

/// Metrics of a series that the text names.
const MAX_NAMED_METRICS: usize = 12;

/// Describes the files on standard output.
///
/// # Errors
/// If the only file cannot be read.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    // Defective records are counted, so that all of them are known.
    let options = arguments.content.options(true)?;
    let mut all = Vec::new();
    let (mut has_failed, mut is_complete) = (false, true);
    for path in &arguments.files {
        let described = describe(path, arguments, &options);
        let described = described.with_context(|| path.display().to_string());
        match described {
            Ok((format, series, report)) => {
                is_complete &= report.is_complete();
                if arguments.json {
                    all.push(json_of(path, format, &series, &report));
                } else {
                    print!("{}", text_of(path, format, &series, &report)?);
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

fn describe(
    path: &Path,
    arguments: &Arguments,
    options: &oasis_format::input::InputOptions,
) -> anyhow::Result<(&'static str, Vec<DescribedSeries>, Report)> {
    let unpacked = Unpacked::of(path)?;
    let path = unpacked.path();
    let format = match super::find_source(path, arguments.content.format()?)? {
        super::Source::Recording(format) => format,
        super::Source::McapBag(_) => bail!("describe the MCAP files of the folder one by one"),
        super::Source::Segments(_) => bail!("segment files are described by `oasis archive check`"),
    };
    let (series, report) = recording::describe(path, format, options)?;
    Ok((format.title, series, report))
}

fn text_of(path: &Path, format: &str, all: &[DescribedSeries], report: &Report) -> anyhow::Result<String> {
    let mut text = String::new();
    let samples: u64 = all.iter().map(|series| series.samples).sum();
    writeln!(text, "{}: {format}, {} series, {samples} samples", path.display(), all.len())?;
    for series in all {
        let node = series.node.as_deref().map(|node| format!("{}/", Visible(node))).unwrap_or_default();
        let (first, last) = (time::format(series.first), time::format(series.last));
        let instance = Visible(&series.instance);
        writeln!(text, "  {node}{instance}: {} samples, {first} to {last}", series.samples)?;
        let metrics = &series.probe_type.metrics;
        let named: Vec<_> = metrics.iter().take(MAX_NAMED_METRICS).map(metric_of).collect();
        let more = match metrics.len().saturating_sub(MAX_NAMED_METRICS) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        writeln!(text, "    {}{more}", named.join(", "))?;
    }
    for finding in report.findings.iter().filter(|finding| !finding.text.is_empty()) {
        writeln!(text, "  {}{}", mark(finding), Visible(&finding.to_string()))?;
    }
    for lost in report.lost.iter().take(MAX_NAMED_METRICS) {
        let missing = lost.numbers.end().saturating_sub(*lost.numbers.start()).saturating_add(1);
        let instance = Visible(&lost.instance);
        writeln!(text, "  missing: {instance}: {missing} samples ({})", lost.cause.word())?;
    }
    Ok(text)
}

fn mark(finding: &Finding) -> &'static str {
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

fn json_of(path: &Path, format: &str, all: &[DescribedSeries], report: &Report) -> Value {
    let series = all.iter().map(|series| {
        json!({
            "node": series.node.as_deref(),
            "instance": &*series.instance,
            "samples": series.samples,
            "from_ns": series.first,
            "to_ns": series.last,
            "schema": &*series.probe_type,
        })
    });
    let findings = report.findings.iter().map(|finding| {
        json!({
            "subject": finding.subject, "count": finding.count, "text": finding.text, "is_loss": finding.is_loss,
        })
    });
    let missing = report.lost.iter().map(|lost| {
        json!({
            "instance": lost.instance, "from_sequence": lost.numbers.start(), "to_sequence": lost.numbers.end(),
            "cause": lost.cause.word(),
        })
    });
    json!({
        "file": path.display().to_string(),
        "format": format,
        "series": series.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "missing": missing.collect::<Vec<_>>(),
    })
}
