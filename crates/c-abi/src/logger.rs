//! Log records, from any thread.

use crate::{
    arguments::{array, put, text, thing},
    node::NodeBuilder,
    status::{Problem, Status, answer},
};
use oasis_ei_node::{
    LogLevel,
    log::{self, LogRecord},
};
use oasis_probe::now_ns;
use std::{borrow::Cow, ffi::c_char};

/// A logger: accepts log records from any number of threads.
pub struct Logger(log::Logger);

/// A text and its length in bytes; it need not end with NUL. Null with length 0 is the empty text. Invalid UTF-8 in
/// it is replaced.
#[repr(C)]
pub struct Text {
    data: *const c_char,
    length: usize,
}

/// A named value.
#[repr(C)]
pub struct Field {
    name: Text,
    value: Text,
}

/// A log record. Texts longer than the bounds of docs/reference/probes.md are cut, marked and counted; all zeros is
/// an empty record with the current time.
#[repr(C)]
pub struct Record {
    /// Nanoseconds since 1970-01-01 UTC, or 0 for now.
    time: u64,
    /// For example OASIS_SEVERITY_INFO.
    severity: u8,
    /// Line in the file, 0 if unknown.
    line: u32,
    /// Source of the record: the name of a logger or module.
    target: Text,
    /// The message.
    message: Text,
    /// Source file.
    file: Text,
    /// Thread, by name or number.
    thread: Text,
    /// Names of the enclosing spans, outermost first, separated by colons.
    span: Text,
    /// Additional fields.
    fields: *const Field,
    /// Number of fields.
    field_count: usize,
}

/// Adds a probe for log records, with a ring of `ring_bytes` (a record needs its texts and some 70 bytes). A record
/// without room in the ring is dropped and counted.
///
/// # Safety
/// `builder` is from oasis_node_builder_new; `instance` ends with NUL; `logger` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_logger(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    ring_bytes: usize,
    logger: *mut *mut Logger,
) -> Status {
    answer(|| {
        if logger.is_null() {
            return Err(Problem::Null("logger"));
        }
        // SAFETY: as the caller promises.
        unsafe {
            let (builder, instance) = (thing(builder, "builder")?, text(instance, "instance")?);
            put(logger, Logger(log::Logger::new(&mut builder.node, instance, ring_bytes)?), "logger")?;
        }
        Ok(Status::Ok)
    })
}

/// Returns whether records are taken: a command may have disabled the probe. Only reads a flag; false for null.
///
/// # Safety
/// `logger` is null or from oasis_node_builder_logger.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_logger_is_enabled(logger: *const Logger) -> bool {
    // SAFETY: as the caller promises.
    unsafe { logger.as_ref() }.is_some_and(|logger| logger.0.is_enabled())
}

/// Logs a record. Callable from any number of threads; none waits for another, for the node or for the DAC. A record
/// without room is counted, and reported to the DAC. In a child of the process in which the node has started, the result is
/// OASIS_STATUS_FORKED.
///
/// # Safety
/// `logger` is from oasis_node_builder_logger; the texts and fields of `record` have their lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_logger_log(logger: *const Logger, record: *const Record) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (logger, record) = unsafe { (logger.as_ref(), record.as_ref()) };
        let (logger, record) =
            (logger.ok_or(Problem::Null("logger"))?, record.ok_or(Problem::Null("record"))?);
        if logger.0.is_forked() {
            return Err(Problem::forked());
        }
        // SAFETY: as the caller promises.
        unsafe { record.log(&logger.0) }
    })
}

/// Frees a logger. Its instance stays registered while its node runs. Null is ignored.
///
/// # Safety
/// `logger` is from oasis_node_builder_logger and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_logger_free(logger: *mut Logger) {
    if !logger.is_null() {
        // SAFETY: made by a Box, and the caller promises to use it no more.
        drop(unsafe { Box::from_raw(logger) });
    }
}

impl Record {
    /// # Safety
    /// Texts and fields have their lengths.
    unsafe fn log(&self, logger: &log::Logger) -> Result<Status, Problem> {
        // SAFETY: as the caller promises.
        let fields = unsafe { array(self.fields, self.field_count, "fields") }?;
        let mut texts = Vec::new();
        for field in fields {
            // SAFETY: as the caller promises.
            texts.push(unsafe { (field.name.read()?, field.value.read()?) });
        }
        // SAFETY: as the caller promises.
        let [target, message, file, thread, span] = unsafe {
            [
                self.target.read()?,
                self.message.read()?,
                self.file.read()?,
                self.thread.read()?,
                self.span.read()?,
            ]
        };
        let record = LogRecord {
            level: LogLevel::of_severity(self.severity),
            target: &target,
            message: &message,
            file: &file,
            line: self.line,
            thread: &thread,
            span: &span,
            cut: 0,
        };
        let time = if self.time == 0 { now_ns() } else { self.time };
        logger.log(time, &record, texts.iter().map(|(name, value)| (&**name, &**value)));
        Ok(Status::Ok)
    }
}

impl Text {
    /// # Safety
    /// The pointer is valid for its length.
    unsafe fn read(&self) -> Result<Cow<'_, str>, Problem> {
        // SAFETY: as the caller promises.
        let bytes = unsafe { array(self.data.cast::<u8>(), self.length, "text") }?;
        Ok(String::from_utf8_lossy(bytes))
    }
}
