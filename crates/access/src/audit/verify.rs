//! Reads the log, and checks that no record was changed, removed, reordered or cut off.

use super::{
    chain::{Chain, Step},
    error::AuditError,
    files::LogFile,
    head::Head,
    record::Record,
    writer::{EXPIRE, LOCK, LOCK_TIMEOUT, OWN},
};
use crate::private_file;
use std::{
    fmt,
    fs::File,
    io::{BufReader, ErrorKind, Read},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// Most findings that are kept; the rest is counted.
const MAX_FINDINGS: usize = 100;

/// A place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPosition {
    /// The file, or the folder.
    pub path: PathBuf,
    /// The line, from 1; 0 for all of the file.
    pub line: u64,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Position of the damage.
    pub place: LogPosition,
    /// Description of the damage.
    pub what: String,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read.
    pub files: usize,
    /// Records that were read.
    pub records: u64,
    /// Number of the first record: later than 1 if older ones have expired.
    pub first: Option<u64>,
    /// The newest record. Kept at another place, it proves later that nothing before it was exchanged.
    pub head: Option<Head>,
    /// The damage found, in the order of the records.
    pub findings: Vec<Finding>,
    /// Further findings that are not listed.
    pub more: u64,
}

impl Report {
    /// Whether all is as it was written.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, path: &Path, line: u64, what: impl fmt::Display) {
        if self.findings.len() < MAX_FINDINGS {
            let place = LogPosition { path: path.to_owned(), line };
            self.findings.push(Finding { place, what: what.to_string() });
        } else {
            self.more += 1;
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogPosition { path, line } = &self.place;
        match line {
            0 => write!(f, "{}: {}", path.display(), self.what),
            line => write!(f, "{}, line {line}: {}", path.display(), self.what),
        }
    }
}

/// The files to read, with their sizes at one moment, and the head of that moment.
pub(crate) struct Snapshot {
    pub(crate) files: Vec<(LogFile, u64)>,
    head: Option<Head>,
}

impl Snapshot {
    /// Takes it while no process writes. A copy of a log has no lock file.
    pub(crate) fn take(folder: &Path) -> Result<Self, AuditError> {
        let path = folder.join(LOCK);
        let lock = match File::open(&path) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(AuditError::io("open", path)(error)),
        };
        if let Some(lock) = &lock
            && !private_file::lock_within(lock, LOCK_TIMEOUT).map_err(AuditError::io("lock", path.clone()))?
        {
            return Err(AuditError::Locked { path });
        }
        let mut files = Vec::new();
        for file in LogFile::list(folder).map_err(AuditError::io("list", folder))? {
            let metadata = std::fs::metadata(&file.path).map_err(AuditError::io("read", &file.path))?;
            files.push((file, metadata.len()));
        }
        let head = Head::of_folder(folder).map_err(AuditError::io("read", folder))?;
        Ok(Self { files, head })
    }
}

/// Passes each line of the log to a function, oldest first, until that breaks.
fn walk(
    snapshot: &Snapshot,
    mut visit: impl FnMut(&LogFile, Step) -> ControlFlow<()>,
) -> Result<(), AuditError> {
    let mut before = None;
    for (log, size) in &snapshot.files {
        let failed = || AuditError::io("read", &log.path);
        let file = File::open(&log.path).map_err(failed())?;
        let mut chain = Chain::new(BufReader::new(file.take(*size)), before);
        while let Some(step) = chain.step().map_err(failed())? {
            if visit(log, step).is_break() {
                return Ok(());
            }
        }
        before = chain.last();
    }
    Ok(())
}

/// Checks the log of a folder, also while others write to it. `known` is a head that was kept at another place.
///
/// # Errors
/// If a file cannot be read. Damage is no error: the report lists it.
pub fn verify(folder: &Path, known: Option<Head>) -> Result<Report, AuditError> {
    let snapshot = Snapshot::take(folder)?;
    let mut report = Report { files: snapshot.files.len(), ..Report::default() };
    let mut beginning = None;
    let mut is_anchored = false;
    let mut is_known = known.is_none_or(|known| known.seq == 0);
    walk(&snapshot, |log, step| {
        if let Some(damage) = &step.damage {
            report.add(&log.path, step.line, damage);
        }
        let Some((record, head)) = step.record else { return ControlFlow::Continue(()) };
        report.records += 1;
        report.head = Some(head);
        if report.first.is_none() {
            report.first = Some(record.seq);
            beginning = Some((record.seq, record.previous.clone(), log.path.clone(), step.line));
        }
        if step.line == 1 && log.first != record.seq {
            report.add(
                &log.path,
                1,
                format!("the file begins with record {}, not {}", record.seq, log.first),
            );
        }
        for (expected, whose) in [(known, "the known one"), (snapshot.head, "the synced one")] {
            if expected.is_some_and(|expected| expected.seq == head.seq && expected.hash != head.hash) {
                report.add(
                    &log.path,
                    step.line,
                    format!("record {} was exchanged: {whose} has another hash", head.seq),
                );
            }
        }
        is_known |= known.is_some_and(|known| known.seq == head.seq);
        is_anchored |=
            beginning.as_ref().is_some_and(|(seq, previous, ..)| is_anchor(&record, *seq, previous));
        ControlFlow::Continue(())
    })?;
    check_beginning(&mut report, beginning, is_anchored);
    check_end(&mut report, folder, &snapshot);
    if let Some(known) = known.filter(|_| !is_known) {
        report.add(folder, 0, format!("record {}, which is known, is not there", known.seq));
    }
    Ok(report)
}

/// Whether a record says that the log begins at this one because older ones have expired.
fn is_anchor(record: &Record, first: u64, previous: &str) -> bool {
    let arguments = &record.arguments;
    record.principal == OWN
        && record.action == EXPIRE
        && arguments["next"].as_u64() == Some(first)
        && arguments["previous"].as_str() == Some(previous)
}

fn check_beginning(report: &mut Report, beginning: Option<(u64, String, PathBuf, u64)>, is_anchored: bool) {
    let Some((seq, previous, path, line)) = beginning else { return };
    let is_start = seq == 1 && previous == Head::START.hash.to_string();
    if is_start || is_anchored {
        return;
    }
    match seq {
        1 => report.add(&path, line, "the first record follows another one: it was exchanged"),
        _ => report.add(
            &path,
            line,
            format!("records 1 to {} are missing, and no record says that they expired", seq - 1),
        ),
    }
}

fn check_end(report: &mut Report, folder: &Path, snapshot: &Snapshot) {
    let last = report.head.map_or(0, |head| head.seq);
    match snapshot.head {
        None if snapshot.files.is_empty() => {}
        None => report.add(
            folder,
            0,
            "the file `head` is missing or damaged: the newest records may have been removed",
        ),
        Some(head) if head.seq > last => {
            report.add(
                folder,
                0,
                format!("the log ends with record {last}: records {} to {} were removed", last + 1, head.seq),
            );
        }
        Some(_) => {}
    }
}

/// Passes each record of a folder to a function, oldest first, until that breaks. Lines that are no records are passed
/// over: [`verify`] lists them.
///
/// # Errors
/// If a file cannot be read.
pub fn read_records(
    folder: &Path,
    mut visit: impl FnMut(Record) -> ControlFlow<()>,
) -> Result<(), AuditError> {
    walk(&Snapshot::take(folder)?, |_, step| match step.record {
        Some((record, _)) => visit(record),
        None => ControlFlow::Continue(()),
    })
}
