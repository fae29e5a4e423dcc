//! The folder of accounts and audit log: from a flag, the environment, or the configuration file of the DAC.

use crate::config::Config;
use anyhow::bail;
use clap::Args;
use oasis_access::{AccessConfig, AuditLimits, AuditLog, Document, Store};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct AccessFolder {
    /// Folder of accounts and audit log [default: access.directory of the configuration file, or ~/.local/state/oasis/access].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS", global = true)]
    access: Option<PathBuf>,
    /// Configuration file of the DAC; --access and OASIS_ACCESS override its access.directory [default: oasis/oasis.toml in ~/.config, if it exists].
    #[arg(long, value_name = "FILE", env = "OASIS_CONFIG", global = true)]
    config: Option<PathBuf>,
}

/// The folder, and how long the audit log is kept.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    config: AccessConfig,
}

impl AccessFolder {
    /// As the flags --access and --config name it.
    pub fn of(access: Option<PathBuf>, config: Option<PathBuf>) -> Self {
        Self { access, config }
    }

    /// The folder that the flag or the environment names.
    #[cfg(feature = "live")]
    pub fn flag(&self) -> Option<PathBuf> {
        self.access.clone().filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether a flag or the environment names the folder, or a configuration file that does.
    #[cfg(feature = "live")]
    pub fn is_named(&self) -> bool {
        self.flag().is_some() || self.config.is_some()
    }

    /// The folder.
    ///
    /// # Errors
    /// If the configuration cannot be read, or the environment names no home.
    pub fn find(&self) -> anyhow::Result<Folder> {
        let config = Config::read(self.config.as_deref())?.access;
        let flag = self.access.clone().filter(|path| !path.as_os_str().is_empty());
        match flag.or_else(|| config.folder()) {
            Some(path) => Ok(Folder { path, config }),
            None => bail!("no folder is named: use --access DIR (OASIS_ACCESS), or set HOME"),
        }
    }
}

impl Folder {
    /// At this place, with the usual bounds.
    pub fn at(path: PathBuf) -> Self {
        Self { path, config: AccessConfig::default() }
    }

    /// The accounts. Creates nothing.
    pub fn read(&self) -> anyhow::Result<Document> {
        match self.path.exists() {
            true => Ok(self.store()?.read()?),
            false => Ok(Document::default()),
        }
    }

    /// The accounts, to change them; the folder is created if it does not exist.
    pub fn store(&self) -> anyhow::Result<Store> {
        let is_new = !self.path.exists();
        let store = Store::open(&self.path)?;
        if is_new {
            eprintln!(
                "{} did not exist: made it. A DAC uses it only if its --access (access.directory) names it",
                self.path.display()
            );
        }
        Ok(store)
    }

    /// Refuses a folder that does not exist: what is to be revoked or removed is not there.
    ///
    /// # Errors
    /// Says how to name another one.
    #[cfg(feature = "live")]
    pub fn must_exist(&self) -> anyhow::Result<()> {
        if self.path.exists() {
            return Ok(());
        }
        bail!("there are no accounts in {}: is it the folder that --access names?", self.path.display())
    }

    /// The folder of the audit log.
    pub fn audit_path(&self) -> PathBuf {
        self.path.join("audit")
    }

    /// The audit log, to append to it.
    pub fn audit_log(&self) -> anyhow::Result<AuditLog> {
        let (bytes, days) = (self.config.audit_bytes, self.config.audit_days);
        let file_bytes = AuditLimits::default().file_bytes.min(bytes / 8);
        Ok(AuditLog::open(&self.audit_path(), AuditLimits { file_bytes, bytes, days })?)
    }
}
