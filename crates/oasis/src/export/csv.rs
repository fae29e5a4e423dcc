//! A table for spreadsheets and scripts: a line a sample, a column a metric (RFC 4180).

use super::Format;
use anyhow::bail;
use csv::Writer;
use jiff::Timestamp;
use oasis_archive::Series;
use oasis_wire::{batch::Sample, schema::ProbeType, value};
use serde_json::Value;
use std::{io::Write, sync::Arc};

/// What a spreadsheet may take for the beginning of a formula, and run.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A table to this.
pub struct Csv<'a, W: Write> {
    out: Writer<&'a mut W>,
    /// Whose metrics the columns are.
    probe_type: Option<Arc<ProbeType>>,
}

impl<'a, W: Write> Csv<'a, W> {
    pub fn new(out: &'a mut W) -> Self {
        Self { out: Writer::from_writer(out), probe_type: None }
    }

    /// The first line. A table has the columns of one type.
    fn begin(&mut self, series: &Series) -> anyhow::Result<()> {
        match &self.probe_type {
            Some(known) if **known == *series.probe_type => return Ok(()),
            Some(known) => bail!(
                "a table has the columns of one probe type: {} {} and {} {} need files of their own \
                 (name instances of one type, set --from or --to, or use --format jsonl)",
                known.name,
                known.version,
                series.probe_type.name,
                series.probe_type.version
            ),
            None => {}
        }
        let metrics = series.probe_type.metrics.iter().map(|metric| metric.name.as_str());
        let columns = ["node", "instance", "time", "time_ns", "sequence", "state"].into_iter().chain(metrics);
        self.out.write_record(columns)?;
        self.probe_type = Some(series.probe_type.clone());
        Ok(())
    }
}

impl<W: Write> Format for Csv<'_, W> {
    fn sample(&mut self, series: &Series, state: u16, sample: &Sample) -> anyhow::Result<()> {
        self.begin(series)?;
        self.out.write_field(text(&series.node))?;
        self.out.write_field(text(&series.instance))?;
        self.out.write_field(date_and_time(sample.time))?;
        self.out.write_field(sample.time.to_string())?;
        self.out.write_field(sample.sequence.to_string())?;
        self.out.write_field(state.to_string())?;
        for value in value::to_json(&series.probe_type, &sample.values).values() {
            match value {
                // NaN and the infinities are texts that begin no formula.
                Value::String(value) => self.out.write_field(text(value))?,
                value => self.out.write_field(value.to_string())?,
            }
        }
        Ok(self.out.write_record(None::<&[u8]>)?)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(self.out.flush()?)
    }
}

/// A text that no spreadsheet runs: one that looks like a formula begins with an apostrophe.
fn text(value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok();
    if value.starts_with(FORMULA) && !is_number { format!("'{value}") } else { value.to_owned() }
}

/// RFC 3339, UTC; empty beyond the year 9999.
fn date_and_time(nanoseconds: u64) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into());
    time.map(|time| time.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_looks_like_a_formula_is_made_harmless() {
        for formula in ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")"] {
            assert_eq!(text(formula), format!("'{formula}"));
        }
        for harmless in ["", "a=1", "-1.5", "+2", "-Infinity", "NaN", "1e5"] {
            assert_eq!(text(harmless), harmless);
        }
    }

    #[test]
    fn times_are_dates_to_the_nanosecond() {
        assert_eq!(date_and_time(1_763_683_261_005_000_001), "2025-11-21T00:01:01.005000001Z");
    }
}
