//! Results of calls, and error messages.

use oasis_ei_node::SettingsError;
use oasis_probe::{Failure, NodeError, process};
use oasis_wire::{
    batch::{BatchError, RowError},
    declared::DeclarationError,
    schema::InvalidType,
};
use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

/// Result of a call. `oasis_last_error` gives details of every result from OASIS_STATUS_ARGUMENT on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// The probe's ring had no room: the sample is dropped, counted, and reported to the DAC. Or the node was shut down:
    /// the sample is dropped, and oasis_probe_refused counts it. Not an error of the caller.
    Dropped = 1,
    /// An argument is null, not UTF-8, or out of range; or the configuration is invalid.
    Argument = 2,
    /// A schema is invalid, or a row or batch does not fit it.
    Schema = 3,
    /// A node has two instances of one name.
    Duplicate = 4,
    /// The operating system reported an error.
    System = 5,
    /// A bug in OASIS. Please report it.
    Internal = 6,
    /// The DAC refuses the node, such as for a name that another node has: it has not received its samples.
    Refused = 7,
    /// The process was forked after its node had started, and has none of its threads: no sample is taken. Build a node in
    /// the child.
    Forked = 8,
    /// A row has more bytes than the probe's ring or a batch: the sample is dropped, counted, and reported to the DAC.
    TooLong = 9,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0} is null")]
    Null(&'static str),
    #[error("{0} is not UTF-8")]
    Text(&'static str),
    #[error("{0}")]
    Argument(String),
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    #[error("the schema cannot be used: {0}")]
    Schema(#[from] InvalidType),
    #[error("row does not fit its schema: {0}")]
    Row(#[from] RowError),
    #[error("invalid batch: {0}")]
    Batch(#[from] BatchError),
    #[error("the DAC refuses this node: {0}")]
    Refused(String),
    #[error(
        "row too long: {bytes} bytes, at most {limit}: the sample is dropped and counted (cut its texts and vectors, or give its probe a larger ring)"
    )]
    TooLong { bytes: usize, limit: usize },
    #[error("{}", .0.message)]
    Forked(Failure),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

impl Problem {
    /// The problem of a call in a child of the node's process. The first one is on standard error too.
    pub fn forked() -> Self {
        process::warn_once();
        Self::Forked(process::forked())
    }

    fn status(&self) -> Status {
        match self {
            Self::Settings(SettingsError::File { .. }) => Status::System,
            Self::Null(_) | Self::Text(_) | Self::Argument(_) | Self::Settings(_) => Status::Argument,
            Self::Refused(_) => Status::Refused,
            Self::TooLong { .. } => Status::TooLong,
            Self::Forked(_) | Self::Node(NodeError::Forked(_)) => Status::Forked,
            Self::Declaration(_) | Self::Schema(_) | Self::Row(_) | Self::Batch(_) => Status::Schema,
            Self::Node(NodeError::Schema { .. }) => Status::Schema,
            Self::Node(NodeError::DuplicateInstance { .. }) => Status::Duplicate,
            Self::Node(NodeError::Thread(_) | NodeError::Spool(_)) => Status::System,
            Self::Node(_) => Status::Argument,
        }
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function called from C.
pub fn answer(body: impl FnOnce() -> Result<Status, Problem>) -> Status {
    let (status, text) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => return status,
        Ok(Err(problem)) => (problem.status(), problem.to_string()),
        Err(_) => (Status::Internal, "bug in OASIS: see the panic message on standard error".into()),
    };
    // A C text ends at its first NUL, and a name with a NUL may be part of a message.
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    LAST_ERROR.with(|last| last.replace(text));
    status
}

/// Returns the error of this thread's last call that did not return OASIS_STATUS_OK or OASIS_STATUS_DROPPED: UTF-8,
/// valid until the next such call. Empty if there was none. Never null while the thread lives.
#[unsafe(no_mangle)]
pub extern "C" fn oasis_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(ptr::null())
}
