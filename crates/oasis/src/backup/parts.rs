//! The data that a DAC keeps, by its configuration: folders and files, with their places in a backup.

use crate::config::Config;
use anyhow::Context;
use oasis_backup::Setting;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The configuration file in a backup.
pub const CONFIG: &str = "oasis.toml";
/// Settings that are folders of a part of their own.
pub const FOLDERS: [&str; 6] = [
    "archive/directory",
    "access/directory",
    "channel/settings_dir",
    "doors/layouts_dir",
    "rules/directory",
    "tls/ca_directory",
];

/// A folder or file.
#[derive(Debug)]
pub struct Part {
    /// Its place in the backup.
    pub place: String,
    pub source: Source,
}

#[derive(Debug)]
pub enum Source {
    File(PathBuf),
    Folder(PathBuf),
    Archive(PathBuf),
}

impl Part {
    pub fn path(&self) -> &Path {
        match &self.source {
            Source::File(path) | Source::Folder(path) | Source::Archive(path) => path,
        }
    }
}

/// All parts.
#[derive(Debug, Default)]
pub struct Parts {
    /// Alarms come before the archive: an earlier state of rules evaluates some samples again.
    pub all: Vec<Part>,
    /// Settings by section and key, with their places.
    pub settings: BTreeMap<String, Setting>,
}

impl Parts {
    /// Returns the parts of a DAC with this configuration. `file` is the configuration file, if there is one.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of(config: &Config, file: Option<&Path>) -> anyhow::Result<Self> {
        let mut parts = Self::default();
        if let Some(access) = config.access.folder() {
            parts.add("access/directory", "access", Source::Folder(access));
        }
        if let Some(rules) = config.rules_directory() {
            parts.add("rules/directory", "rules", Source::Folder(rules.into()));
        }
        if let Some(settings) = config.settings_directory() {
            parts.add("channel/settings_dir", "settings", Source::Folder(settings));
        }
        if let Some(layouts) = config.layouts_directory() {
            parts.add("doors/layouts_dir", "layouts", Source::Folder(layouts.into()));
        }
        let ca = PathBuf::from(&config.tls.ca_directory);
        parts.add("tls/ca_directory", "ca", Source::Folder(ca));
        parts.add_rules(config);
        if let Some(file) = file {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            let table: toml::Table = text.parse().with_context(|| format!("in {}", file.display()))?;
            parts.all.push(Part { place: CONFIG.into(), source: Source::File(file.to_owned()) });
            parts.add_files(&table, "");
        }
        parts.add("archive/directory", "archive", Source::Archive(config.archive.directory.clone().into()));
        Ok(parts)
    }

    /// Adds a folder if it is there.
    fn add(&mut self, setting: &str, place: &str, source: Source) {
        let part = Part { place: place.to_owned(), source };
        if !part.path().as_os_str().is_empty() && part.path().is_dir() {
            self.settings.insert(setting.to_owned(), Setting::One(place.to_owned()));
            self.all.push(part);
        }
    }

    /// Adds the files and folders of rules that the configuration names.
    fn add_rules(&mut self, config: &Config) {
        let mut places = Vec::new();
        for (number, path) in (1..).zip(&config.rules.files) {
            let path = PathBuf::from(path);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let place = format!("rule-files/{number}/{name}");
            let source = if path.is_dir() { Source::Folder(path) } else { Source::File(path) };
            self.all.push(Part { place: place.clone(), source });
            places.push(place);
        }
        if !places.is_empty() {
            self.settings.insert("rules/files".to_owned(), Setting::Many(places));
        }
    }

    /// Adds certificates, keys, tokens and passwords in files that a table names.
    fn add_files(&mut self, table: &toml::Table, above: &str) {
        for (key, value) in table {
            let setting = if above.is_empty() { key.clone() } else { format!("{above}/{key}") };
            match value {
                toml::Value::Table(table) => self.add_files(table, &setting),
                toml::Value::String(path) if is_file_setting(key) && !FOLDERS.contains(&&*setting) => {
                    let path = PathBuf::from(path);
                    if path.is_file() {
                        let name = path.file_name().unwrap_or_default().to_string_lossy();
                        let place = format!("files/{setting}/{name}");
                        self.settings.insert(setting, Setting::One(place.clone()));
                        self.all.push(Part { place, source: Source::File(path) });
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_file_setting(key: &str) -> bool {
    ["certificate", "key", "ca", "node_ca", "follow_ca"].contains(&key) || key.ends_with("_file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_configuration_names_is_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for name in ["samples", "samples-rules", "samples-settings", "access", "layouts", "ca", "more.d"] {
            fs::create_dir(at(name)).unwrap();
        }
        for name in ["dac.pem", "dac.key", "plant.rules", "relay.token"] {
            fs::write(at(name), "x").unwrap();
        }
        let text = format!(
            "[tls]\ncertificate = {:?}\nkey = {:?}\nca_directory = {:?}\n[relay]\ntoken_file = {:?}\n[rules]\nfiles = [{:?}, {:?}]\n\
             [archive]\ndirectory = {:?}\n[access]\ndirectory = {:?}\n[doors]\nlayouts_dir = {:?}\n",
            at("dac.pem"),
            at("dac.key"),
            at("ca"),
            at("relay.token"),
            at("plant.rules"),
            at("more.d"),
            at("samples"),
            at("access"),
            at("layouts"),
        );
        let file = folder.path().join("oasis.toml");
        fs::write(&file, &text).unwrap();
        let parts = Parts::of(&toml::from_str(&text).unwrap(), Some(&file)).unwrap();
        let places: Vec<_> = parts.all.iter().map(|part| &*part.place).collect();
        let expected = [
            "access",
            "rules",
            "settings",
            "layouts",
            "ca",
            "rule-files/1/plant.rules",
            "rule-files/2/more.d",
            "oasis.toml",
            "files/relay/token_file/relay.token",
            "files/tls/certificate/dac.pem",
            "files/tls/key/dac.key",
            "archive",
        ];
        assert_eq!(places, expected);
        assert_eq!(parts.settings.len(), 10);
    }
}
