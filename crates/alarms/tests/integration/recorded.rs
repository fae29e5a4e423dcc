//! Reading the alarms of a directory that a DAC may have in use.

use crate::support::*;
use oasis_alarms::{Alarms, AlarmsError, DATABASE, Filter, JournalFilter, Limits, RecordedAlarms};
use oasis_rules::EventKind;
use std::fs;

#[test]
fn a_reader_sees_what_a_running_and_a_stopped_dac_committed() {
    let (folder, alarms) = alarms();
    for sequence in 1..=3 {
        commit(&alarms, "Hot", &format!("pump{sequence}"), EventKind::Raised, sequence);
    }
    let (list, entries) = (alarms.list(&Filter::default()).alarms, journal(&alarms));
    let running = RecordedAlarms::open(folder.path()).unwrap();
    commit(&alarms, "Hot", "pump1", EventKind::Cleared, 4);
    let read = |recorded: &RecordedAlarms| {
        let mut entries = recorded.journal(&JournalFilter::default()).unwrap().entries;
        entries.reverse();
        let mut alarms = recorded.list().unwrap();
        // Counted by a DAC, not stored.
        alarms.iter_mut().for_each(|alarm| alarm.raised_last_hour = 0);
        (alarms, entries)
    };
    let uncounted = |mut list: Vec<oasis_alarms::AlarmView>| {
        list.iter_mut().for_each(|alarm| alarm.raised_last_hour = 0);
        list
    };
    assert_eq!(read(&running), (uncounted(list), entries), "as of when it was opened");

    let (list, entries) = (alarms.list(&Filter::default()).alarms, journal(&alarms));
    drop(alarms);
    let before = fs::read(folder.path().join(DATABASE)).unwrap();
    let stopped = RecordedAlarms::open(folder.path()).unwrap();
    assert_eq!(read(&stopped), (uncounted(list), entries));
    assert_eq!(fs::read(folder.path().join(DATABASE)).unwrap(), before);
    // A reader keeps no DAC from starting.
    Alarms::open(folder.path(), Limits::default()).unwrap();
}

#[test]
fn a_reader_makes_and_migrates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    for directory in [folder.path(), &nowhere] {
        let error = RecordedAlarms::open(directory).unwrap_err();
        assert!(matches!(error, AlarmsError::Missing(_)), "{error}");
        assert!(error.to_string().contains("rules.directory"), "{error}");
    }
    assert!(!nowhere.exists() && fs::read_dir(folder.path()).unwrap().next().is_none());

    let path = folder.path().join(DATABASE);
    for (version, remedy) in [(0, "start its DAC once"), (99, "update oasis")] {
        let _ = fs::remove_file(&path);
        let database = rusqlite::Connection::open(&path).unwrap();
        database.pragma_update(None, "user_version", version).unwrap();
        database.execute_batch("CREATE TABLE other (column)").unwrap();
        drop(database);
        let before = fs::read(&path).unwrap();
        let error = RecordedAlarms::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(remedy), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    fs::write(&path, b"no database at all".repeat(500)).unwrap();
    let error = RecordedAlarms::open(folder.path()).unwrap_err();
    assert!(matches!(error, AlarmsError::Damaged(..)), "{error}");
}
