//! The last sample of each instance that was sent, in memory and in a file.
//!
//! The file has a line of JSON for each request before it is sent, and one once it is answered: after a crash only the last request is in doubt, and it
//! is sent again with the same samples. Lines that a crash has cut are ignored.

use oasis_wire::quantity::{Epoch, Offset, Position};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// Bytes of a file after which it is written anew, with one line for each instance.
const MAX_JOURNAL_BYTES: u64 = 16 << 20;
/// Most bytes of a file that are read.
const MAX_READ_BYTES: u64 = 256 << 20;

/// Node and instance.
pub type InstanceName = (Arc<str>, Arc<str>);

/// The last sample of an instance that was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Run and number of the last sample.
    pub run: Uuid,
    pub sequence: u64,
    /// Epoch and offset of the next sample.
    pub epoch: u64,
    pub offset: u64,
    /// Milliseconds of the newest point of its series.
    pub time: i64,
}

impl Progress {
    /// Returns the position of the next sample.
    pub fn position(&self) -> Position {
        Position { epoch: Epoch(self.epoch), offset: Offset(self.offset) }
    }
}

/// The last sample that was sent, and the one that may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceRecord {
    /// The last sample of answered requests; `None` before the first one.
    pub sent: Option<Progress>,
    /// The last sample of a request whose answer is unknown.
    pub in_doubt: Option<Progress>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    /// A request that is sent next: node, instance, and where each is sent up to.
    Sending(Vec<(Arc<str>, Arc<str>, Progress)>),
    /// The request of the line before is answered.
    Answered,
    /// The last sample of an instance that was sent.
    Sent(&'a str, &'a str, Progress),
}

/// A line as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReadLine {
    Sending(Vec<(Arc<str>, Arc<str>, Progress)>),
    Answered,
    Sent(Arc<str>, Arc<str>, Progress),
}

/// Up to where each instance was sent.
#[derive(Debug, Default)]
pub struct Journal {
    records: HashMap<InstanceName, InstanceRecord>,
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl Journal {
    /// Reads a file, if there is one; an empty path stands for none.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut journal = Self { path: path.to_owned(), ..Self::default() };
        if path.as_os_str().is_empty() {
            return Ok(journal);
        }
        match File::open(path) {
            Ok(file) => journal.read(file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        journal.rewrite()?;
        Ok(journal)
    }

    /// Returns what is known of an instance.
    pub fn record(&self, name: &InstanceName) -> InstanceRecord {
        self.records.get(name).copied().unwrap_or_default()
    }

    /// Records where an instance begins, unless it is known.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn start(&mut self, name: &InstanceName, at: Progress) -> io::Result<()> {
        let record = self.records.entry(name.clone()).or_default();
        if record.sent.is_some() {
            return Ok(());
        }
        record.sent = Some(at);
        self.append(&Line::Sent(&name.0, &name.1, at))
    }

    /// Records a request before it is sent.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(&mut self, request: Vec<(Arc<str>, Arc<str>, Progress)>) -> io::Result<()> {
        for (node, instance, progress) in &request {
            self.records.entry((node.clone(), instance.clone())).or_default().in_doubt = Some(*progress);
        }
        self.append(&Line::Sending(request))
    }

    /// Records that the request is answered: taken or refused, it is not sent again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn answer(&mut self, names: &[InstanceName]) -> io::Result<()> {
        for name in names {
            if let Some(record) = self.records.get_mut(name) {
                record.sent = record.in_doubt.take().or(record.sent);
            }
        }
        self.append(&Line::Answered)?;
        if self.bytes > MAX_JOURNAL_BYTES.max(2 * self.least_bytes()) { self.rewrite() } else { Ok(()) }
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Forgets other instances.
    pub fn retain(&mut self, is_known: impl Fn(&InstanceName) -> bool) {
        self.records.retain(|name, _| is_known(name));
    }

    /// About the bytes of a file with a line for each instance.
    fn least_bytes(&self) -> u64 {
        self.records.len() as u64 * 256
    }

    fn read(&mut self, file: File) -> io::Result<()> {
        let mut last: Vec<InstanceName> = Vec::new();
        let mut lines = BufReader::new(file.take(MAX_READ_BYTES));
        let mut line = Vec::new();
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            match serde_json::from_slice(&line) {
                Ok(ReadLine::Sending(request)) => {
                    last.clear();
                    for (node, instance, progress) in request {
                        let name = (node, instance);
                        self.records.entry(name.clone()).or_default().in_doubt = Some(progress);
                        last.push(name);
                    }
                }
                Ok(ReadLine::Answered) => {
                    for name in last.drain(..) {
                        if let Some(record) = self.records.get_mut(&name) {
                            record.sent = record.in_doubt.take().or(record.sent);
                        }
                    }
                }
                Ok(ReadLine::Sent(node, instance, progress)) => {
                    self.records.entry((node, instance)).or_default().sent = Some(progress);
                }
                Err(_) => {}
            }
        }
    }

    fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        if self.path.as_os_str().is_empty() {
            return Ok(());
        }
        let Some(file) = &mut self.file else { return self.rewrite() };
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.bytes += bytes.len() as u64;
        let written = file.write_all(&bytes);
        if written.is_err() {
            // The line may be cut: the next one must not continue it.
            self.file = None;
        }
        written
    }

    /// Writes a file with a line for each instance, and one for those in doubt.
    fn rewrite(&mut self) -> io::Result<()> {
        if self.path.as_os_str().is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        let mut in_doubt = Vec::new();
        for ((node, instance), record) in &self.records {
            if let Some(sent) = record.sent {
                serde_json::to_writer(&mut text, &Line::Sent(node, instance, sent))?;
                text.push(b'\n');
            }
            in_doubt.extend(record.in_doubt.map(|progress| (node.clone(), instance.clone(), progress)));
        }
        if !in_doubt.is_empty() {
            serde_json::to_writer(&mut text, &Line::Sending(in_doubt))?;
            text.push(b'\n');
        }
        let mut new = self.path.clone().into_os_string();
        new.push(".new");
        fs::write(&new, &text)?;
        fs::rename(&new, &self.path)?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path)?);
        self.bytes = text.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(sequence: u64) -> Progress {
        Progress { run: Uuid::from_u128(7), sequence, epoch: 1, offset: sequence, time: 5 }
    }

    fn name(instance: &str) -> InstanceName {
        ("plant".into(), instance.into())
    }

    fn sending(instance: &str, sequence: u64) -> Vec<(Arc<str>, Arc<str>, Progress)> {
        vec![("plant".into(), instance.into(), progress(sequence))]
    }

    #[test]
    fn after_a_crash_only_the_last_request_is_in_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut journal = Journal::open(&path).unwrap();
        journal.begin(sending("pump", 3)).unwrap();
        journal.answer(&[name("pump")]).unwrap();
        journal.begin(sending("tank", 4)).unwrap();
        journal.answer(&[name("tank")]).unwrap();
        journal.begin(sending("pump", 8)).unwrap();
        drop(journal);

        // A crash cuts a line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\"ans").unwrap();
        for _ in 0..2 {
            let journal = Journal::open(&path).unwrap();
            let pump = InstanceRecord { sent: Some(progress(3)), in_doubt: Some(progress(8)) };
            assert_eq!(journal.record(&name("pump")), pump);
            let tank = InstanceRecord { sent: Some(progress(4)), in_doubt: None };
            assert_eq!(journal.record(&name("tank")), tank);
            assert_eq!(journal.record(&name("other")), InstanceRecord::default());
        }
    }

    #[test]
    fn a_file_that_is_long_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut journal = Journal::open(&path).unwrap();
        journal.bytes = MAX_JOURNAL_BYTES;
        journal.begin(sending("pump", 3)).unwrap();
        journal.answer(&[name("pump")]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().record(&name("pump")).sent, Some(progress(3)));
    }

    #[test]
    fn without_a_file_it_is_kept_in_memory() {
        let mut journal = Journal::open(Path::new("")).unwrap();
        journal.begin(sending("pump", 3)).unwrap();
        journal.answer(&[name("pump")]).unwrap();
        assert_eq!(journal.record(&name("pump")).sent, Some(progress(3)));
        journal.retain(|_| false);
        assert_eq!(journal.record(&name("pump")).sent, None);
    }
}
