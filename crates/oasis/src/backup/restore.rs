//! `oasis restore`: a backup becomes a folder that a DAC can start from.

use super::parts::{CONFIG, FOLDERS};
use crate::progress::Progress;
use anyhow::Context;
use clap::Args;
use oasis_backup::{Manifest, Setting};
use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};
use toml::{Table, Value};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The backup; - for standard input.
    backup: PathBuf,
    /// Folder to restore it into, which does not exist or is empty.
    #[arg(short, long, value_name = "DIR", alias = "to")]
    output: PathBuf,
}

/// Restores a backup.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let from: Box<dyn Read> = match arguments.backup == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(
            File::open(&arguments.backup)
                .with_context(|| format!("cannot read the backup {}", arguments.backup.display()))?,
        ),
    };
    let target = std::path::absolute(&arguments.output)?;
    let mut progress = Progress::new();
    let show = |bytes: u64| progress.show(|| format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0)));
    let settle = |folder: &Path, manifest: &Manifest| settle(folder, &target, manifest);
    let manifest = oasis_backup::restore(BufReader::new(from), &target, settle, show)
        .with_context(|| format!("cannot restore {}", arguments.backup.display()))?;
    progress.clear();
    println!("{} files of {} are in {}", manifest.files.len(), manifest.software, target.display());
    println!("Start it: oasis dac --config {}", target.join(CONFIG).display());
    Ok(())
}

/// Writes the configuration with the new paths; the original stays beside it.
fn settle(folder: &Path, target: &Path, manifest: &Manifest) -> io::Result<()> {
    let file = folder.join(CONFIG);
    let original = match fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let mut table: Table = original.parse().map_err(io::Error::other)?;
    for (setting, places) in &manifest.settings {
        let path = |place: &String| Value::String(target.join(place).display().to_string());
        let value = match places {
            Setting::One(place) => path(place),
            Setting::Many(places) => Value::Array(places.iter().map(path).collect()),
        };
        set(&mut table, setting, value);
    }
    // A folder that the backup lacks would be shared with the DAC that the backup was made of.
    for setting in FOLDERS.into_iter().filter(|setting| !manifest.settings.contains_key(*setting)) {
        if let Some((section, key)) = setting.split_once('/')
            && let Some(Value::Table(section)) = table.get_mut(section)
        {
            section.remove(key);
        }
    }
    if !original.is_empty() {
        fs::rename(&file, folder.join("oasis.original.toml"))?;
    }
    let text = toml::to_string(&table).map_err(io::Error::other)?;
    let about = "# Restored by `oasis restore`: the settings of the backup, with the paths of this folder.\n";
    oasis_backup::write_private(&file, format!("{about}{text}").as_bytes())
}

/// Sets a value by section and key.
fn set(table: &mut Table, setting: &str, value: Value) {
    match setting.split_once('/') {
        None => drop(table.insert(setting.to_owned(), value)),
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_backup_lacks_is_not_shared_with_the_original() {
        let folder = tempfile::tempdir().unwrap();
        let original = "[archive]\ndirectory = \"/plant/samples\"\ncommit_ms = 7\n[channel]\nsettings_dir = \"/plant/settings\"\n";
        fs::write(folder.path().join(CONFIG), original).unwrap();
        let mut manifest = Manifest::default();
        manifest.settings.insert("archive/directory".into(), Setting::One("archive".into()));
        settle(folder.path(), Path::new("/restored"), &manifest).unwrap();
        let settled: Table = fs::read_to_string(folder.path().join(CONFIG)).unwrap().parse().unwrap();
        assert_eq!(settled["archive"]["directory"].as_str(), Some("/restored/archive"));
        assert_eq!(settled["archive"]["commit_ms"].as_integer(), Some(7));
        assert!(settled["channel"].get("settings_dir").is_none(), "{settled}");
        assert_eq!(fs::read_to_string(folder.path().join("oasis.original.toml")).unwrap(), original);
    }
}
