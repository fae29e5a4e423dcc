//! The configuration file that `oasis setup` writes, and what a later one reads of it.

use anyhow::Context;
use oasis_tls::{Facts, Issued};
use serde::Deserialize;
use std::{
    fs::{self, File},
    io::Write,
    net::{IpAddr, SocketAddr},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// The content of the file.
pub struct Settings<'a> {
    pub directory: &'a Path,
    pub listen: SocketAddr,
    pub channel_listen: SocketAddr,
    pub certificate: &'a Issued,
    pub names: &'a [String],
}

impl Settings<'_> {
    /// Writes a new file, which only its owner can read.
    ///
    /// # Errors
    /// If it cannot be written, or is there already.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let created = File::options().write(true).create_new(true).mode(0o600).open(path);
        let written = created
            .and_then(|mut file| file.write_all(self.to_toml().as_bytes()).and_then(|()| file.sync_all()));
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the text of the file.
    fn to_toml(&self) -> String {
        let path = |path: &Path| toml::Value::from(path.display().to_string());
        // Addresses and localhost are answered anyway.
        let hosts = self.names.iter().filter(|name| name.parse::<IpAddr>().is_err() && *name != "localhost");
        let hosts = toml::Value::Array(hosts.map(|name| name.clone().into()).collect());
        let layouts = path(&self.directory.join("layouts"));
        let archive = path(&self.directory.join("archive"));
        let settings = path(&self.directory.join("settings"));
        let access = path(&self.directory.join("access"));
        let authority = path(&self.directory.join("ca"));
        let Issued { certificate, key } = self.certificate;
        format!(
            "# Written by `oasis setup`. All keys: docs/reference/oasis.toml.\n\n\
             [tls]\ncertificate = {}\nkey = {}\n\
             # Nodes need a certificate of this CA: oasis node token, oasis node enroll.\nca_directory = {authority}\n\n\
             [doors]\nlisten = \"{}\"\nallowed_hosts = {hosts}\nlayouts_dir = {layouts}\n\n\
             [channel]\nlisten = \"{}\"\nsettings_dir = {settings}\n\n\
             [access]\ndirectory = {access}\n\n\
             [archive]\ndirectory = {archive}\n",
            path(certificate),
            path(key),
            self.listen,
            self.channel_listen,
        )
    }
}

/// The settings that are in the file after a user may have edited it. Other settings are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct KeptSettings {
    pub tls: KeptTls,
    pub doors: KeptDoors,
    pub channel: KeptChannel,
}

/// The certificate of the DAC.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct KeptTls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Page, API and doors.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct KeptDoors {
    pub listen: String,
    pub allowed_hosts: Vec<String>,
}

impl Default for KeptDoors {
    fn default() -> Self {
        Self { listen: "127.0.0.1:7070".into(), allowed_hosts: Vec::new() }
    }
}

/// The data channel.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct KeptChannel {
    pub listen: String,
}

impl Default for KeptChannel {
    fn default() -> Self {
        Self { listen: "127.0.0.1:7071".into() }
    }
}

impl KeptSettings {
    /// Reads the file; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not TOML.
    pub fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings {}", path.display()))?;
        toml::from_str(&text).map(Some).with_context(|| format!("in the settings {}", path.display()))
    }

    /// Returns the address of the page by a name of the certificate, or by the first of these if there is none.
    pub fn page(&self, names: &[String]) -> String {
        let certified =
            Facts::of_file(&self.tls.certificate).ok().and_then(|facts| facts.names.into_iter().next());
        let host = certified.or_else(|| names.first().cloned()).unwrap_or_else(|| "localhost".into());
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let port = self.doors.listen.rsplit_once(':').map_or("7070", |(_, port)| port);
        format!("https://{host}:{port}")
    }

    /// Whether a file of the certificate is gone that was there when the settings were written.
    pub fn has_lost_its_certificate(&self) -> bool {
        let is_lost = |path: &Path| !path.as_os_str().is_empty() && !path.exists();
        is_lost(&self.tls.certificate) || is_lost(&self.tls.key)
    }
}
