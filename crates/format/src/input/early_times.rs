//! Samples before 1970, which an archive cannot have: counted by channel, because one flag moves the times of all.

use super::{InputError, Report};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Channels that are counted apart.
const MAX_CHANNELS: usize = 100;
/// Channels that a refusal names.
const MAX_NAMED_CHANNELS: usize = 3;
const REMEDY: &str = "move all times with --start TIME, the time of the first sample";

/// Counts samples before 1970.
#[derive(Debug, Default)]
pub struct EarlyTimes {
    /// The number of samples, and the place and time of the first one.
    channels: BTreeMap<String, (u64, String)>,
    /// Samples of further channels.
    others: u64,
}

impl EarlyTimes {
    /// Counts a sample. `place` names it, such as `line 7`.
    pub fn add(&mut self, channel: &str, place: impl FnOnce() -> String, time: i128) {
        if let Some((count, _)) = self.channels.get_mut(channel) {
            *count += 1;
        } else if self.channels.len() < MAX_CHANNELS {
            let first = format!("{}, {}", place(), date_and_time(time));
            self.channels.insert(channel.to_owned(), (1, first));
        } else {
            self.others += 1;
        }
    }

    /// Refuses the recording if it has such samples.
    ///
    /// # Errors
    /// If there are any; the error names channels, numbers and remedies.
    pub fn refuse(&self) -> Result<(), InputError> {
        let count = self.channels.values().map(|(count, _)| count).sum::<u64>() + self.others;
        if count == 0 {
            return Ok(());
        }
        let named = self.channels.iter().take(MAX_NAMED_CHANNELS);
        let mut named: Vec<_> =
            named.map(|(channel, (count, first))| format!("{count} of {channel} (first: {first})")).collect();
        if self.channels.len() > named.len() {
            named.push("…".into());
        }
        let why = format!(
            "{count} samples have times before 1970, which an archive cannot have: {}",
            named.join(", ")
        );
        Err(InputError::file(why, format!("{REMEDY}, or import the rest with --partial")))
    }

    /// Reports the samples that were left out.
    pub fn report(self, report: &mut Report) {
        let text = |count: u64| {
            format!("{count} samples skipped: times before 1970, which an archive cannot have: {REMEDY}")
        };
        for (channel, (count, first)) in self.channels {
            report.lose(Some(&channel), count, format!("{} (first: {first})", text(count)));
        }
        report.lose(None, self.others, format!("{}, of other channels", text(self.others)));
    }
}

/// Formats a time, nanoseconds since 1970.
fn date_and_time(time: i128) -> String {
    Timestamp::from_nanosecond(time).map_or_else(|_| format!("{time} ns"), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_channels_numbers_and_remedies() {
        let mut early = EarlyTimes::default();
        early.refuse().unwrap();
        for (channel, line) in [("imu", 2), ("gps", 3), ("imu", 4)] {
            early.add(channel, || format!("line {line}"), -1_500_000_000);
        }
        assert_eq!(
            early.refuse().unwrap_err().to_string(),
            "3 samples have times before 1970, which an archive cannot have: 1 of gps (first: line 3, 1969-12-31T23:59:58.5Z), 2 of imu (first: line 2, 1969-12-31T23:59:58.5Z): move all times with --start TIME, the time of the first sample, or import the rest with --partial"
        );
        let mut report = Report::default();
        early.report(&mut report);
        let counts: Vec<_> =
            report.findings.iter().map(|of| (of.subject.as_deref(), of.count, of.is_loss)).collect();
        assert_eq!(counts, [(Some("gps"), 1, true), (Some("imu"), 2, true)]);
    }

    #[test]
    fn channels_beyond_the_bound_are_counted_together() {
        let mut early = EarlyTimes::default();
        (0..MAX_CHANNELS + 5).for_each(|at| early.add(&format!("c{at}"), String::new, i128::MIN));
        assert_eq!((early.channels.len(), early.others), (MAX_CHANNELS, 5));
        assert!(early.refuse().unwrap_err().to_string().starts_with("105 samples"));
    }
}
