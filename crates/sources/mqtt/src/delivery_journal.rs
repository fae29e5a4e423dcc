//! Messages that the broker may send again, with their samples, in two files.
//!
//! A message has its record before the DAC gets its samples, and the archive knows which of them are stored. So a DAC that was killed between storing and
//! acknowledging recognizes the message when the broker sends it again. Answered pings remove records in two steps: the newer file becomes the older one,
//! and is removed with the next answer.

use oasis_source_node::SampleReference;
use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// The files of the folder.
const NEWER_FILE: &str = "deliveries.new";
const OLDER_FILE: &str = "deliveries.old";
/// Bytes of a record.
const RECORD_BYTES: usize = 64;
/// Most records of a file, as many as there are packet identifiers: an earlier message is acknowledged.
const MAX_RECORDS: usize = 1 << 16;
/// Answered pings of a connection after which the broker has sent all messages again.
const MAX_PINGS_OF_REPEATS: u32 = 2;

/// A delivery of a message with quality of service 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Its packet identifier.
    pub id: u16,
    /// The digest of topic and payload.
    pub digest: Uuid,
    /// Whether the broker may have sent it before.
    pub is_repeated: bool,
}

/// The newest messages of the broker's session.
#[derive(Debug, Default)]
pub struct DeliveryJournal {
    /// None without a folder: then nothing is recorded.
    folder: Option<PathBuf>,
    /// None after an error: the next record opens it again.
    newer: Option<File>,
    /// Records of the newer file.
    records: usize,
    has_older: bool,
    /// Messages of an earlier run of the handler: digest and samples of the newest one, by packet identifier.
    earlier: HashMap<u16, (Uuid, Vec<SampleReference>)>,
    answered_pings: u32,
    /// Why the newest record was not written.
    failure: Option<String>,
}

/// A record: a message, and samples of one instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    id: u16,
    digest: Uuid,
    /// Whether it is the first record of its message.
    is_first: bool,
    samples: SampleReference,
}

impl Record {
    fn encode(self) -> [u8; RECORD_BYTES] {
        let Self { id, digest, is_first, samples } = self;
        let SampleReference { instance, run, last_sequence, count } = samples;
        let mut bytes = [0; RECORD_BYTES];
        let numbers = u64::from(id) | u64::from(count) << 16 | u64::from(is_first) << 32;
        let words = [
            digest.as_u128(),
            instance.as_u128(),
            run.as_u128(),
            u128::from(last_sequence) << 64 | u128::from(numbers),
        ];
        for (to, word) in bytes.chunks_exact_mut(16).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8; RECORD_BYTES]) -> Self {
        let mut words = [0_u128; 4];
        for (word, from) in words.iter_mut().zip(bytes.chunks_exact(16)) {
            *word = from.try_into().map_or(0, u128::from_le_bytes);
        }
        let [digest, instance, run, numbers] = words;
        let samples = SampleReference {
            instance: Uuid::from_u128(instance),
            run: Uuid::from_u128(run),
            last_sequence: (numbers >> 64) as u64,
            count: (numbers >> 16) as u16,
        };
        Self {
            id: numbers as u16,
            digest: Uuid::from_u128(digest),
            is_first: numbers >> 32 & 1 != 0,
            samples,
        }
    }
}

impl DeliveryJournal {
    /// Reads the records of a folder; nothing is recorded without one. Errors are a [`DeliveryJournal::failure`]: messages are received without it, too.
    pub fn open(folder: &str) -> Self {
        let mut journal = Self::default();
        if !folder.is_empty() {
            journal.folder = Some(folder.into());
            let read = journal.read(Path::new(folder));
            journal.note(read);
        }
        journal
    }

    fn read(&mut self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        self.has_older = self.read_file(&folder.join(OLDER_FILE))? > 0;
        self.records = self.read_file(&folder.join(NEWER_FILE))?;
        Ok(())
    }

    /// Returns the number of records. A crash may have cut the last one.
    fn read_file(&mut self, path: &Path) -> io::Result<usize> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take((MAX_RECORDS * RECORD_BYTES) as u64).read_to_end(&mut bytes)?;
        let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
        for record in records.iter().map(Record::decode) {
            if record.is_first {
                self.earlier.insert(record.id, (record.digest, vec![record.samples]));
            } else if let Some((digest, samples)) = self.earlier.get_mut(&record.id)
                && *digest == record.digest
            {
                samples.push(record.samples);
            }
        }
        Ok(records.len())
    }

    /// Takes the samples of an earlier delivery of a message; there are none of a message that is new.
    pub fn take_earlier(&mut self, delivery: &Delivery) -> Vec<SampleReference> {
        // A new message has the identifier only once the broker has the acknowledgment of the earlier one.
        let earlier = self.earlier.remove(&delivery.id);
        let same = earlier.filter(|(digest, _)| delivery.is_repeated && *digest == delivery.digest);
        same.map_or_else(Vec::new, |(_, samples)| samples)
    }

    /// Records a message, before the DAC gets its samples.
    pub fn record(&mut self, delivery: &Delivery, samples: &[SampleReference]) {
        if self.folder.is_none() || samples.is_empty() {
            return;
        }
        let mut bytes = Vec::with_capacity(samples.len() * RECORD_BYTES);
        for (at, samples) in samples.iter().enumerate() {
            let Delivery { id, digest, .. } = *delivery;
            bytes.extend(Record { id, digest, is_first: at == 0, samples: *samples }.encode());
        }
        let written = self.append(&bytes);
        if written.is_err() {
            // The next record begins where this one would.
            self.newer = None;
        }
        self.note(written);
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let records = bytes.len() / RECORD_BYTES;
        if self.records + records > MAX_RECORDS {
            self.rotate()?;
        }
        let Some(folder) = &self.folder else { return Ok(()) };
        let newer = match &mut self.newer {
            Some(newer) => newer,
            None => {
                let file = OpenOptions::new().create(true).append(true).open(folder.join(NEWER_FILE))?;
                file.set_len((self.records * RECORD_BYTES) as u64)?;
                self.newer.insert(file)
            }
        };
        newer.write_all(bytes)?;
        self.records += records;
        Ok(())
    }

    /// Notes that the broker has answered a ping: it has the acknowledgments that were sent before.
    pub fn confirm(&mut self) {
        self.answered_pings = self.answered_pings.saturating_add(1);
        if self.answered_pings >= MAX_PINGS_OF_REPEATS {
            self.earlier = HashMap::new();
        }
        if self.records > 0 || self.has_older {
            let rotated = self.rotate();
            self.note(rotated);
        }
    }

    /// Notes that a connection begins, and whether the broker has kept the session. A new session has no messages of the old one.
    pub fn begin_connection(&mut self, session_present: bool) {
        self.answered_pings = 0;
        if session_present {
            return;
        }
        self.earlier = HashMap::new();
        for _ in 0..2 {
            let rotated = self.rotate();
            self.note(rotated);
        }
    }

    /// Replaces the older file by the newer one.
    fn rotate(&mut self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        self.newer = None;
        let (newer, older) = (folder.join(NEWER_FILE), folder.join(OLDER_FILE));
        if self.records > 0 {
            fs::rename(newer, older)?;
        } else if let Err(error) = fs::remove_file(older)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        self.has_older = self.records > 0;
        self.records = 0;
        Ok(())
    }

    fn note(&mut self, result: io::Result<()>) {
        self.failure = result.err().map(|error| error.to_string());
    }

    /// Why messages are not recorded at present.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(id: u16, payload: &str, is_repeated: bool) -> Delivery {
        Delivery { id, digest: Uuid::new_v5(&Uuid::NAMESPACE_OID, payload.as_bytes()), is_repeated }
    }

    fn samples(last_sequence: u64) -> SampleReference {
        let (instance, run) = (Uuid::from_u128(1), Uuid::from_u128(u128::MAX));
        SampleReference { instance, run, last_sequence, count: 3 }
    }

    fn open(folder: &tempfile::TempDir) -> DeliveryJournal {
        DeliveryJournal::open(folder.path().to_str().unwrap())
    }

    #[test]
    fn the_newest_message_of_an_identifier_is_known_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(&folder);
        journal.record(&delivery(1, "a", false), &[samples(u64::MAX)]);
        journal.record(&delivery(u16::MAX, "b", false), &[samples(2), samples(3)]);
        journal.record(&delivery(1, "a", false), &[samples(4)]);
        assert_eq!(journal.take_earlier(&delivery(1, "a", true)), [], "this run of the handler knows it");
        let file = folder.path().join(NEWER_FILE);
        OpenOptions::new().append(true).open(&file).unwrap().write_all(&[1; 63]).unwrap();

        let mut journal = open(&folder);
        assert_eq!(journal.take_earlier(&delivery(1, "a", true)), [samples(4)]);
        assert_eq!(journal.take_earlier(&delivery(1, "a", true)), [], "it is taken once");
        assert_eq!(journal.take_earlier(&delivery(u16::MAX, "b", true)), [samples(2), samples(3)]);
        journal.record(&delivery(2, "c", true), &[samples(5)]);
        assert_eq!(fs::metadata(&file).unwrap().len(), 5 * RECORD_BYTES as u64, "the cut record is gone");
        assert_eq!(open(&folder).take_earlier(&delivery(2, "c", true)), [samples(5)]);
        assert_eq!(journal.failure(), None);
    }

    #[test]
    fn a_message_with_other_bytes_or_without_the_flag_is_new() {
        let folder = tempfile::tempdir().unwrap();
        open(&folder).record(&delivery(1, "a", false), &[samples(1)]);
        assert_eq!(open(&folder).take_earlier(&delivery(1, "b", true)), []);
        let mut journal = open(&folder);
        assert_eq!(journal.take_earlier(&delivery(1, "a", false)), []);
        assert_eq!(journal.take_earlier(&delivery(1, "a", true)), [], "the identifier has another message");
    }

    #[test]
    fn two_answered_pings_and_a_new_session_forget() {
        let folder = tempfile::tempdir().unwrap();
        let is_known = |folder| !open(folder).take_earlier(&delivery(1, "a", true)).is_empty();
        let mut journal = open(&folder);
        journal.record(&delivery(1, "a", false), &[samples(1)]);
        journal.confirm();
        assert!(is_known(&folder), "it may have been acknowledged after the ping");
        journal.confirm();
        assert!(!is_known(&folder));
        journal.record(&delivery(1, "a", false), &[samples(2)]);
        journal.begin_connection(true);
        assert!(is_known(&folder));
        journal.begin_connection(false);
        assert!(!is_known(&folder));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn files_are_bounded_and_a_folder_that_fails_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(&folder);
        for number in 0..2 * MAX_RECORDS + 2 {
            journal.record(&delivery(number as u16, "a", false), &[samples(number as u64)]);
        }
        for file in [NEWER_FILE, OLDER_FILE] {
            assert!(
                fs::metadata(folder.path().join(file)).unwrap().len() <= (MAX_RECORDS * RECORD_BYTES) as u64
            );
        }
        assert_eq!(open(&folder).earlier.len(), MAX_RECORDS);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mut journal = DeliveryJournal::open(file.to_str().unwrap());
        assert!(journal.failure().is_some());
        journal.record(&delivery(1, "a", false), &[samples(1)]);
        assert!(journal.failure().is_some());
        let mut journal = DeliveryJournal::open("");
        journal.record(&delivery(1, "a", false), &[samples(1)]);
        journal.confirm();
        assert_eq!(journal.failure(), None);
    }
}
