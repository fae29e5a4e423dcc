//! What is said of a probe once it is added: its flight recorder, how much it matters.

use crate::{
    arguments::{array, text, thing},
    node::NodeBuilder,
    status::{Problem, Status, answer},
};
use oasis_probe::{FlightRecorder, Importance, Trigger, TriggerError};
use std::{ffi::c_char, time::Duration};

/// What a flight recorder sends around a trigger, and what triggers it besides the command.
#[repr(C)]
pub struct RecorderOptions {
    /// How much of the time before a trigger, in nanoseconds.
    before_ns: u64,
    /// For how long after it, in nanoseconds.
    after_ns: u64,
    /// Memory for the time before, 1 GiB at most: a sample takes its row and 32 bytes.
    bytes: usize,
    /// Each "METRIC > LIMIT" or "METRIC < LIMIT".
    triggers: *const *const c_char,
    /// How many.
    trigger_count: usize,
}

/// Gives a probe that was added a flight recorder: of its samples only what lies around a trigger is sent (docs/guides/record-around-a-trigger.md).
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` can be read, and as many triggers as it says.
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

/// Says how much a probe that was added matters when rates have to be lowered: 0, the least, to 255 (docs/guides/limit-the-overhead.md).
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
    /// There are as many triggers as it says, and they end with NUL.
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
