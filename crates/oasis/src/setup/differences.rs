//! Options of a later `oasis setup` that the files of an earlier one do not have.

use super::settings::KeptSettings;
use oasis_tls::Facts;
use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
};

/// The options of the command line.
pub struct RequestedOptions<'a> {
    /// Names for the certificate; none if the user named none.
    pub names: &'a [String],
    /// Address of page, API and doors, if it was named.
    pub listen: Option<SocketAddr>,
    /// Address for nodes, if it was named.
    pub channel_listen: Option<SocketAddr>,
}

impl RequestedOptions<'_> {
    /// Returns a line for each difference: what it is, and what to do about it. `settings` is the file of what is kept, `authority` the folder of the CA.
    pub fn differences(&self, kept: &KeptSettings, settings: &Path, authority: &Path) -> Vec<String> {
        let edit = format!("edit {}", settings.display());
        let addresses = [
            ("doors.listen", &kept.doors.listen, self.listen),
            ("channel.listen", &kept.channel.listen, self.channel_listen),
        ];
        let mut found: Vec<String> = addresses
            .into_iter()
            .filter_map(|(key, kept, asked)| Some((key, kept, asked?)))
            .filter(|(_, kept, asked)| kept.parse() != Ok(*asked))
            .map(|(key, kept, asked)| format!("{key} is {kept:?}, and not \"{asked}\": {edit}"))
            .collect();
        let is_known =
            |name: &&String| kept.doors.allowed_hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
        let hosts = self.names.iter().filter(|name| name.parse::<IpAddr>().is_err() && *name != "localhost");
        let unknown: Vec<String> =
            hosts.filter(|name| !is_known(name)).map(|name| format!("{name:?}")).collect();
        if !unknown.is_empty() {
            found.push(format!("doors.allowed_hosts lacks {}: {edit}", unknown.join(", ")));
        }
        found.extend(self.missing_names(&kept.tls.certificate, settings, authority));
        found
    }

    /// Returns the names that the certificate lacks. A DAC without a certificate has a reverse proxy with one.
    fn missing_names(&self, certificate: &Path, settings: &Path, authority: &Path) -> Option<String> {
        if certificate.as_os_str().is_empty() || self.names.is_empty() {
            return None;
        }
        let facts = match Facts::of_file(certificate) {
            Ok(facts) => facts,
            Err(error) => {
                return Some(format!("tls.certificate of {} is of no use: {error}", settings.display()));
            }
        };
        let missing: Vec<&str> =
            self.names.iter().map(String::as_str).filter(|name| !facts.is_for(name)).collect();
        if missing.is_empty() {
            return None;
        }
        let remedy = match certificate.parent() {
            Some(folder) if folder == authority => {
                let all = facts.names.iter().map(String::as_str).chain(missing.iter().copied());
                let all: Vec<String> = all.map(quoted).collect();
                format!("run oasis ca issue server {} --ca-dir {}", all.join(" "), authority.display())
            }
            _ => "get one with these names too from its CA".into(),
        };
        Some(format!("the certificate {} lacks {}: {remedy}", certificate.display(), missing.join(", ")))
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    if name.contains('*') { format!("'{name}'") } else { name.to_owned() }
}
