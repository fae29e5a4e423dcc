//! Makes the word indexes that are missing, and removes those of files that are gone.

use crate::{
    config::ArchiveConfig,
    recovery,
    store::{ReadError, Store},
    words,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    sync::atomic::{AtomicBool, Ordering},
};

/// Progress of word indexes in this process.
#[derive(Debug, Default)]
pub struct Indexing {
    /// Files that have an index, need none, or cannot have one.
    settled: BTreeSet<u64>,
    /// Bytes of each index.
    made: BTreeMap<u64, u64>,
    has_tidied: bool,
}

impl Indexing {
    /// Makes the indexes of the files that were sealed since the last round and stay as they are, while the disk has the configured room.
    ///
    /// # Errors
    /// If catalogue or folder cannot be read.
    pub fn round(
        &mut self,
        store: &Store,
        config: &ArchiveConfig,
        is_over: &AtomicBool,
        stays: impl Fn(u64) -> bool,
    ) -> Result<(), ReadError> {
        let listed: BTreeSet<u64> = store.catalogue().segment_numbers()?.into_iter().collect();
        self.settled.retain(|number| listed.contains(number));
        self.made.retain(|number, _| listed.contains(number));
        if listed.iter().all(|number| self.settled.contains(number)) {
            return Ok(());
        }
        if !self.has_tidied {
            tidy(store, &listed)?;
            self.has_tidied = true;
        }
        let with_texts = store.catalogue().segments_with(words::has_texts)?;
        for number in listed.into_iter().filter(|number| stays(*number)) {
            if is_over.load(Ordering::Relaxed)
                || !store.free_bytes().is_ok_and(|free| free >= config.min_free_bytes)
            {
                return Ok(());
            }
            let is_wanted = !self.settled.contains(&number) && with_texts.contains(&number);
            if is_wanted && words::WordIndex::open(&store.directory, number).is_none() {
                // Without an index a search reads the whole file, so the next start is soon enough for another attempt.
                if let Err(error) = words::of_segment(&store.directory, number) {
                    if !is_listed(store, number)? {
                        // Retention has evicted the file meanwhile.
                        continue;
                    }
                    tracing::warn!(file = %words::path(&store.directory, number).display(), %error, "cannot make the word index of a segment file");
                    store.counters.lock().word_index_failures += 1;
                }
            }
            if let Ok(index) = fs::metadata(words::path(&store.directory, number)) {
                self.made.insert(number, index.len());
            }
            self.settled.insert(number);
        }
        Ok(())
    }

    /// Returns the number of indexes, and their bytes.
    pub fn size(&self) -> (u64, u64) {
        (self.made.len() as u64, self.made.values().sum())
    }
}

fn is_listed(store: &Store, number: u64) -> Result<bool, ReadError> {
    Ok(store.catalogue().segment_numbers()?.contains(&number))
}

/// Removes indexes without a segment file, and unfinished ones.
fn tidy(store: &Store, listed: &BTreeSet<u64>) -> io::Result<()> {
    for entry in fs::read_dir(&store.directory)? {
        let path = entry?.path();
        let name = recovery::file_name(&path);
        let number = name.strip_suffix(".owords").and_then(|number| number.parse().ok());
        if name.ends_with(".owords.part") || number.is_some_and(|number: u64| !listed.contains(&number)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Series,
        catalogue::SealedFile,
        open,
        segment_file::{self, SegmentFile},
    };
    use oasis_wire::{
        batch::{Encoder, Fields, stamp},
        probe_kind::ProbeKind,
        quantity::{Epoch, Nanos, Offset, TopicId},
        schema::ProbeType,
        value::RowWriter,
    };
    use std::{path::Path, sync::Arc};
    use uuid::Uuid;

    /// Writes a segment file with a text, and lists it.
    fn add_segment(store: &Store, folder: &Path, number: u64) {
        let json = r#"{"name": "Log", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0",
            "metrics": [{"name": "message", "type": "string"}]}"#;
        let probe_type: Arc<ProbeType> = Arc::new(serde_json::from_str(json).unwrap());
        let (mut row, mut batch) = (Vec::new(), Vec::new());
        RowWriter::new(&mut row).string("pump failed");
        let mut encoder = Encoder::new(&probe_type).unwrap();
        encoder.push(number, &row).unwrap();
        encoder.finish(Fields { topic: 1, first_sequence: number, ..Fields::default() }, &mut batch);
        stamp(&mut batch, number - 1, number);
        let (run, epoch, kind) = (Uuid::nil(), Epoch(1), ProbeKind::Pushed);
        let series = Series { node: "plant".into(), instance: "log".into(), kind, run, epoch, probe_type };
        let mut file = SegmentFile::create(folder, number, epoch).unwrap();
        file.stage((TopicId(1), run), || series, &batch, (Offset(number - 1), 1)).unwrap();
        file.finish_writing().unwrap();
        file.commit().unwrap();
        let bytes = file.seal().unwrap();
        let (index, window) = (file.open.index(), store.limits.around(Nanos(1), Nanos(1)));
        let (created, sealed) = (file.created(), Nanos(1));
        let sealed = SealedFile { number, rule: "*", created, sealed, bytes, index: &index, window };
        store.catalogue().add(&sealed).unwrap();
    }

    #[test]
    fn a_file_that_is_evicted_before_it_has_an_index_is_no_failure_and_one_that_is_missing_is() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            ArchiveConfig { directory: folder.path().display().to_string(), ..ArchiveConfig::default() };
        let opened = open(config).unwrap();
        let store = &opened.store;
        (1..=3).for_each(|number| add_segment(store, folder.path(), number));
        let mut indexing = Indexing::default();
        let remove = |number| fs::remove_file(segment_file::path(folder.path(), number)).unwrap();
        // Right before its turn.
        let evict = |number: u64| {
            if number < 3 {
                remove(number);
            }
            if number == 1 {
                store.catalogue().expire(number).unwrap();
            }
            true
        };
        indexing.round(store, &opened.config, &AtomicBool::new(false), evict).unwrap();
        assert_eq!(store.counters.lock().word_index_failures, 1, "that of the second one");
        assert_eq!(indexing.size().0, 1, "that of the third one");
    }
}
