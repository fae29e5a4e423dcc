//! The folder of an enrolled node: its key, its certificate, and the DAC that it was enrolled at.

use anyhow::{Context, bail};
use oasis_ei_node::{DEFAULT_DAC, NodeSettings};
use serde::{Deserialize, Serialize};
use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Longest file of settings, bytes.
const MAX_SETTINGS_BYTES: u64 = 16 << 10;

/// The folder.
#[derive(Debug)]
pub struct NodeState {
    folder: PathBuf,
}

/// The data that a node needs besides its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enrollment {
    /// Its name.
    pub name: String,
    /// `tls://HOST:PORT` of the DAC.
    pub dac: String,
}

/// The options that the user of `oasis node` has given.
#[derive(Debug, Clone, Copy, Default)]
pub struct NamedOptions {
    /// The folder.
    pub state: bool,
    /// The DAC.
    pub dac: bool,
}

impl NodeState {
    /// The folder that was named, else `node` in `$STATE_DIRECTORY`, else `oasis/node` in `$XDG_STATE_HOME` or `~/.local/state`; none without a home.
    pub fn find(named: Option<&Path>) -> Option<Self> {
        let variable = |name: &str| {
            let value = env::var(name).ok()?.split(':').next().map(PathBuf::from);
            value.filter(|path| path.is_absolute())
        };
        let usual = || {
            let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
            let of_system = variable("STATE_DIRECTORY").map(|state| state.join("node"));
            of_system.or_else(|| state.map(|state| state.join("oasis/node")))
        };
        named.map(Path::to_owned).or_else(usual).map(|folder| Self { folder })
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The private key, which only its owner can read.
    pub fn key(&self) -> PathBuf {
        self.folder.join("node.key")
    }

    /// The certificate.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("node.pem")
    }

    /// The authority of the DAC; absent if the system's are trusted.
    pub fn ca(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("enrollment.toml")
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(&self) -> anyhow::Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.with_context(|| format!("cannot create the folder {} (--state)", self.folder.display()))
    }

    /// Replaces a file at once: a running node that loads it again never finds a part of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
        let new = path.with_extension("new");
        let written = || -> io::Result<()> {
            if let Err(error) = fs::remove_file(&new)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)
        };
        written().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Remembers what the node needs besides its files.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn remember(&self, enrollment: &Enrollment) -> anyhow::Result<()> {
        self.write(&self.settings(), &toml::to_string(enrollment)?, 0o600)
    }

    /// Reads it; none if the node is not enrolled.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> anyhow::Result<Option<Enrollment>> {
        let path = self.settings();
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_SETTINGS_BYTES).read_to_string(&mut text));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let context = || format!("{} is damaged: enroll the node again (oasis node enroll)", path.display());
        toml::from_str(&text).map(Some).with_context(context)
    }

    /// Fills what the settings leave open from the enrollment. Settings for another DAC without TLS, or with a certificate of their own, stay as they are.
    ///
    /// # Errors
    /// If the folder was named, and is not that of an enrolled node; or if the settings name another node, and leave the DAC to the enrollment.
    pub fn apply(&self, settings: &mut NodeSettings, named: NamedOptions) -> anyhow::Result<()> {
        let Some(Enrollment { name, dac }) = self.read()? else {
            if named.state {
                bail!("no node was enrolled in {} (--state): run oasis node enroll", self.folder.display());
            }
            return Ok(());
        };
        let is_open = settings.dac.is_only(DEFAULT_DAC) && !named.dac;
        let is_encrypted = is_open || settings.dac.are_encrypted();
        if !is_encrypted || settings.certificate.is_some() || settings.key.is_some() {
            return Ok(());
        }
        if !settings.name.is_empty() && settings.name != name {
            if !is_open && settings.dac.iter().all(|address| address != dac) {
                return Ok(());
            }
            bail!(
                "this host is enrolled as {name:?} in {folder}, and not as {other:?}: leave the name out (--name, OASIS_NODE_NAME, node.name), \
                 or enroll {other:?} in a folder of its own (oasis node enroll --name {other:?} --state DIR) and start it with --state DIR; \
                 a node without a certificate needs another DAC (--dac HOST:PORT)",
                folder = self.folder.display(),
                other = settings.name,
            );
        }
        settings.name = name;
        if is_open {
            settings.dac = dac.as_str().into();
        }
        (settings.certificate, settings.key) = (Some(self.certificate()), Some(self.key()));
        if settings.ca.is_none() && self.ca().exists() {
            settings.ca = Some(self.ca());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enrollment_fills_what_the_settings_leave_open() {
        let folder = tempfile::tempdir().unwrap();
        let state = NodeState::find(Some(&folder.path().join("node"))).unwrap();
        let applied = |mut settings: NodeSettings| {
            state.apply(&mut settings, NamedOptions::default()).unwrap();
            settings
        };
        assert_eq!(applied(NodeSettings::default()), NodeSettings::default(), "not enrolled");
        let named = NamedOptions { state: true, dac: false };
        let refused = state.apply(&mut NodeSettings::default(), named).unwrap_err();
        assert!(refused.to_string().contains("--state"));
        state.create().unwrap();
        state.remember(&Enrollment { name: "plant-7".into(), dac: "tls://dac:7071".into() }).unwrap();
        let filled = applied(NodeSettings::default());
        assert_eq!((filled.name.as_str(), filled.dac.first()), ("plant-7", "tls://dac:7071"));
        assert_eq!((filled.certificate, filled.ca), (Some(state.certificate()), None));
        fs::write(state.ca(), "").unwrap();
        let other_dac = NodeSettings { dac: "tls://other:7071".into(), ..NodeSettings::default() };
        let filled = applied(other_dac);
        assert_eq!((filled.dac.first(), filled.ca), ("tls://other:7071", Some(state.ca())));
        for other in [
            NodeSettings { dac: "192.0.2.7:7071".into(), ..NodeSettings::default() },
            NodeSettings { certificate: Some("x.pem".into()), ..NodeSettings::default() },
        ] {
            assert_eq!(applied(other.clone()), other);
        }
        let default_dac = NamedOptions { state: false, dac: true };
        let mut settings = NodeSettings::default();
        state.apply(&mut settings, default_dac).unwrap();
        assert_eq!(settings, NodeSettings::default(), "the DAC of this host was named, and has no TLS");
        fs::write(state.settings(), "name = 3").unwrap();
        assert!(state.read().unwrap_err().to_string().contains("enroll the node again"));
    }
    #[test]
    fn another_name_than_the_enrolled_one_is_refused_unless_its_dac_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let state = NodeState::find(Some(folder.path())).unwrap();
        state.remember(&Enrollment { name: "plant-7".into(), dac: "tls://dac:7071".into() }).unwrap();
        let mill =
            |dac: &str| NodeSettings { name: "mill".into(), dac: dac.into(), ..NodeSettings::default() };
        for (mut settings, dac) in [(mill(DEFAULT_DAC), false), (mill("tls://dac:7071"), true)] {
            let refused =
                state.apply(&mut settings, NamedOptions { state: false, dac }).unwrap_err().to_string();
            for words in ["enrolled as \"plant-7\"", "not as \"mill\"", "--state DIR"] {
                assert!(refused.contains(words), "{refused}");
            }
        }
        for dac in [DEFAULT_DAC, "192.0.2.7:7071", "tls://other:7071"] {
            let mut settings = mill(dac);
            state.apply(&mut settings, NamedOptions { state: false, dac: true }).unwrap();
            assert_eq!(settings, mill(dac));
        }
        let own = NodeSettings { certificate: Some("x.pem".into()), ..mill(DEFAULT_DAC) };
        let mut settings = own.clone();
        state.apply(&mut settings, NamedOptions::default()).unwrap();
        assert_eq!(settings, own);
    }
}
