//! Names for C of the severities in log records.

#![allow(dead_code, reason = "only the header has them")]

/// Severities of log records, numbered as in OpenTelemetry; a number between two levels is shown as the level below.
pub const OASIS_SEVERITY_TRACE: u8 = 1;
/// For debugging.
pub const OASIS_SEVERITY_DEBUG: u8 = 5;
/// Normal operation.
pub const OASIS_SEVERITY_INFO: u8 = 9;
/// A possible problem.
pub const OASIS_SEVERITY_WARN: u8 = 13;
/// An operation failed.
pub const OASIS_SEVERITY_ERROR: u8 = 17;
/// The program cannot continue.
pub const OASIS_SEVERITY_FATAL: u8 = 21;
