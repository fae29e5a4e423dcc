//! Data that lasts beyond a run of a node: kept settings and labels.
//!
//! A [`Settings`] book has them by the names of node and instance, in memory and, if it has a directory, in a file for each node. Once a
//! node registers, `apply` sends the kept settings of its instances as commands. `program` knows what the program has declared, so
//! that a reset returns to it.

mod apply;
mod file;
mod labels;
mod program;
mod shown;
mod state;
mod value;

pub(crate) use apply::start as start_applying;
pub use labels::{Label, LabelError, LabelFilter, LabelMap, MOST_LABELS, are_valid, check_key, check_label};
pub(crate) use program::Program;
pub use state::{KeptCondition, KeptState, LabelsAndSettings, SettingState};
pub use value::SettingValue;
pub(crate) use value::setting_of;

use oasis_channel::Failure;
use oasis_wire::{command::SettingName, quantity::Nanos};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Settings and labels of all nodes together.
pub const MOST_ENTRIES: usize = 100_000;
/// Memory for all of them, in bytes.
pub const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Kept settings of one instance.
pub const MOST_OF_INSTANCE: usize = 64;
/// Cost of an entry besides its texts, in bytes.
const ENTRY_BYTES: usize = 128;

/// A setting that is kept for the runs of a node that follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptSetting {
    /// Its value.
    pub value: SettingValue,
    /// Principal that keeps it.
    pub by: String,
    /// Since when, on the DAC's clock.
    pub at: Nanos,
    /// The last run of the node that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Uuid>,
    /// Why a run of the node does not have it.
    #[serde(skip)]
    pub problem: Option<Failure>,
}

/// Kept settings and labels of an instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InstanceSettings {
    /// Labels by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Label>,
    /// Settings by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<SettingName, KeptSetting>,
}

/// Kept settings and labels of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeSettings {
    /// Labels by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Label>,
    /// Its instances by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instances: BTreeMap<String, InstanceSettings>,
}

/// Why something is not kept.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// There is no room.
    #[error(
        "this DAC keeps {MOST_ENTRIES} settings and labels, or {MOST_BYTES} bytes of them: reset or forget some first"
    )]
    Full,
    /// The instance has no room.
    #[error("this instance has {MOST_OF_INSTANCE} kept settings: reset one first")]
    TooMany,
    /// A label is refused.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// The file cannot be written.
    #[error("it cannot be written to {path}: {source} (channel.settings_dir)", path = .path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Settings and labels of all nodes.
#[derive(Debug)]
pub struct Settings {
    /// Directory of the files, if there are any. A change locks it before `book`: one change at a time.
    directory: Mutex<Option<PathBuf>>,
    /// Locked for bookkeeping only, never during I/O.
    book: Mutex<Book>,
    /// Rises with each change.
    revision: AtomicU64,
    /// Receives names of nodes that have registered.
    registered: mpsc::UnboundedSender<Arc<str>>,
}

#[derive(Debug, Default)]
struct Book {
    nodes: BTreeMap<Arc<str>, Arc<NodeSettings>>,
    size: Size,
    /// Nodes to which settings are being sent, and whether they have registered once more since.
    applying: HashMap<Arc<str>, bool>,
}

/// Entries, and the bytes that they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Size {
    entries: usize,
    bytes: usize,
}

impl Settings {
    /// Creates an empty book in memory.
    pub(crate) fn new(registered: mpsc::UnboundedSender<Arc<str>>) -> Self {
        Self { directory: Mutex::default(), book: Mutex::default(), revision: AtomicU64::new(0), registered }
    }

    /// Reads the files of a directory, which is created if it is missing, and keeps everything there from now on. Called once, before nodes
    /// connect.
    ///
    /// # Errors
    /// If the directory cannot be read or created.
    pub fn open(&self, directory: &Path) -> io::Result<()> {
        let mut place = lock(&self.directory);
        let mut book = lock(&self.book);
        for (node, settings) in file::read_all(directory)? {
            let size = book.size.plus(Size::of(&settings));
            if size.is_too_large() {
                tracing::warn!(directory = %directory.display(), node, "more settings than a DAC keeps; the rest is left alone");
                break;
            }
            book.size = size;
            book.nodes.insert(node.into(), Arc::new(settings));
        }
        *place = Some(directory.to_owned());
        Ok(())
    }

    /// Returns whether what is kept outlives this process.
    pub fn is_on_disk(&self) -> bool {
        lock(&self.directory).is_some()
    }

    /// Returns a number that rises with each change.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Returns what is kept of a node.
    pub fn of_node(&self, node: &str) -> Option<Arc<NodeSettings>> {
        self.book().nodes.get(node).cloned()
    }

    /// Returns everything, by node.
    pub fn all(&self) -> Vec<(Arc<str>, Arc<NodeSettings>)> {
        self.book().nodes.iter().map(|(node, settings)| (node.clone(), settings.clone())).collect()
    }

    /// Returns what labels and settings of a node, or of one of its instances, take in a message, in bytes and about.
    pub(crate) fn shown_bytes(&self, node: &str, instance: Option<&str>) -> usize {
        let Some(settings) = self.of_node(node) else { return 0 };
        match instance {
            None => Size::of_labels(&settings.labels).bytes,
            Some(instance) => settings.instances.get(instance).map_or(0, |of| Size::of_instance(of).bytes),
        }
    }

    /// Keeps a setting, in place of one with the same name. Blocks while a file is written.
    ///
    /// # Errors
    /// If there is no room, or it cannot be written.
    pub fn keep(
        &self,
        (node, instance): (&str, &str),
        name: SettingName,
        setting: KeptSetting,
    ) -> Result<(), SettingsError> {
        self.change(node, |settings| {
            let of = settings.instances.entry(instance.into()).or_default();
            if of.kept.len() >= MOST_OF_INSTANCE && !of.kept.contains_key(&name) {
                return Err(SettingsError::TooMany);
            }
            of.kept.insert(name, setting);
            Ok(())
        })
    }

    /// Forgets settings of an instance, all without names. Blocks while a file is written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn reset(
        &self,
        (node, instance): (&str, &str),
        name: Option<&SettingName>,
    ) -> Result<(), SettingsError> {
        self.change(node, |settings| {
            if let Some(of) = settings.instances.get_mut(instance) {
                of.kept.retain(|kept, _| name.is_some_and(|name| name != kept));
            }
            Ok(())
        })
    }

    /// Sets labels of a node, or of one of its instances; those without a value are removed. Blocks while a file is written.
    ///
    /// # Errors
    /// If a label is refused, there is no room, or it cannot be written.
    pub fn label(
        &self,
        (node, instance): (&str, Option<&str>),
        labels: &BTreeMap<String, Option<String>>,
        (by, at): (&str, Nanos),
    ) -> Result<(), SettingsError> {
        self.change(node, |settings| {
            let of = match instance {
                None => &mut settings.labels,
                Some(instance) => &mut settings.instances.entry(instance.into()).or_default().labels,
            };
            for (key, value) in labels {
                let Some(value) = value else {
                    of.remove(key);
                    continue;
                };
                check_label(key, value)?;
                // The principal that set it stays, as long as the value does.
                if of.get(key).is_none_or(|known| known.value != *value) {
                    of.insert(key.clone(), Label { value: value.clone(), by: by.into(), at });
                }
            }
            if of.len() > MOST_LABELS { Err(LabelError::TooMany.into()) } else { Ok(()) }
        })
    }

    /// Forgets all of a node, or of one of its instances. Blocks while a file is written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget(&self, node: &str, instance: Option<&str>) -> Result<(), SettingsError> {
        self.change(node, |settings| {
            match instance {
                None => *settings = NodeSettings::default(),
                Some(instance) => drop(settings.instances.remove(instance)),
            }
            Ok(())
        })
    }

    /// Notes which settings a run of a node has, and why it does not have others. Blocks while a file is written.
    fn note_applied(
        &self,
        node: &str,
        results: &[(String, SettingName, SettingValue, Result<Uuid, Failure>)],
    ) -> Result<(), SettingsError> {
        self.change(node, |settings| {
            for (instance, name, value, result) in results {
                let of = settings.instances.get_mut(instance);
                let Some(kept) = of.and_then(|of| of.kept.get_mut(name)) else { continue };
                // Another value may have been kept meanwhile.
                if kept.value != *value {
                    continue;
                }
                match result {
                    Ok(run) => (kept.applied, kept.problem) = (Some(*run), None),
                    Err(failure) => kept.problem = Some(failure.clone()),
                }
            }
            Ok(())
        })
    }

    /// Returns the value that is kept.
    fn kept(&self, (node, instance): (&str, &str), name: &SettingName) -> Option<SettingValue> {
        let node = self.of_node(node)?;
        node.instances.get(instance)?.kept.get(name).map(|kept| kept.value)
    }

    /// Handles a node that has registered instances: their settings are sent to it.
    pub(crate) fn registered(&self, node: &str) {
        let mut book = self.book();
        let Some((name, _)) = book.nodes.get_key_value(node) else { return };
        let name = name.clone();
        if let Some(again) = book.applying.get_mut(&name) {
            *again = true;
            return;
        }
        book.applying.insert(name.clone(), false);
        drop(book);
        // Fails only if the DAC ends.
        let _ = self.registered.send(name);
    }

    /// Returns whether a node has registered more since its settings were read; if not, that has ended.
    fn applies_again(&self, node: &str) -> bool {
        let mut book = self.book();
        match book.applying.get_mut(node) {
            Some(again) if *again => {
                *again = false;
                true
            }
            _ => {
                book.applying.remove(node);
                false
            }
        }
    }

    /// Changes what is kept of a node. A file is written before the change is seen.
    fn change(
        &self,
        node: &str,
        edit: impl FnOnce(&mut NodeSettings) -> Result<(), SettingsError>,
    ) -> Result<(), SettingsError> {
        let directory = lock(&self.directory);
        let before = self.of_node(node).unwrap_or_default();
        let mut after = NodeSettings::clone(&before);
        edit(&mut after)?;
        after.instances.retain(|_, of| !(of.labels.is_empty() && of.kept.is_empty()));
        if after == *before {
            return Ok(());
        }
        let (was, is) = (Size::of(&before), Size::of(&after));
        let size = self.book().size.minus(was).plus(is);
        if is.exceeds(was) && size.is_too_large() {
            return Err(SettingsError::Full);
        }
        if let Some(directory) = &*directory {
            file::write(directory, node, &after)?;
        }
        let mut book = self.book();
        book.size = size;
        if after.is_empty() {
            book.nodes.remove(node);
        } else {
            book.nodes.insert(node.into(), Arc::new(after));
        }
        drop(book);
        self.revision.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }
}

impl NodeSettings {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.instances.is_empty()
    }
}

impl Size {
    fn of(settings: &NodeSettings) -> Self {
        let of_instance = |(name, of): (&String, &InstanceSettings)| {
            Self { entries: 0, bytes: name.len() }.plus(Self::of_instance(of))
        };
        let instances = settings.instances.iter().map(of_instance);
        instances.fold(Self::of_labels(&settings.labels), Self::plus)
    }

    fn of_labels(labels: &BTreeMap<String, Label>) -> Self {
        let texts = labels.iter().map(|(key, label)| key.len() + label.value.len() + label.by.len());
        Self { entries: labels.len(), bytes: texts.sum::<usize>() + labels.len() * ENTRY_BYTES }
    }

    fn of_instance(of: &InstanceSettings) -> Self {
        let texts = of.kept.iter().map(|(name, kept)| {
            let metric = if let SettingName::Deadband(metric) = name { metric.len() } else { 0 };
            metric + kept.problem.as_ref().map_or(0, |problem| problem.message.len()) + kept.by.len()
        });
        let kept = Self { entries: of.kept.len(), bytes: texts.sum::<usize>() + of.kept.len() * ENTRY_BYTES };
        kept.plus(Self::of_labels(&of.labels))
    }

    fn plus(self, other: Self) -> Self {
        Self { entries: self.entries + other.entries, bytes: self.bytes + other.bytes }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(other.entries),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    fn exceeds(self, other: Self) -> bool {
        self.entries > other.entries || self.bytes > other.bytes
    }

    fn is_too_large(self) -> bool {
        self.entries > MOST_ENTRIES || self.bytes > MOST_BYTES
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No operation under these locks leaves a partial state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
