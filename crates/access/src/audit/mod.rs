//! The audit log: who did what. Records are only ever appended; each contains the hash of the one before, and is synced
//! before its action starts. docs/reference/audit-log.md describes the files.

mod chain;
mod error;
mod files;
mod group;
mod head;
mod newest;
mod record;
mod redact;
#[cfg(test)]
mod tests;
mod verify;
mod watch;
mod writer;

pub use error::AuditError;
pub use group::AuditLog;
pub use head::{Head, HeadError};
pub use newest::{NewestRecords, newest_records};
pub use record::{Event, Record};
pub use verify::{Finding, LogPosition, Report, read_records, verify};
pub use watch::AuditWatch;
pub use writer::{AuditLimits, Receipt};
