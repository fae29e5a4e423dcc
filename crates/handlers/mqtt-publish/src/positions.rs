//! The positions up to which instances are published, in a file: the next run of the DAC continues there.

use oasis_wire::quantity::{Offset, Position};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
    sync::Arc,
};
use uuid::Uuid;

/// The file in the folder.
const FILE: &str = "positions.json";
/// Longest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// A place after a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The next sample in the history of the instance.
    pub at: Position,
    /// Run and number of the sample before it.
    pub last: Option<(Uuid, u64)>,
}

/// Node and instance.
pub type InstanceName = (Arc<str>, Arc<str>);

/// The marks of all instances.
#[derive(Debug)]
pub struct Positions {
    /// None without a folder: then nothing is remembered.
    file: Option<PathBuf>,
    marks: HashMap<InstanceName, Mark>,
    max_instances: usize,
    /// The number of the newest connection as an edge node of Sparkplug B.
    session: u8,
    is_changed: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    session: u8,
    instances: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    node: Arc<str>,
    instance: Arc<str>,
    /// `EPOCH:OFFSET`
    next: String,
    run: Option<Uuid>,
    sequence: u64,
}

impl Positions {
    /// Reads the file of a folder; nothing is remembered without one.
    ///
    /// # Errors
    /// If the folder cannot be made, or the file cannot be read.
    pub fn open(directory: &str, max_instances: usize) -> io::Result<Self> {
        let empty = Self { file: None, marks: HashMap::new(), max_instances, session: 0, is_changed: false };
        if directory.is_empty() {
            return Ok(empty);
        }
        fs::create_dir_all(directory)?;
        let file = PathBuf::from(directory).join(FILE);
        let document = match File::open(&file) {
            Ok(opened) => {
                let mut text = String::new();
                opened.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
                serde_json::from_str(&text).map_err(|error| {
                    let text = format!("{} is damaged ({error}): remove it", file.display());
                    io::Error::new(io::ErrorKind::InvalidData, text)
                })?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Document::default(),
            Err(error) => return Err(error),
        };
        let mark = |entry: Entry| {
            let last = entry.run.map(|run| (run, entry.sequence));
            Some(((entry.node, entry.instance), Mark { at: entry.next.parse().ok()?, last }))
        };
        let marks = document.instances.into_iter().filter_map(mark).collect();
        Ok(Self { file: Some(file), marks, session: document.session, ..empty })
    }

    /// Returns the mark of an instance.
    pub fn get(&self, name: &InstanceName) -> Option<Mark> {
        self.marks.get(name).copied()
    }

    /// Notes the mark of an instance.
    pub fn set(&mut self, name: &InstanceName, mark: Mark) {
        if self.file.is_none() || self.marks.get(name) == Some(&mark) {
            return;
        }
        self.is_changed = true;
        if let Some(known) = self.marks.get_mut(name) {
            *known = mark;
            return;
        }
        if self.marks.len() >= self.max_instances.saturating_mul(2) {
            // The earliest epoch is that of an instance which is gone for longest.
            let earliest = self.marks.iter().min_by_key(|(_, mark)| mark.at.epoch.0);
            if let Some(name) = earliest.map(|(name, _)| name.clone()) {
                self.marks.remove(&name);
            }
        }
        self.marks.insert(name.clone(), mark);
    }

    /// Returns the number of the next connection, and remembers it.
    pub fn next_session(&mut self) -> u8 {
        self.session = self.session.wrapping_add(1);
        self.is_changed = true;
        self.session
    }

    /// Writes the file if something has changed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&mut self) -> io::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_changed) else { return Ok(()) };
        let entry = |((node, instance), mark): (&InstanceName, &Mark)| Entry {
            node: node.clone(),
            instance: instance.clone(),
            next: mark.at.to_string(),
            run: mark.last.map(|(run, _)| run),
            sequence: mark.last.map_or(0, |(_, sequence)| sequence),
        };
        let document = Document { session: self.session, instances: self.marks.iter().map(entry).collect() };
        let text = serde_json::to_vec(&document)?;
        let unfinished = file.with_extension("json.new");
        let mut written = File::create(&unfinished)?;
        written.write_all(&text)?;
        written.sync_all()?;
        fs::rename(&unfinished, file)?;
        self.is_changed = false;
        Ok(())
    }
}

/// The position of a sample in a log or archive.
pub fn position(epoch: oasis_wire::quantity::Epoch, offset: u64) -> Position {
    Position { epoch, offset: Offset(offset) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Epoch;

    fn name(instance: &str) -> InstanceName {
        ("plant".into(), instance.into())
    }

    #[test]
    fn marks_outlive_the_process_and_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("a").display().to_string();
        let mut positions = Positions::open(&directory, 2).unwrap();
        let mark = |epoch, offset| Mark {
            at: position(Epoch(epoch), offset),
            last: Some((Uuid::from_u128(epoch.into()), offset)),
        };
        for epoch in 1..=5 {
            positions.set(&name(&epoch.to_string()), mark(epoch, 7));
        }
        assert_eq!(positions.next_session(), 1);
        positions.save().unwrap();
        let mut again = Positions::open(&directory, 2).unwrap();
        assert_eq!((again.get(&name("1")), again.get(&name("5"))), (None, Some(mark(5, 7))));
        assert_eq!((again.marks.len(), again.next_session()), (4, 2));
        fs::write(folder.path().join("a/positions.json"), "{").unwrap();
        assert!(Positions::open(&directory, 2).unwrap_err().to_string().contains("remove it"));
        assert_eq!(Positions::open("", 2).unwrap().get(&name("5")), None);
    }
}
