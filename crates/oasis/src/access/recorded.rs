//! Changes of accounts by the command line: recorded before and after.

use super::folder::{AccessFolder, Folder};
use oasis_access::{AuditLog, ChangeError, Document, Event, StoreError};
#[cfg(feature = "live")]
use oasis_access::{NodeChangeError, NodeRegister};
use serde_json::Value;
use std::{fs, os::unix::fs::MetadataExt};

/// Changes the accounts. The audit log says so before, and then what became of it.
///
/// # Errors
/// If the change is refused, or the log or the accounts cannot be written. Without a record nothing is changed.
pub fn change<T>(
    folder: &Folder,
    (action, target, arguments): (&str, &str, Value),
    change: impl FnOnce(&mut Document) -> Result<T, ChangeError>,
) -> anyhow::Result<T> {
    change_described(folder, (action, target, arguments), change, |_| Value::Null)
}

/// The same. `describe` returns what the second record says of the result.
pub fn change_described<T>(
    folder: &Folder,
    (action, target, arguments): (&str, &str, Value),
    change: impl FnOnce(&mut Document) -> Result<T, ChangeError>,
    describe: impl FnOnce(&T) -> Value,
) -> anyhow::Result<T> {
    // First: it creates the folder with its mode.
    let store = folder.store()?;
    let log = folder.audit_log()?;
    record(&log, (action, target, arguments), || store.change(change), describe)
}

/// Changes which nodes may connect, in the same way.
///
/// # Errors
/// As [`change`].
#[cfg(feature = "live")]
pub fn change_nodes<T>(
    folder: &Folder,
    what: (&str, &str, Value),
    change: impl FnOnce(&mut NodeRegister) -> Result<T, NodeChangeError>,
) -> anyhow::Result<T> {
    let store = folder.store()?;
    let log = folder.audit_log()?;
    record(&log, what, || store.change_nodes(change), |_| Value::Null)
}

fn record<T>(
    log: &AuditLog,
    (action, target, arguments): (&str, &str, Value),
    change: impl FnOnce() -> Result<T, StoreError>,
    describe: impl FnOnce(&T) -> Value,
) -> anyhow::Result<T> {
    let begun = Event { target: target.into(), arguments, ..Event::new(who(), action, "begun") };
    let receipt = log.append(begun.clone())?;
    let changed = change();
    let (result, arguments) = match &changed {
        Ok(changed) => ("done".into(), describe(changed)),
        Err(error) => (format!("failed: {error}"), Value::Null),
    };
    log.append(Event { result, arguments, of: Some(receipt.seq), ..begun })?;
    Ok(changed?)
}

/// Acts on the files of an archive, as far as the permissions of the files allow. If there is an audit log, it records
/// the attempt first, and then the outcome. `is_required`: nothing is done if the log cannot be written.
///
/// # Errors
/// The errors of the action; and of the log, if it is required.
pub fn of_archive<T>(
    folder: &AccessFolder,
    (action, target, arguments): (&str, &str, Value),
    is_required: bool,
    act: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let begun = Event { target: target.into(), arguments, ..Event::new(who(), action, "begun") };
    let log = match begin(folder, &begun) {
        Ok(log) => log,
        Err(error) if is_required => {
            return Err(error.context("not done, because the audit log cannot be written"));
        }
        Err(error) => {
            tracing::warn!(%error, action, "not in the audit log");
            None
        }
    };
    let done = act();
    if let Some((log, seq)) = log {
        let result = done.as_ref().map_or_else(|error| format!("failed: {error}"), |_| "done".into());
        if let Err(error) = log.append(Event { result, arguments: Value::Null, of: Some(seq), ..begun }) {
            tracing::warn!(%error, action, "the result is not in the audit log");
        }
    }
    done
}

/// Records that something begins; `None` without an audit log.
fn begin(folder: &AccessFolder, begun: &Event) -> anyhow::Result<Option<(AuditLog, u64)>> {
    let folder = folder.find()?;
    if !folder.audit_path().exists() {
        return Ok(None);
    }
    let log = folder.audit_log()?;
    let receipt = log.append(begun.clone())?;
    Ok(Some((log, receipt.seq)))
}

/// The user of this host who runs the command.
fn who() -> String {
    match fs::metadata("/proc/self") {
        Ok(metadata) => format!("command-line:uid-{}", metadata.uid()),
        Err(_) => "command-line".into(),
    }
}
