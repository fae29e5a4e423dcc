//! `oasis node token`, `list` and `revoke`: which nodes may connect.

use super::{
    folder::{AccessFolder, Folder},
    recorded, table,
    token::{expiry, write_token},
    unless_pipe_is_closed,
};
use crate::{
    output_format::{Format, OutputFlags},
    time_flag,
};
use anyhow::bail;
use clap::Args;
use oasis_access::{Document, EnrolledCertificate, Name, Pattern, SeenNode, read_seen_nodes};
use oasis_wire::quantity::Nanos;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

/// Digits of a fingerprint in a table.
const FINGERPRINT_DIGITS: usize = 16;

/// Most names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;

#[derive(Debug, Args)]
pub struct Token {
    /// Name of the node that it enrolls; a * stands for any text, such as 'plant-*'.
    node: Pattern,
    /// When it expires: a time, or a duration from now on (30m, 12h).
    #[arg(long, value_name = "TIME", default_value = "1h")]
    expires: String,
    /// Write the token to this new file, which only you can read, and do not print it.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    folder: AccessFolder,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    folder: AccessFolder,
}

#[derive(Debug, Args)]
pub struct Revoke {
    /// Name in the certificate, as `oasis node list` shows it.
    node: String,
    /// Revoke a name that this DAC has neither enrolled nor seen, such as that of a new certificate of `oasis ca issue node`.
    #[arg(long)]
    unknown: bool,
    #[command(flatten)]
    folder: AccessFolder,
}

/// Makes a token that enrolls one node.
pub fn token(arguments: Token) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    let now = time_flag::now();
    let Some(expires) = expiry(&arguments.expires, now)? else {
        bail!("a token that enrolls a node must expire: write a duration such as 1h (--expires)");
    };
    let name = token_name(&arguments.node)?;
    let create = |accounts: &mut Document| {
        accounts.create_enrollment_token(name.clone(), arguments.node.clone(), expires, now)
    };
    let what = json!({"node": arguments.node.to_string(), "expires": oasis_wire::time::format(expires.0)});
    write_token(
        &folder,
        &name,
        Some(expires),
        arguments.token_file.as_deref(),
        ("token:create", what),
        create,
    )
}

/// The name of a token for some nodes: `enroll-plant-7`.
fn token_name(node: &Pattern) -> anyhow::Result<Name> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.@+".contains(c) { c } else { '-' };
    let text: String = node.to_string().chars().map(plain).take(50).collect();
    Ok(format!("enroll-{text}").parse()?)
}

/// Revokes all certificates of a node.
pub fn revoke(arguments: Revoke) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    folder.must_exist()?;
    let node = arguments.node.as_str();
    if !arguments.unknown {
        check_known(&folder, node)?;
    }
    let now = time_flag::now();
    let what = ("node:revoke", node, json!({}));
    let count = recorded::change_nodes(&folder, what, |nodes| nodes.revoke(node, now))?;
    let said = match count {
        0 => format!("{node}: revoked; no certificate of it was enrolled here"),
        1 => format!("{node}: revoked, one certificate"),
        count => format!("{node}: revoked, {count} certificates"),
    };
    unless_pipe_is_closed(writeln!(io::stdout(), "{said}").map_err(Into::into))
}

/// Rejects a name that no node has: with a typing error the node itself would stay connected.
fn check_known(folder: &Folder, node: &str) -> anyhow::Result<()> {
    let nodes = folder.store()?.read_nodes()?;
    let seen = read_seen_nodes(&folder.path);
    if nodes.nodes().contains_key(node) || seen.contains_key(node) {
        return Ok(());
    }
    let near = near(node, nodes.nodes().keys().chain(seen.keys()));
    let near = if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(" or ")) };
    bail!(
        "nothing was revoked: no node {node:?} was enrolled or seen here{near} (oasis node list; --unknown revokes the name nevertheless)"
    )
}

/// The names that are nearly this one, nearest first.
fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut near: Vec<_> = known
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name.as_str()))
        .filter(|(distance, _)| *distance <= wanted.chars().count().div_ceil(3))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(MAX_SUGGESTIONS).collect()
}

/// Lists the certificates of nodes.
pub fn list(arguments: List) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    unless_pipe_is_closed(print(&folder, arguments.output.format()))
}

/// A line of the list.
struct Entry {
    node: String,
    sha256: String,
    certificate: Option<EnrolledCertificate>,
    last_seen: Option<String>,
    state: &'static str,
}

fn print(folder: &Folder, format: Format) -> anyhow::Result<()> {
    let entries = entries(folder, time_flag::now())?;
    if format == Format::Json {
        let mut out = io::stdout().lock();
        return entries.iter().try_for_each(|entry| Ok(writeln!(out, "{}", entry.json())?));
    }
    if entries.is_empty() {
        eprintln!("no nodes: enroll one with `oasis node token NAME` and `oasis node enroll`");
        return Ok(());
    }
    let rows: Vec<_> = entries.iter().map(Entry::row).collect();
    Ok(table::print(["NODE", "CERTIFICATE", "ENROLLED", "EXPIRES", "LAST SEEN", "STATE"], &rows)?)
}

fn entries(folder: &Folder, now: Nanos) -> anyhow::Result<Vec<Entry>> {
    if !folder.path.exists() {
        return Ok(Vec::new());
    }
    let nodes = folder.store()?.read_nodes()?;
    let mut seen: BTreeMap<String, SeenNode> = read_seen_nodes(&folder.path);
    let mut entries = Vec::new();
    for (name, node) in nodes.nodes() {
        for certificate in node.certificates.iter().rev() {
            let sha256 = certificate.sha256.to_string();
            let is_seen = seen.get(name).is_some_and(|seen| seen.sha256 == sha256);
            let last_seen = is_seen.then(|| seen.remove(name)).flatten().map(|seen| seen.time.to_string());
            let state = match certificate {
                EnrolledCertificate { revoked: Some(_), .. } => "revoked",
                EnrolledCertificate { ends, .. } if ends.0 <= now => "expired",
                _ => "active",
            };
            let certificate = Some(certificate.clone());
            entries.push(Entry { node: name.clone(), sha256, certificate, last_seen, state });
        }
        if node.certificates.is_empty() && !seen.contains_key(name) {
            let (sha256, last_seen) = ("-".into(), None);
            entries.push(Entry {
                node: name.clone(),
                sha256,
                certificate: None,
                last_seen,
                state: "revoked",
            });
        }
    }
    for (name, SeenNode { sha256, time }) in seen {
        let is_revoked = nodes.nodes().get(&name).and_then(|node| node.revoked).is_some();
        let state = if is_revoked { "revoked" } else { "issued elsewhere" };
        let last_seen = Some(time.to_string());
        entries.push(Entry { node: name, sha256, certificate: None, last_seen, state });
    }
    entries.sort_by(|one, other| one.node.cmp(&other.node));
    Ok(entries)
}

impl Entry {
    fn row(&self) -> [String; 6] {
        let dash = || "-".to_owned();
        let time = |of: fn(&EnrolledCertificate) -> oasis_access::Time| {
            self.certificate.as_ref().map_or_else(dash, |certificate| of(certificate).to_string())
        };
        [
            self.node.clone(),
            self.sha256.chars().take(FINGERPRINT_DIGITS).collect(),
            time(|certificate| certificate.enrolled),
            time(|certificate| certificate.ends),
            self.last_seen.clone().unwrap_or_else(dash),
            self.state.into(),
        ]
    }

    fn json(&self) -> Value {
        let certificate = self.certificate.as_ref();
        json!({
            "node": self.node,
            "sha256": self.sha256,
            "key": certificate.map(|certificate| certificate.key.to_string()),
            "enrolled": certificate.map(|certificate| certificate.enrolled),
            "expires": certificate.map(|certificate| certificate.ends),
            "by": certificate.map(|certificate| &certificate.by),
            "revoked": certificate.and_then(|certificate| certificate.revoked),
            "last_seen": self.last_seen,
            "state": self.state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_near_to_some_names() {
        let known = ["plant-7", "plant-8", "mill", "plant-7"].map(str::to_owned);
        assert_eq!(near("plnat-7", known.iter()), ["plant-7", "plant-8"]);
        assert_eq!(near("mil", known.iter()), ["mill"]);
        assert_eq!(near("pump", known.iter()), [] as [&str; 0]);
    }
}
