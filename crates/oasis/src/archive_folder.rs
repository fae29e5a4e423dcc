//! The archive of a command: from a flag, the environment, or the configuration file of the DAC.

use crate::{config::Config, usual_archive::usual_archive};
use anyhow::{Context, bail};
use clap::Args;
use oasis_format::visible::Visible;
use oasis_store::ArchiveConfig;
use std::{
    path::{Path, PathBuf},
    sync::Once,
};

#[derive(Debug, Args)]
pub struct ArchiveFolder {
    /// Folder of the archive [default: archive.directory of the configuration file, else that of oasis up: ~/.local/share/oasis/archive].
    #[arg(long, value_name = "DIR", env = "OASIS_ARCHIVE")]
    archive: Option<String>,
    /// Configuration file of the DAC; --archive and OASIS_ARCHIVE override its archive.directory [default: oasis/oasis.toml in ~/.config, if it exists].
    #[arg(long, value_name = "FILE", env = "OASIS_CONFIG")]
    config: Option<PathBuf>,
}

impl ArchiveFolder {
    /// The configuration file, if one is named.
    pub fn config_file(&self) -> Option<PathBuf> {
        self.config.clone()
    }

    #[cfg(feature = "live")]
    /// Whether a flag, the environment or a configuration file names it.
    pub fn is_named(&self) -> bool {
        self.archive.as_ref().is_some_and(|directory| !directory.is_empty()) || self.config.is_some()
    }

    /// The folder. Without a name for it, standard error tells once which one is used.
    ///
    /// # Errors
    /// If none is configured, or it is a file.
    pub fn find(&self) -> anyhow::Result<PathBuf> {
        Ok(self.read_config()?.directory.into())
    }

    /// The settings of the archive, with its folder.
    ///
    /// # Errors
    /// As [`ArchiveFolder::find`].
    pub fn read_config(&self) -> anyhow::Result<ArchiveConfig> {
        let flag = self.archive.as_ref().filter(|directory| !directory.is_empty());
        let mut config = Config::read(self.config.as_deref())?.archive;
        if let Some(directory) = flag {
            config.directory.clone_from(directory);
        }
        if config.directory.is_empty() {
            config.directory = usual().context(
                "no archive is named, and oasis up has kept none in ~/.local/share/oasis/archive: use --archive DIR (OASIS_ARCHIVE), or --config FILE (OASIS_CONFIG) with archive.directory",
            )?;
            static TOLD: Once = Once::new();
            TOLD.call_once(|| eprintln!("archive: {}", Visible(&config.directory)));
        }
        if Path::new(&config.directory).is_file() {
            bail!("{} is a file: an archive is a folder", config.directory);
        }
        Ok(config)
    }
}

/// The archive of `oasis up`, if it has been kept.
pub fn usual() -> Option<String> {
    let folder = usual_archive().filter(|folder| folder.is_dir())?;
    Some(folder.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("oasis.toml");
        std::fs::write(&file, "[archive]\ndirectory = \"of-file\"\ncommit_ms = 7\n").unwrap();
        let found = |archive: Option<&str>, config: Option<&Path>| {
            let named =
                ArchiveFolder { archive: archive.map(str::to_owned), config: config.map(Path::to_owned) };
            named.read_config().map_err(|error| error.to_string())
        };
        let of_both = found(Some("of-flag"), Some(&file)).unwrap();
        assert_eq!((&*of_both.directory, of_both.commit_ms), ("of-flag", 7));
        for flag in [None, Some("")] {
            assert_eq!(found(flag, Some(&file)).unwrap().directory, "of-file");
        }
        assert!(found(file.to_str(), None).unwrap_err().contains("is a file"));
    }
}
