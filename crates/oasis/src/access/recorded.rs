//! Changes of accounts by the command line: recorded before and after.

use super::folder::Folder;
use oasis_access::{AuditLog, ChangeError, Document, Event, NodeChangeError, NodeRegister, StoreError};
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

/// The user of this host who runs the command.
fn who() -> String {
    match fs::metadata("/proc/self") {
        Ok(metadata) => format!("command-line:uid-{}", metadata.uid()),
        Err(_) => "command-line".into(),
    }
}
