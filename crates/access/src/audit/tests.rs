//! Tests of the log as a whole: crashes, forgeries, several writers, retention.

use super::{files::LogFile, *};
use proptest::prelude::*;
use serde_json::json;
use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

const SMALL_LIMITS: AuditLimits = AuditLimits { file_bytes: 2_000, bytes: 1 << 30, days: 0 };

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    (folder, path)
}

fn event(action: &str) -> Event {
    Event {
        target: "plant/pump".into(),
        arguments: json!({"hertz": 10}),
        ..Event::new("person:ada", action, "begun")
    }
}

fn fill(folder: &Path, limits: AuditLimits, records: usize) {
    let log = AuditLog::open(folder, limits).unwrap();
    for at in 0..records {
        log.append(event(&format!("action {at}"))).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    LogFile::list(folder).unwrap().into_iter().map(|file| file.path).collect()
}

fn intact(folder: &Path) -> Report {
    let report = verify(folder, None).unwrap();
    assert!(report.is_intact(), "{:#?}", report.findings);
    report
}

fn actions(folder: &Path) -> Vec<String> {
    let mut actions = Vec::new();
    let take = |record: Record| {
        actions.push(record.action);
        ControlFlow::Continue(())
    };
    read_records(folder, take).unwrap();
    actions
}

/// Returns the first finding.
fn found(folder: &Path) -> String {
    verify(folder, None).unwrap().findings.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn the_chain_goes_on_in_the_next_file_and_after_a_restart() {
    let (_guard, folder) = folder();
    fill(&folder, SMALL_LIMITS, 20);
    fill(&folder, SMALL_LIMITS, 20);
    let report = intact(&folder);
    assert!(report.records == 40 && report.files > 5 && report.first == Some(1), "{report:?}");
    assert_eq!(report.head.unwrap().seq, 40);
    assert_eq!(actions(&folder)[20], "action 0");
}

#[test]
fn several_threads_and_processes_write_one_chain() {
    let (_guard, folder) = folder();
    let logs = [0, 1].map(|_| AuditLog::open(&folder, SMALL_LIMITS).unwrap());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let log = &logs[writer % 2];
            scope.spawn(move || {
                let numbers: Vec<u64> =
                    (0..10).map(|at| log.append(event(&format!("{writer}-{at}"))).unwrap().seq).collect();
                assert!(numbers.is_sorted());
            });
        }
    });
    assert_eq!(intact(&folder).records, 80);
}

#[test]
fn a_torn_line_is_cut_and_noted() {
    let (_guard, folder) = folder();
    fill(&folder, AuditLimits::default(), 3);
    for torn in ["{\"seq\":4,\"ti", "\0\0\0\0", "\0\0\0{\"x\"}\n\0\0"] {
        let last = files(&folder).pop().unwrap();
        let before = fs::read_to_string(&last).unwrap();
        fs::write(&last, before.clone() + torn).unwrap();
        assert!(!verify(&folder, None).unwrap().is_intact());
        drop(AuditLog::open(&folder, AuditLimits::default()).unwrap());
        intact(&folder);
        let after = fs::read_to_string(&last).unwrap();
        let noted = after.strip_prefix(&before).unwrap();
        assert!(noted.contains(&format!("\"torn_bytes\":{}", torn.len())), "{noted}");
    }
    assert_eq!(actions(&folder).iter().filter(|action| *action == "audit-log:repair").count(), 3);
}

#[test]
fn a_crash_right_after_a_new_file_loses_nothing() {
    let (_guard, folder) = folder();
    fill(&folder, SMALL_LIMITS, 20);
    let head = intact(&folder).head.unwrap();
    let next = LogFile::new(&folder, head.seq + 1);
    fs::write(&next.path, "{\"seq").unwrap();
    fill(&folder, SMALL_LIMITS, 1);
    assert_eq!(intact(&folder).records, 22, "one of them is the note");
}

#[test]
fn synced_records_that_were_changed_are_not_written_over() {
    let (_guard, folder) = folder();
    fill(&folder, AuditLimits::default(), 5);
    let last = files(&folder).pop().unwrap();
    let text = fs::read_to_string(&last).unwrap();
    let without_last = text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    for damaged in [text.replace("action 3", "action x"), without_last, String::new()] {
        fs::write(&last, &damaged).unwrap();
        let error = AuditLog::open(&folder, AuditLimits::default()).unwrap_err();
        assert!(matches!(error, AuditError::Damaged { .. }), "{error}");
        assert_eq!(fs::read_to_string(&last).unwrap(), damaged);
    }
    fs::remove_file(&last).unwrap();
    assert!(matches!(AuditLog::open(&folder, AuditLimits::default()), Err(AuditError::Damaged { .. })));
    assert!(found(&folder).contains("records 1 to 5 were removed"), "{}", found(&folder));
}

#[test]
fn removed_reordered_and_exchanged_records_are_found_with_their_place() {
    let (_guard, folder) = folder();
    fill(&folder, AuditLimits::default(), 6);
    let last = files(&folder).pop().unwrap();
    let text = fs::read_to_string(&last).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let write = |lines: &[&str]| {
        fs::write(&last, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        found(&folder)
    };
    let [a, b, c, d, e, f] = lines[..] else { panic!("{text}") };
    assert_eq!(write(&[a, b, c, d, e, f]), "");
    assert!(write(&[a, b, d, e, f]).contains("line 3: records 3 to 3 are missing"));
    assert!(write(&[a, c, b, d, e, f]).contains("line 2: records 2 to 2 are missing"));
    assert!(write(&[a, b, b, c, d, e, f]).contains("line 3: record 2 is at the place of record 3"));
    assert!(write(&[b, c, d, e, f]).contains("begins with record 2"));
    assert!(write(&[a, b, c, d]).contains("records 5 to 6 were removed"));
    // A record whose hash was computed again does not fit the next one.
    let (guard, forged) = self::folder();
    fill(&forged, AuditLimits::default(), 6);
    let other = fs::read_to_string(files(&forged).pop().unwrap()).unwrap();
    let exchanged = other.lines().nth(2).unwrap();
    assert!(write(&[a, b, exchanged, d, e, f]).contains("line 3: the record before this one was exchanged"));
    // All of the log was exchanged, head included: only a head kept elsewhere tells.
    let known = Record::parse(f.as_bytes()).unwrap().1;
    assert!(verify(&forged, None).unwrap().is_intact());
    assert!(verify(&forged, Some(known)).unwrap().findings[0].what.contains("exchanged"));
    let later = Head { seq: 9, ..known };
    assert!(verify(&forged, Some(later)).unwrap().findings[0].what.contains("is not there"));
    drop(guard);
}

#[test]
fn an_expired_beginning_is_anchored_in_the_chain() {
    let (_guard, folder) = folder();
    let limits = AuditLimits { bytes: 6_000, ..SMALL_LIMITS };
    fill(&folder, limits, 60);
    let report = intact(&folder);
    assert!(report.first.unwrap() > 20, "{report:?}");
    let total: u64 = files(&folder).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(total < 9_000, "{total}");
    // Whoever removes one more file is found out.
    fs::remove_file(&files(&folder)[0]).unwrap();
    assert!(found(&folder).contains("no record says that they expired"), "{}", found(&folder));
}

#[test]
fn a_missing_file_in_the_middle_is_found() {
    let (_guard, folder) = folder();
    fill(&folder, SMALL_LIMITS, 30);
    fs::remove_file(&files(&folder)[2]).unwrap();
    assert!(found(&folder).contains("are missing before this one"), "{}", found(&folder));
}

#[test]
fn files_expire_by_age() {
    let (_guard, folder) = folder();
    fill(&folder, SMALL_LIMITS, 20);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 86_400);
    let first = fs::File::options().append(true).open(&files(&folder)[0]).unwrap();
    first.set_modified(old).unwrap();
    let log = AuditLog::open(&folder, AuditLimits { days: 2, ..SMALL_LIMITS }).unwrap();
    assert!(intact(&folder).first.unwrap() > 1);
    log.remove_expired().unwrap();
    intact(&folder);
}

#[test]
fn a_lost_head_is_noted() {
    let (_guard, folder) = folder();
    fill(&folder, AuditLimits::default(), 3);
    fs::remove_file(folder.join("head")).unwrap();
    assert!(found(&folder).contains("`head` is missing"));
    fill(&folder, AuditLimits::default(), 1);
    intact(&folder);
    assert_eq!(actions(&folder)[3], "audit-log:repair");
    // Together with a changed record nothing is cut: records after it may have been synced.
    fs::remove_file(folder.join("head")).unwrap();
    let last = files(&folder).pop().unwrap();
    let damaged = fs::read_to_string(&last).unwrap().replace("action 1", "action x");
    fs::write(&last, &damaged).unwrap();
    assert!(matches!(AuditLog::open(&folder, AuditLimits::default()), Err(AuditError::Damaged { .. })));
    assert_eq!(fs::read_to_string(&last).unwrap(), damaged);
}

#[test]
fn the_actions_of_the_log_are_its_own() {
    let (_guard, folder) = folder();
    let log = AuditLog::open(&folder, SMALL_LIMITS).unwrap();
    assert!(matches!(log.append(event("audit-log:expire")), Err(AuditError::Reserved(_))));
}

#[test]
fn a_log_that_cannot_be_written_refuses_and_then_goes_on() {
    let (_guard, folder) = folder();
    let log = AuditLog::open(&folder, SMALL_LIMITS).unwrap();
    log.append(event("one")).unwrap();
    let file = files(&folder).pop().unwrap();
    let away = folder.join("away");
    fs::rename(folder.join("head"), &away).unwrap();
    fs::rename(&file, folder.join("gone")).unwrap();
    // Another process finds a log that has lost its records.
    fs::copy(&away, folder.join("head")).unwrap();
    assert!(AuditLog::open(&folder, SMALL_LIMITS).is_err());
    fs::rename(folder.join("gone"), &file).unwrap();
    AuditLog::open(&folder, SMALL_LIMITS).unwrap().append(event("two")).unwrap();
    assert_eq!(actions(&folder), ["one", "two"]);
}

#[test]
fn readers_see_records_while_they_are_written() {
    let (_guard, folder) = folder();
    let log = AuditLog::open(&folder, SMALL_LIMITS).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..40).for_each(|at| {
                log.append(event(&format!("{at}"))).unwrap();
            })
        });
        while intact(&folder).records < 40 {
            std::thread::yield_now();
        }
    });
}

/// A log of several files, made once.
fn sample() -> &'static Vec<(String, Vec<u8>)> {
    static SAMPLE: std::sync::OnceLock<Vec<(String, Vec<u8>)>> = std::sync::OnceLock::new();
    SAMPLE.get_or_init(|| {
        let (_guard, folder) = folder();
        fill(&folder, SMALL_LIMITS, 12);
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut paths = files(&folder);
        paths.push(folder.join("head"));
        paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
    })
}

fn write_sample(folder: &Path, sample: &[(String, Vec<u8>)]) {
    fs::create_dir_all(folder).unwrap();
    for (name, bytes) in sample {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

proptest! {
    /// Any byte of any file of the log, line ends included.
    #[test]
    fn any_change_of_a_byte_is_found(file in 0_usize..100, at in 0_usize..2_000, byte: u8) {
        let mut sample = sample().clone();
        let logs = sample.len() - 1;
        let bytes = &mut sample[file % logs].1;
        let at = at % bytes.len();
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        let (_guard, folder) = folder();
        write_sample(&folder, &sample);
        prop_assert!(!verify(&folder, None).unwrap().is_intact());
    }

    /// Any cut: of a file in the middle, or of the end.
    #[test]
    fn any_cut_is_found(file in 0_usize..100, at in 0_usize..2_000) {
        let mut sample = sample().clone();
        let logs = sample.len() - 1;
        let bytes = &mut sample[file % logs].1;
        bytes.truncate(at % bytes.len());
        let (_guard, folder) = folder();
        write_sample(&folder, &sample);
        prop_assert!(!verify(&folder, None).unwrap().is_intact());
    }

    /// Whatever the files contain, they are read, verified and opened, or refused.
    #[test]
    fn any_bytes_are_read_or_refused(file in 0_usize..100, at in 0_usize..2_000, keep in 0_usize..300, with in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut sample = sample().clone();
        let count = sample.len();
        let bytes = &mut sample[file % count].1;
        let at = at % bytes.len();
        let end = (at + keep).min(bytes.len());
        bytes.splice(at..end, with);
        let (_guard, folder) = folder();
        write_sample(&folder, &sample);
        verify(&folder, None).unwrap();
        read_records(&folder, |_| ControlFlow::Continue(())).unwrap();
        if let Ok(log) = AuditLog::open(&folder, SMALL_LIMITS) {
            log.append(event("after")).unwrap();
        }
    }
}

#[test]
fn a_log_that_was_cut_or_removed_while_it_is_open_is_a_problem() {
    let (_guard, folder) = folder();
    let log = AuditLog::open(&folder, AuditLimits::default()).unwrap();
    for at in 0..3 {
        log.append(event(&format!("action {at}"))).unwrap();
    }
    log.check_end().unwrap();
    assert_eq!((log.check().unwrap().is_intact(), log.problem()), (true, None));

    let file = files(&folder).remove(0);
    let whole = fs::read_to_string(&file).unwrap();
    let two_lines: String = whole.split_inclusive('\n').take(2).collect();
    fs::write(&file, two_lines).unwrap();
    assert!(matches!(log.check_end(), Err(AuditError::Damaged { .. })));
    assert!(log.problem().unwrap().contains("record 3 was synced"), "{:?}", log.problem());
    assert!(log.append(event("later")).is_err(), "nothing may follow a record that is gone");

    fs::remove_file(&file).unwrap();
    assert!(log.check_end().is_err());
    fs::write(&file, &whole).unwrap();
    log.check_end().unwrap();
    assert_eq!((log.problem(), log.append(event("later")).unwrap().seq), (None, 4));

    // Another text of the same length is only seen by who reads it.
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.replace("person:ada", "person:eve")).unwrap();
    log.check_end().unwrap();
    assert!(!log.check().unwrap().is_intact());
    let problem = log.problem().unwrap();
    assert!(problem.contains("line 1") && problem.contains(" more; see "), "{problem}");
}
