//! The commands of earlier runs of the DAC, from its audit log.

use super::Permissions;
use oasis_access::{AuditError, Record, newest_records};
use oasis_dac::{CommandError, NamedRequest, commands::JournalEntry};
use serde_json::Value;
use std::collections::HashMap;

/// Upper bound of the records that are read: those of 1,000 commands, and forgotten ones.
const MOST_RECORDS: usize = 2_200;
/// Begins the action of a command.
const COMMAND: &str = "command:";
/// The action that removes nodes and instances.
const FORGET: &str = "forget";
/// The outcome of a command whose result was not recorded, because the DAC ended first.
const UNKNOWN: &str = "unknown";

impl Permissions {
    /// Returns the newest commands in the audit log, oldest first, without those to what was forgotten since; none without a log. Reads a bounded part of
    /// the log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn earlier_commands(&self) -> Result<Vec<JournalEntry>, AuditError> {
        let Some(folder) = self.audit_folder() else { return Ok(Vec::new()) };
        let is_wanted = |record: &Record| record.action.starts_with(COMMAND) || record.action == FORGET;
        Ok(entries(newest_records(folder, None, MOST_RECORDS, is_wanted)?.records))
    }
}

/// The commands of records, which are newest first.
fn entries(records: Vec<Record>) -> Vec<JournalEntry> {
    let mut results: HashMap<u64, String> = HashMap::new();
    let mut forgotten: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for record in records {
        if let Some(begun) = record.of {
            if record.action == FORGET && record.result == "done" {
                forgotten.push(record.target);
            } else {
                results.insert(begun, record.result);
            }
        } else if record.result == "begun" && !forgotten.iter().any(|target| is_of(&record.target, target)) {
            let outcome = results.remove(&record.seq).unwrap_or_else(|| UNKNOWN.to_owned());
            found.extend(entry(record, outcome));
        }
    }
    found.reverse();
    found
}

/// Whether a target is this one, or an instance of this node.
fn is_of(target: &str, of: &str) -> bool {
    target.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The journal's entry of a command; none if it was for an instance that the DAC did not know.
fn entry(record: Record, outcome: String) -> Option<JournalEntry> {
    let (node, instance) = record.target.split_once('/')?;
    let mut fields = match &record.arguments {
        Value::Object(fields) => fields.clone(),
        _ => serde_json::Map::new(),
    };
    fields.insert("command".to_owned(), record.action.strip_prefix(COMMAND)?.into());
    let NamedRequest { uuid, request, .. } = serde_json::from_value(Value::Object(fields)).ok()?;
    let unknown = CommandError::UnknownInstance { node: node.into(), instance: instance.into() };
    if outcome == format!("failed: {unknown}") {
        return None;
    }
    Some(JournalEntry {
        id: 0,
        uuid,
        time: record.nanos()?,
        who: record.principal,
        node: node.into(),
        instance: instance.into(),
        command: request,
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_access::{AuditLimits, AuditLog, Event};
    use serde_json::json;

    /// Appends the records of an action, and returns its place.
    fn act(log: &AuditLog, action: &str, target: &str, arguments: Value, result: Option<&str>) {
        let event = Event { target: target.into(), ..Event::new("person:ada", action, "begun") };
        let begun = log.append(Event { arguments, ..event.clone() }).unwrap();
        if let Some(result) = result {
            log.append(Event { result: result.into(), of: Some(begun.seq), ..event }).unwrap();
        }
    }

    #[test]
    fn commands_come_back_with_author_and_result() {
        let folder = tempfile::tempdir().unwrap();
        let log = AuditLog::open(folder.path(), AuditLimits::default()).unwrap();
        let uuid = "8d5f1d2e-0000-4000-8000-000000000001";
        act(&log, "command:hertz", "gone/pump", json!({"hertz": 1.0}), Some("done"));
        act(&log, "command:hertz", "plant/eth/0", json!({"hertz": 5.0, "uuid": uuid}), Some("done"));
        act(&log, "forget", "gone", Value::Null, Some("done"));
        act(&log, "forget", "plant", Value::Null, Some("failed: it is online"));
        act(&log, "command:enable", "gone/pump", Value::Null, Some("failed: offline"));
        let unknown = CommandError::UnknownInstance { node: "a".into(), instance: "b".into() };
        act(&log, "command:enable", "a/b", Value::Null, Some(&format!("failed: {unknown}")));
        log.append(Event { target: "plant/x".into(), ..Event::new("s", "command:enable", "forbidden") })
            .unwrap();
        act(&log, "command:no-such", "plant/x", Value::Null, Some("done"));
        act(&log, "command:disable", "plant/x", Value::Null, None);
        let found = entries(newest_records(folder.path(), None, MOST_RECORDS, |_| true).unwrap().records);
        let told: Vec<_> = found
            .iter()
            .map(|entry| format!("{}/{} {}", entry.node, entry.instance, entry.outcome))
            .collect();
        assert_eq!(told, ["plant/eth/0 done", "gone/pump failed: offline", "plant/x unknown"]);
        assert_eq!((found[0].uuid.to_string().as_str(), found[0].who.as_str()), (uuid, "person:ada"));
        assert!(found.is_sorted_by_key(|entry| entry.time.0));
    }
}
