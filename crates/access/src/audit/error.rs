//! Errors of the audit log.

use std::{io, path::PathBuf, sync::Arc};

/// Why the audit log cannot be written or read. An action that must be recorded does not happen then.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AuditError {
    /// The system refused.
    #[error("cannot {doing} {path}: {error}", path = .path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: Arc<io::Error>,
    },
    /// Synced records were changed or are gone.
    #[error("the audit log is damaged at {path}: {reason}; see `oasis audit-log verify`, then move the folder away", path = .path.display())]
    Damaged {
        /// The file or folder.
        path: PathBuf,
        /// The damage.
        reason: String,
    },
    /// More threads wait than allowed.
    #[error("too many records wait for the disk of the audit log: try again")]
    Busy,
    /// Another process writes for too long.
    #[error("another process has locked {path} for 5 s: end it, then try again", path = .path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// Only the log itself writes these.
    #[error("{0:?} is an action of the audit log itself")]
    Reserved(String),
}

impl AuditError {
    /// Makes errors of one place.
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { doing, path, error: Arc::new(error) }
    }
}
