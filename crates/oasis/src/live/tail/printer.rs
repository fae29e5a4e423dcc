//! Samples as lines.

use super::FollowedInstance;
use crate::{live::arguments::Tail, output_format::Format, target::Target};
use oasis_dac::{Delivery, NO_OFFSET, now};
use oasis_format::{json_lines, visible::Visible};
use oasis_wire::{
    batch::{Batch, Sample},
    gap::Gap,
    loss::Cause,
    quantity::Nanos,
    schema::{Metric, ProbeType},
    time, value,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
};

/// Describes a gap before a sample, with the causes that the DAC reports. An earlier DAC reports none: then the node has dropped some.
fn hole(expected: u64, first: u64, dropped: u32, gaps: &[Gap]) -> String {
    let Some(missing) = first.checked_sub(expected) else {
        return format!(
            "numbers restart at {first} after {}: the node or the DAC was restarted",
            expected - 1
        );
    };
    let mut by_cause = BTreeMap::<Cause, u64>::new();
    for gap in gaps.iter().filter(|gap| gap.from_sequence >= expected && gap.to_sequence < first) {
        *by_cause.entry(gap.cause).or_default() += gap.count;
    }
    if by_cause.is_empty() && dropped > 0 {
        by_cause.insert(Cause::NodeDropped, missing.min(dropped.into()));
    }
    let others = missing.saturating_sub(by_cause.values().sum());
    let mut causes: Vec<_> = by_cause.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    if others > 0 {
        causes.push(format!("{others} that the DAC has not sent"));
    }
    format!("{missing} samples are missing before {first}: {}", causes.join(", "))
}

/// Prints samples, each once.
pub struct Printer {
    out: BufWriter<io::Stdout>,
    format: Format,
    left: Option<u64>,
    /// Whether only live samples are requested.
    is_live: bool,
    /// Samples may be of any day.
    has_dates: bool,
    /// Time of the newest sample printed.
    last: Option<u64>,
    /// Whether gaps in the numbers are expected, because the DAC thins samples.
    is_thinned: bool,
}

impl Printer {
    /// Prints as these arguments say.
    pub fn new(arguments: &Tail) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            format: arguments.output.format(),
            left: arguments.count,
            is_live: arguments.from.is_none() && arguments.last.is_none(),
            has_dates: arguments.from.is_some() || arguments.from_earliest || arguments.last.is_some(),
            last: None,
            is_thinned: !matches!(arguments.delivery, Delivery::Every),
        }
    }

    /// Whether only live samples are wanted, and none has come.
    pub fn waits_for_a_sample(&self) -> bool {
        self.is_live && self.last.is_none()
    }

    /// Prints the samples. Returns true when enough have been printed.
    pub fn batch(&mut self, followed: &mut FollowedInstance, bytes: &[u8]) -> anyhow::Result<bool> {
        let gaps = std::mem::take(&mut followed.gaps_before);
        let FollowedInstance { target, schema: Some(schema), place, .. } = followed else {
            return Ok(false);
        };
        let batch = Batch::parse(bytes, schema)?;
        let (state, dropped) = (batch.header().state, batch.header().dropped_before);
        let is_ahead = batch.header().offset == NO_OFFSET;
        for sample in batch.samples() {
            if self.left == Some(0) {
                break;
            }
            if place.has(&sample) {
                continue;
            }
            if is_ahead {
                if !place.show_ahead(&sample) {
                    continue;
                }
            } else if let Some(expected) = place.take(&sample)
                && !(self.is_thinned && sample.sequence > expected)
            {
                eprintln!("{target}: {}", hole(expected, sample.sequence, dropped, &gaps));
            }
            if !is_ahead && place.was_ahead(&sample) {
                continue;
            }
            self.line((target, schema), &sample, (state, is_ahead))?;
            self.last = self.last.max(Some(sample.time));
            self.left = self.left.map(|left| left - 1);
        }
        self.out.flush()?;
        Ok(self.left == Some(0))
    }

    /// Adds how to continue after the printed samples.
    pub fn at_its_end(&self, broken: anyhow::Error) -> anyhow::Error {
        match self.last {
            Some(last) => {
                let time = time::format_digits(last, 3);
                anyhow::anyhow!("{broken:#}. If the DAC has an archive, continue with --from {time}")
            }
            None => broken,
        }
    }

    fn line(
        &mut self,
        (target, schema): (&Target, &ProbeType),
        sample: &Sample,
        (state, is_ahead): (u16, bool),
    ) -> io::Result<()> {
        match self.format {
            Format::Json => {
                let name = (&*target.node, &*target.instance);
                let mut line = json_lines::object(name, None, schema, state, sample);
                if is_ahead {
                    line.insert("ahead".into(), true.into());
                }
                writeln!(self.out, "{}", Value::Object(line))
            }
            Format::Text => {
                let time = if self.has_dates {
                    time::format_digits(sample.time, 3)
                } else {
                    short(sample.time, now())
                };
                let mark = if is_ahead { " (ahead)" } else { "" };
                write!(self.out, "{time} {target} #{}{mark}", sample.sequence)?;
                let metrics = value::to_json(schema, &sample.values);
                for ((name, value), metric) in metrics.iter().zip(&schema.metrics) {
                    match enumerator(metric, value) {
                        Some(word) => write!(self.out, " {}={}", Visible(name), Visible(word))?,
                        None => write!(self.out, " {}={}", Visible(name), Visible(&value.to_string()))?,
                    }
                }
                writeln!(self.out)
            }
        }
    }
}

/// Describes missing samples, if this message reports any.
pub fn gap(target: &Target, message: &Value) -> Option<String> {
    let cause = Visible(message["cause"].as_str()?);
    (message["op"] == "gap").then(|| match message["count"].as_u64() {
        Some(count) => format!("{target}: a gap of {count} samples: {cause}"),
        None => format!("{target}: a gap: {cause}"),
    })
}

/// The name of an enumerator.
fn enumerator<'a>(metric: &'a Metric, value: &Value) -> Option<&'a str> {
    let known = &metric.enumeration.as_ref()?.values;
    known.iter().find(|known| Some(known.value) == value.as_i64()).map(|known| known.name.as_str())
}

/// A sample of today needs no date.
pub fn short(time: u64, now: Nanos) -> String {
    let day = |time: u64| time / 86_400_000_000_000;
    if day(time) == day(now.0) { time_of_day(time) } else { time::format_digits(time, 3) }
}

/// `HH:MM:SS.mmm` UTC.
fn time_of_day(time: u64) -> String {
    let seconds = time / 1_000_000_000 % 86_400;
    format!(
        "{:02}:{:02}:{:02}.{:03}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        time / 1_000_000 % 1_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_gap_is_printed_with_its_instance() {
        let target = Target { node: "plant".into(), instance: "engine".into() };
        let described = |message| gap(&target, &message);
        let lost = json!({"op": "gap", "topic": 3, "from": 5, "to": 9, "count": 4, "cause": "retention"});
        assert_eq!(described(lost).unwrap(), "plant/engine: a gap of 4 samples: retention");
        assert_eq!(
            described(json!({"op": "gap", "topic": 3, "cause": "epoch"})).unwrap(),
            "plant/engine: a gap: epoch"
        );
        assert_eq!(described(json!({"op": "unsubscribed", "topic": 3})), None);
    }

    #[test]
    fn a_hole_in_the_numbers_is_printed_with_its_causes() {
        let gap = |from, to, cause| Gap {
            from_sequence: from,
            to_sequence: to,
            count: to - from + 1,
            cause,
            run: uuid::Uuid::nil(),
        };
        let gaps = [gap(7, 8, Cause::KeptBack), gap(9, 9, Cause::RingFull)];
        assert_eq!(hole(7, 10, 3, &gaps), "3 samples are missing before 10: 1 ring_full, 2 kept_back");
        assert_eq!(hole(7, 10, 3, &[]), "3 samples are missing before 10: 3 node_dropped");
        let late = hole(4, 10, 3, &gaps);
        assert_eq!(
            late,
            "6 samples are missing before 10: 1 ring_full, 2 kept_back, 3 that the DAC has not sent"
        );
        assert!(hole(7, 1, 0, &[]).starts_with("numbers restart at 1 after 6"));
    }

    #[test]
    fn the_time_is_utc_with_milliseconds_and_a_date_if_it_is_not_of_today() {
        let time = 1_763_683_261_005_000_000;
        assert_eq!(time_of_day(time), "00:01:01.005");
        assert_eq!(short(time, Nanos(time + 86_000_000_000_000)), "00:01:01.005");
        for tomorrow in [time::format_digits(time, 3), short(time, Nanos(time + 86_400_000_000_000))] {
            assert_eq!(tomorrow, "2025-11-21T00:01:01.005Z");
        }
    }
}
