//! Store of the last sample of each instance, between handler and web server.

use super::OutletKind;
use anyhow::bail;
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::UNIX_EPOCH,
};

/// One store.
#[derive(Debug)]
pub struct Store {
    place: Backend,
}

#[derive(Debug)]
enum Backend {
    Files(PathBuf),
    Memory(Mutex<HashMap<String, (u64, String)>>),
    /// For the handler, and for the web server: a process each in the publications' design.
    Database {
        writes: Mutex<Connection>,
        reads: Mutex<Connection>,
    },
}

/// Which sample of an instance a reader has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Version(u128);

impl Store {
    /// Opens a store in a folder that is there.
    pub fn open(kind: OutletKind, folder: &Path) -> anyhow::Result<Self> {
        let place = match kind {
            OutletKind::File => {
                let files = folder.join("ajax");
                fs::create_dir_all(&files)?;
                Backend::Files(files)
            }
            OutletKind::Memory => Backend::Memory(Mutex::default()),
            OutletKind::Database => {
                let file = folder.join("ajax.sqlite");
                let writes = Connection::open(&file)?;
                writes.execute_batch(
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                     CREATE TABLE IF NOT EXISTS newest (instance TEXT PRIMARY KEY, version INTEGER NOT NULL, record TEXT NOT NULL);",
                )?;
                Backend::Database { writes: Mutex::new(writes), reads: Mutex::new(Connection::open(&file)?) }
            }
            OutletKind::Binary | OutletKind::Events | OutletKind::SocketIo | OutletKind::Foxglove => {
                bail!("{kind} has no store")
            }
        };
        Ok(Self { place })
    }

    /// Puts the newest record of an instance in the place of the one before.
    pub fn put(&self, instance: &str, record: &str) -> anyhow::Result<()> {
        match &self.place {
            // A reader that comes during the write finds less than a line, and reads again.
            Backend::Files(folder) => fs::write(file(folder, instance), format!("{record}\n"))?,
            Backend::Memory(records) => {
                let mut records = lock(records);
                let newest = records.entry(instance.to_owned()).or_default();
                newest.0 += 1;
                record.clone_into(&mut newest.1);
            }
            Backend::Database { writes, .. } => {
                let writes = lock(writes);
                let mut put = writes.prepare_cached(
                    "INSERT INTO newest VALUES (?1, 1, ?2)
                     ON CONFLICT (instance) DO UPDATE SET version = version + 1, record = excluded.record",
                )?;
                put.execute(params![instance, record])?;
            }
        }
        Ok(())
    }

    /// Returns the newest record if it is not the one that the reader has.
    pub fn read_newer(&self, instance: &str, seen: &mut Version) -> anyhow::Result<Option<String>> {
        let newest = match &self.place {
            Backend::Files(folder) => changed_file(&file(folder, instance), *seen)?,
            Backend::Memory(records) => {
                let records = lock(records);
                records.get(instance).map(|(version, record)| (Version((*version).into()), record.clone()))
            }
            Backend::Database { reads, .. } => {
                let reads = lock(reads);
                let mut query =
                    reads.prepare_cached("SELECT version, record FROM newest WHERE instance = ?")?;
                let row =
                    query.query_row([instance], |row| Ok((row.get::<_, u32>(0)?, row.get(1)?))).optional()?;
                row.map(|(version, record)| (Version(version.into()), record))
            }
        };
        Ok(newest.filter(|(version, _)| version != seen).map(|(version, record)| {
            *seen = version;
            record
        }))
    }
}

fn file(folder: &Path, instance: &str) -> PathBuf {
    folder.join(format!("{}.json", instance.replace(['/', '\0'], "_")))
}

/// Returns the time and the line of a file that was changed after this time. None while it is being written.
fn changed_file(path: &Path, seen: Version) -> io::Result<Option<(Version, String)>> {
    let changed = match fs::metadata(path) {
        Ok(metadata) => {
            Version(metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if changed == seen {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    Ok(text.strip_suffix('\n').map(|record| (changed, record.to_owned())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_the_newest_record_once_for_each_reader() {
        let folder = tempfile::tempdir().expect("a folder");
        for kind in [OutletKind::File, OutletKind::Memory, OutletKind::Database] {
            let store = Store::open(kind, folder.path()).expect("a store");
            let (mut one, mut other) = (Version::default(), Version::default());
            assert_eq!(store.read_newer("a/b", &mut one).expect("a read"), None, "{kind:?}");
            store.put("a/b", "{\"sequence\":1}").expect("room");
            // Files have the time of the kernel's last tick.
            std::thread::sleep(std::time::Duration::from_millis(20));
            store.put("a/b", "{\"sequence\":2}").expect("room");
            for reader in [&mut one, &mut other] {
                let newest = store.read_newer("a/b", reader).expect("a read");
                assert_eq!(newest.as_deref(), Some("{\"sequence\":2}"), "{kind:?}");
                assert_eq!(store.read_newer("a/b", reader).expect("a read"), None, "{kind:?}");
            }
        }
    }
}
