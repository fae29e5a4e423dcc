//! The configuration file that `oasis setup` writes.

use oasis_tls::Issued;
use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
};

/// What it says.
pub struct Settings<'a> {
    pub directory: &'a Path,
    pub listen: SocketAddr,
    pub channel_listen: SocketAddr,
    pub certificate: &'a Issued,
    pub names: &'a [String],
}

impl Settings<'_> {
    /// Returns the text of the file.
    pub fn to_toml(&self) -> String {
        let path = |path: &Path| toml::Value::from(path.display().to_string());
        // Addresses and localhost are answered anyway.
        let hosts = self.names.iter().filter(|name| name.parse::<IpAddr>().is_err() && *name != "localhost");
        let hosts = toml::Value::Array(hosts.map(|name| name.clone().into()).collect());
        let layouts = path(&self.directory.join("layouts"));
        let archive = path(&self.directory.join("archive"));
        let access = path(&self.directory.join("access"));
        let authority = path(&self.directory.join("ca"));
        let Issued { certificate, key } = self.certificate;
        format!(
            "# Written by `oasis setup`. All keys: docs/reference/oasis.toml.\n\n\
             [tls]\ncertificate = {}\nkey = {}\n\
             # Nodes need a certificate of this CA: oasis node token, oasis node enroll.\nca_directory = {authority}\n\n\
             [doors]\nlisten = \"{}\"\nallowed_hosts = {hosts}\nlayouts_dir = {layouts}\n\n\
             [channel]\nlisten = \"{}\"\n\n\
             [access]\ndirectory = {access}\n\n\
             [archive]\ndirectory = {archive}\n",
            path(certificate),
            path(key),
            self.listen,
            self.channel_listen,
        )
    }
}
