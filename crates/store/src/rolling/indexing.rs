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

/// What was done for word indexes in this process.
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

    /// How many indexes there are, and their bytes.
    pub fn size(&self) -> (u64, u64) {
        (self.made.len() as u64, self.made.values().sum())
    }
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
