//! Opening the database, also one that is damaged, in use or of another version.

use crate::support::*;
use oasis_alarms::{Alarms, AlarmsError, Limits};
use oasis_rules::EventKind;
use std::{fs, os::unix::fs::PermissionsExt};

#[test]
fn its_files_are_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("rules");
    let alarms = Alarms::open(&directory, Limits::default()).unwrap();
    prepare(&alarms);
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    for file in fs::read_dir(&directory).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.path());
    }
}

#[test]
fn a_second_process_is_refused() {
    let (folder, _alarms) = alarms();
    let error = Alarms::open(folder.path(), Limits::default()).unwrap_err();
    assert!(matches!(error, AlarmsError::InUse(_)), "{error}");
    assert!(error.to_string().contains("alarms.sqlite3 is in use"), "{error}");
}

#[test]
fn tables_of_a_later_version_are_left_alone() {
    let (folder, alarms) = alarms();
    drop(alarms);
    let path = folder.path().join("alarms.sqlite3");
    let later = rusqlite::Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    let before = fs::read(&path).unwrap();
    let error = Alarms::open(folder.path(), Limits::default()).unwrap_err();
    assert!(matches!(error, AlarmsError::Version(_, 99, 3)), "{error}");
    assert!(error.to_string().ends_with("update oasis"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_database_is_named_with_the_remedy() {
    let (folder, alarms) = alarms();
    for sequence in 1..=200 {
        commit(&alarms, "Hot", "pump", EventKind::Raised, sequence);
    }
    drop(alarms);
    let path = folder.path().join("alarms.sqlite3");
    let whole = fs::read(&path).unwrap();
    // Its header, pages in its middle, and its end.
    let mut damaged: Vec<Vec<u8>> =
        vec![b"no database at all".repeat(500), whole[..whole.len() / 2].to_vec()];
    for page in 1..whole.len() / 4_096 {
        let mut bytes = whole.clone();
        bytes[page * 4_096..][..4_096].fill(0xa5);
        damaged.push(bytes);
    }
    for bytes in damaged {
        fs::write(&path, bytes).unwrap();
        let error = Alarms::open(folder.path(), Limits::default()).unwrap_err();
        assert!(matches!(error, AlarmsError::Damaged(..)), "{error}");
        let text = error.to_string();
        assert!(text.contains("alarms.sqlite3 is damaged") && text.contains("rename it"), "{text}");
    }
}

#[test]
fn a_value_that_is_never_written_is_damage() {
    let (folder, alarms) = alarms();
    commit(&alarms, "Hot", "pump", EventKind::Raised, 1);
    drop(alarms);
    let database = rusqlite::Connection::open(folder.path().join("alarms.sqlite3")).unwrap();
    database.execute("UPDATE alarm SET state = 'on fire'", []).unwrap();
    drop(database);
    let error = Alarms::open(folder.path(), Limits::default()).unwrap_err();
    assert!(matches!(error, AlarmsError::Damaged(..)) && error.to_string().contains("on fire"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Alarms::open(&file.join("rules"), Limits::default()).unwrap_err();
    assert!(error.to_string().contains("file/rules"), "{error}");
}
