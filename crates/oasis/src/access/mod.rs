//! Commands for accounts and the audit log. They work on the files of a DAC, also while it runs.

pub mod audit_log;
pub mod folder;
#[cfg(feature = "live")]
mod merged_log;
#[cfg(feature = "live")]
pub mod node;
mod password;
mod recorded;
pub mod role;
mod table;
pub mod token;
pub mod user;

pub use folder::AccessFolder;
pub use recorded::of_archive;

use crate::broken_pipe::is_broken_pipe;
use oasis_access::Name;
use std::collections::BTreeSet;

/// `oasis user list | head` is not an error.
fn unless_pipe_is_closed(result: anyhow::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

/// Names of roles in a cell.
fn joined(roles: &BTreeSet<Name>) -> String {
    if roles.is_empty() {
        return "-".into();
    }
    roles.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
