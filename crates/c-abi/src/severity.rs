//! Names for C of the numbers that log records carry.

#![allow(dead_code, reason = "only the header has them")]

/// Severities of log records, as OpenTelemetry numbers them; one between two levels is shown as the level below.
pub const OASIS_SEVERITY_TRACE: u8 = 1;
/// Of use while something is looked for.
pub const OASIS_SEVERITY_DEBUG: u8 = 5;
/// All is well.
pub const OASIS_SEVERITY_INFO: u8 = 9;
/// Worth a look.
pub const OASIS_SEVERITY_WARN: u8 = 13;
/// Something failed.
pub const OASIS_SEVERITY_ERROR: u8 = 17;
/// The program cannot go on.
pub const OASIS_SEVERITY_FATAL: u8 = 21;
