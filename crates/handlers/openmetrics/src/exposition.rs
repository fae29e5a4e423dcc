//! The text formats that Prometheus reads: OpenMetrics 1.0 and the older 0.0.4.
//!
//! Both group the samples of a family under one head. They differ in the names of counters (OpenMetrics adds `_total` to the family's
//! name for its sample; 0.0.4 has it in the family's name), in timestamps (seconds; milliseconds), and in the last line.

use oasis_handler::Document;
use std::{collections::BTreeMap, fmt::Write};

/// Most bytes of one answer.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Longest help of a family, in bytes.
const MAX_HELP: usize = 256;

/// The kind of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, until a reset.
    Counter,
}

/// Families by name, and their samples as lines.
#[derive(Debug)]
pub struct Exposition {
    is_open_metrics: bool,
    families: BTreeMap<String, Family>,
    bytes: usize,
    series_left: usize,
    omitted: u64,
    duplicates: u64,
}

#[derive(Debug)]
struct Family {
    kind: Kind,
    help: String,
    lines: String,
}

impl Exposition {
    /// Creates an empty document in the format that a request accepts, with at most `max_series` series.
    pub fn accepted(accept: &str, max_series: usize) -> Self {
        let is_open_metrics = accept.contains("application/openmetrics-text");
        Self {
            is_open_metrics,
            families: BTreeMap::new(),
            bytes: 0,
            series_left: max_series,
            omitted: 0,
            duplicates: 0,
        }
    }

    /// Appends a sample. The first sample of a family determines its kind and help; samples of another kind are omitted.
    ///
    /// `name` has no `_total`. `time` is in nanoseconds since 1970; without one, Prometheus uses the time of the scrape.
    pub fn sample(
        &mut self,
        (name, kind, help): (&str, Kind, &str),
        labels: &[(&str, &str)],
        value: &str,
        time: Option<u64>,
    ) {
        if self.series_left == 0 || self.bytes >= MAX_BYTES {
            self.omitted += 1;
            return;
        }
        let is_open_metrics = self.is_open_metrics;
        let family = self.families.entry(name.to_owned()).or_insert_with(|| Family {
            kind,
            help: help.chars().take(MAX_HELP).collect(),
            lines: String::new(),
        });
        if family.kind != kind {
            self.omitted += 1;
            return;
        }
        self.series_left -= 1;
        let before = family.lines.len();
        let suffix = if kind == Kind::Counter { "_total" } else { "" };
        family.lines.push_str(name);
        family.lines.push_str(suffix);
        write_labels(labels, &mut family.lines);
        // Writing into a string does not fail.
        let _ = write!(family.lines, " {value}");
        if let Some(time) = time {
            let _ = match is_open_metrics {
                true => write!(family.lines, " {}.{:09}", time / 1_000_000_000, time % 1_000_000_000),
                false => write!(family.lines, " {}", time / 1_000_000),
            };
        }
        family.lines.push('\n');
        self.bytes += family.lines.len() - before;
    }

    /// Counts samples that are omitted before they come here.
    pub fn omit(&mut self, count: u64) {
        self.omitted += count;
    }

    /// Number of omitted samples: beyond the bound, or of another kind.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Counts a sample that is left out because its series is in the answer already.
    pub fn leave_out_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Samples whose series was in the answer already.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// The whole document.
    pub fn finish(mut self) -> Document {
        let (omitted, duplicates) = (self.omitted.to_string(), self.duplicates.to_string());
        (self.series_left, self.bytes) = (2, 0);
        let head = ("oasis_dac_omitted_series", Kind::Gauge, "Series omitted because of the limit.");
        self.sample(head, &[], &omitted, None);
        let help = "Values left out because another metric of their instance has the same name here.";
        self.sample(("oasis_dac_duplicate_series", Kind::Gauge, help), &[], &duplicates, None);
        let mut body = String::new();
        for (name, Family { kind, help, lines }) in &self.families {
            let (word, total) = match kind {
                Kind::Gauge => ("gauge", ""),
                Kind::Counter if self.is_open_metrics => ("counter", ""),
                Kind::Counter => ("counter", "_total"),
            };
            let _ = writeln!(body, "# HELP {name}{total} {}", escaped(help, self.is_open_metrics));
            let _ = writeln!(body, "# TYPE {name}{total} {word}");
            body.push_str(lines);
        }
        let content_type = match self.is_open_metrics {
            true => {
                body.push_str("# EOF\n");
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
            false => "text/plain; version=0.0.4; charset=utf-8",
        };
        Document { content_type, body: body.into_bytes() }
    }
}

fn write_labels(labels: &[(&str, &str)], out: &mut String) {
    for (at, (name, value)) in labels.iter().enumerate() {
        let _ = write!(out, "{}{name}=\"{}\"", if at == 0 { "{" } else { "," }, escaped(value, true));
    }
    if !labels.is_empty() {
        out.push('}');
    }
}

/// Help of 0.0.4 escapes no quotes; all other texts do.
fn escaped(text: &str, with_quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if with_quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out
}
