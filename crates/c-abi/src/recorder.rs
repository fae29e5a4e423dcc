//! Options of an added probe: its flight recorder and its importance.

use crate::{
    arguments::{array, text, thing},
    node::NodeBuilder,
    status::{Problem, Status, answer},
};
use oasis_probe::{FlightRecorder, Importance, Trigger, TriggerError};
use std::{ffi::c_char, time::Duration};

/// The time that a flight recorder sends around a trigger, and the limits that trigger it besides the command.
#[repr(C)]
pub struct RecorderOptions {
    /// Time before a trigger that is sent, in nanoseconds.
    before_ns: u64,
    /// Time after a trigger that is sent, in nanoseconds.
    after_ns: u64,
    /// Memory for the time before in bytes, at most 1 GiB: a sample needs its row and 32 bytes.
    bytes: usize,
    /// Each is "METRIC > LIMIT" or "METRIC < LIMIT".
    triggers: *const *const c_char,
    /// Number of triggers.
    trigger_count: usize,
}

/// Gives an added probe a flight recorder: only its samples around a trigger are sent (docs/guides/record-around-a-trigger.md).
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` and its triggers are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_record(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    options: *const RecorderOptions,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let builder = thing(builder, "builder")?;
            let options = options.as_ref().ok_or(Problem::Null("options"))?;
            builder.node.record(text(instance, "instance")?, &options.recorder()?)?;
        }
        Ok(Status::Ok)
    })
}

/// Sets the importance of an added probe when rates must be lowered, from 0 (lowest) to 255 (docs/guides/limit-the-overhead.md).
///
/// # Safety
/// `builder` is from oasis_node_builder_new; `instance` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_importance(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    importance: u8,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            thing(builder, "builder")?
                .node
                .importance(text(instance, "instance")?, Importance(importance))?;
        }
        Ok(Status::Ok)
    })
}

impl RecorderOptions {
    /// # Safety
    /// The array has the given length, and its texts end with NUL.
    unsafe fn recorder(&self) -> Result<FlightRecorder, Problem> {
        Ok(FlightRecorder {
            before: Duration::from_nanos(self.before_ns),
            after: Duration::from_nanos(self.after_ns),
            bytes: self.bytes,
            // SAFETY: as the caller promises.
            triggers: unsafe { self.triggers() }?,
        })
    }

    /// # Safety
    /// As [`RecorderOptions::recorder`].
    unsafe fn triggers(&self) -> Result<Vec<Trigger>, Problem> {
        // SAFETY: as the caller promises.
        let triggers = unsafe { array(self.triggers, self.trigger_count, "triggers") }?;
        let parsed = |&trigger| {
            // SAFETY: as the caller promises.
            let trigger = unsafe { text(trigger, "trigger") }?;
            trigger.parse().map_err(|error: TriggerError| Problem::Argument(error.to_string()))
        };
        triggers.iter().map(parsed).collect()
    }
}
