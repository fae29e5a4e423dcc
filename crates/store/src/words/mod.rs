//! Word indexes: which parts of a sealed segment file can contain a text, so that a search for a rare word reads little of it.
//!
//! A part has some of the file's batches with texts, of 64 KiB at most; a longer batch has several parts. For each gram (four characters in a row, folded to one case) the index
//! has a row with a bit for each part. A word is in none of the parts in which one of its grams is missing. The reverse does not hold: grams share rows.

mod file;
mod grams;
mod making;

pub(crate) use file::path;
pub use file::{PassingParts, WordIndex, remove};
pub(crate) use making::of_segment;

use oasis_wire::schema::{Metric, MetricType, ProbeType};

/// Bytes of batches in a part.
const PART_BYTES: usize = 64 * 1024;
/// Bytes after the end of a part that count as its own, too: a text that begins in a part ends in it. At most [`MAX_TEXT_BYTES`] characters of three bytes.
const PART_OVERLAP_BYTES: usize = 1024;
/// Bytes of a text that an index is asked for, at most.
const MAX_TEXT_BYTES: usize = 256;
/// Names of the metric that is the severity of a record.
const LEVELS: [&str; 2] = ["level", "severity"];

/// Whether samples of a type have texts.
pub fn has_texts(probe_type: &ProbeType) -> bool {
    probe_type.metrics.iter().any(|metric| has_text(&metric.kind))
}

fn has_text(kind: &MetricType) -> bool {
    match kind {
        MetricType::String => true,
        MetricType::Vector(element) => has_text(element),
        MetricType::Struct(of) => of.members.iter().any(|member| has_text(&member.kind)),
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean
        | MetricType::Blob(_) => false,
    }
}

/// The place of the metric that is the severity of a type's records, and the metric.
pub fn level_of(probe_type: &ProbeType) -> Option<(usize, &Metric)> {
    let is_level = |metric: &Metric| LEVELS.iter().any(|level| metric.name.eq_ignore_ascii_case(level));
    probe_type.metrics.iter().enumerate().find(|(_, metric)| is_level(metric))
}

/// Required content of batches: all of it, each somewhere.
#[derive(Debug, Clone, Default)]
pub struct Contents(Vec<Vec<u16>>);

impl Contents {
    /// Adds a text; upper and lower case are the same. One without four characters of ASCII in a row rules out nothing.
    pub fn add_text(&mut self, text: &str) {
        let mut rows = Vec::new();
        if text.len() <= MAX_TEXT_BYTES {
            grams::each(text.as_bytes(), |row| rows.push(row));
        }
        rows.sort_unstable();
        rows.dedup();
        if !rows.is_empty() {
            self.0.push(rows);
        }
    }

    /// Adds a record of this severity or above, which is the value of an enumerator.
    pub fn add_level(&mut self, least: i64) {
        self.0.push(grams::rows_of_level(least).to_vec());
    }

    /// Whether they rule out nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
