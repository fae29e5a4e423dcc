//! One JSON object a line, as `oasis tail --format json` prints them, and with the run that sequence numbers count in.

use super::Format;
use oasis_archive::Series;
use oasis_wire::{batch::Sample, value};
use serde_json::json;
use std::{io::Write, sync::Arc};

/// Lines to this.
pub struct JsonLines<'a, W>(&'a mut W);

impl<'a, W: Write> JsonLines<'a, W> {
    pub fn new(out: &'a mut W) -> Self {
        Self(out)
    }
}

impl<W: Write> Format for JsonLines<'_, W> {
    fn sample(&mut self, series: &Arc<Series>, state: u16, sample: &Sample) -> anyhow::Result<()> {
        let metrics = value::to_json(&series.probe_type, &sample.values);
        let line = json!({
            "node": *series.node, "instance": *series.instance, "run": series.run, "sequence": sample.sequence,
            "time": sample.time, "state": state, "metrics": metrics,
        });
        Ok(writeln!(self.0, "{line}")?)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(self.0.flush()?)
    }
}
