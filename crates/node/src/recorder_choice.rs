//! The flight recorder of a chosen probe.

use crate::choice::ChoiceError;
use oasis_probe::FlightRecorder;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest time before or after a trigger, in seconds.
const MAX_SECONDS: f64 = 86_400.0;

/// The keys of a [`FlightRecorder`] in a configuration file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecorderChoice {
    /// Seconds before a trigger, up to a day.
    pub before_s: f64,
    /// Seconds after a trigger, up to a day.
    pub after_s: f64,
    /// Memory for the samples before a trigger.
    pub bytes: usize,
    /// Each `metric > limit` or `metric < limit`.
    pub triggers: Vec<String>,
}

impl Default for RecorderChoice {
    fn default() -> Self {
        let FlightRecorder { before, after, bytes, triggers: _ } = FlightRecorder::default();
        Self { before_s: before.as_secs_f64(), after_s: after.as_secs_f64(), bytes, triggers: Vec::new() }
    }
}

impl RecorderChoice {
    /// Returns the recorder.
    pub(crate) fn recorder(&self) -> Result<FlightRecorder, ChoiceError> {
        let trigger = |text: &String| {
            text.parse().map_err(|_| invalid("triggers", text, "each `metric > limit` or `metric < limit`"))
        };
        Ok(FlightRecorder {
            before: seconds("before_s", self.before_s)?,
            after: seconds("after_s", self.after_s)?,
            bytes: self.bytes,
            triggers: self.triggers.iter().map(trigger).collect::<Result<_, _>>()?,
        })
    }
}

fn seconds(parameter: &'static str, seconds: f64) -> Result<Duration, ChoiceError> {
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return Err(invalid(parameter, &seconds, "seconds, 0 to 86,400"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn invalid(parameter: &'static str, value: &impl ToString, wanted: &'static str) -> ChoiceError {
    ChoiceError::Invalid { parameter, value: value.to_string(), wanted }
}
