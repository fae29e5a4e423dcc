//! The address of NATS, with its credentials.

use crate::NatsConfig;
use std::{
    env, fmt,
    fs::File,
    io::Read,
    net::IpAddr,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Longest file with a secret that is read, in bytes.
const LONGEST_SECRET: u64 = 64 * 1024;
/// The environment variable with the password.
const PASSWORD: &str = "OASIS_NATS_PASSWORD";

/// Why the settings are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    /// The address is invalid.
    #[error("invalid nats.url {url:?} ({why}): write nats://HOST:PORT or tls://HOST:PORT")]
    Url {
        /// As configured, without what may be a password.
        url: String,
        /// The problem.
        why: &'static str,
    },
    /// The address has user or password.
    #[error(
        "nats.url has a user or password: addresses appear in logs. Set nats.user and nats.password_file, or nats.credentials_file"
    )]
    Secret,
    /// A server on another machine without TLS.
    #[error(
        "nats.url leads to {0} without TLS: write tls:// (and nats.ca_file for a CA of your own); or set nats.accept_plaintext = true if you trust the network"
    )]
    Plaintext(String),
    /// A file cannot be read, or others can read it.
    #[error("{setting} {path}: {why}")]
    File {
        /// The setting.
        setting: &'static str,
        /// The file.
        path: String,
        /// Problem with it.
        why: String,
    },
    /// Several ways to sign in.
    #[error("nats.credentials_file, nats.nkey_file and nats.user exclude each other: set one")]
    Several,
    /// A user without a password.
    #[error(
        "nats.user is set without a password: set nats.password_file, or the environment variable {PASSWORD}"
    )]
    NoPassword,
    /// A certificate without a key, or the other way around.
    #[error("nats.certificate and nats.key belong together: set both")]
    HalfACertificate,
    /// This library has no connection.
    #[error("nats.url needs a connection, which this library was built without (feature client)")]
    NotBuilt,
}

/// Means to sign in.
#[derive(Clone)]
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "only a connection uses it"))]
pub(crate) enum SignIn {
    Nothing,
    Credentials(String),
    Nkey(String),
    Password(String, String),
}

/// The servers, how to sign in, and whom to trust.
#[derive(Clone)]
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "only a connection uses it"))]
pub struct Target {
    pub(crate) servers: Vec<String>,
    pub(crate) sign_in: SignIn,
    pub(crate) is_encrypted: bool,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Target {
    /// Without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.servers.join(","))
    }
}

impl Target {
    /// Checks the settings and reads the files with secrets. `None` if no server is configured.
    ///
    /// # Errors
    /// If the settings are invalid. An unreachable server is no error.
    pub fn new(config: &NatsConfig) -> Result<Option<Self>, BadTarget> {
        if config.url.is_empty() {
            return Ok(None);
        }
        if cfg!(not(any(feature = "client", test))) {
            return Err(BadTarget::NotBuilt);
        }
        let servers: Vec<_> =
            config.url.split(',').map(|url| server(url.trim())).collect::<Result<_, _>>()?;
        let is_encrypted = servers.iter().any(|server| server.is_encrypted);
        let is_open = |server: &&Server| !is_encrypted && !server.is_local;
        if let Some(open) = servers.iter().find(is_open).filter(|_| !config.accept_plaintext) {
            return Err(BadTarget::Plaintext(open.url.clone()));
        }
        let certificate = match (&config.certificate[..], &config.key[..]) {
            ("", "") => None,
            ("", _) | (_, "") => return Err(BadTarget::HalfACertificate),
            (certificate, key) => {
                readable("nats.certificate", certificate)?;
                private("nats.key", key)?;
                Some((certificate.into(), key.into()))
            }
        };
        if !config.ca_file.is_empty() {
            readable("nats.ca_file", &config.ca_file)?;
        }
        Ok(Some(Self {
            servers: servers.into_iter().map(|server| server.url).collect(),
            sign_in: sign_in(config)?,
            is_encrypted,
            ca: Some(config.ca_file.clone()).filter(|file| !file.is_empty()).map(PathBuf::from),
            certificate,
        }))
    }
}

struct Server {
    url: String,
    is_encrypted: bool,
    is_local: bool,
}

fn server(url: &str) -> Result<Server, BadTarget> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
    if rest.contains('@') {
        return Err(BadTarget::Secret);
    }
    let bad = |why| BadTarget::Url { url: url.chars().take(200).collect(), why };
    if !["nats", "tls"].contains(&scheme) {
        return Err(bad("the scheme is unknown"));
    }
    let host = rest.trim_end_matches('/');
    if host.contains(['/', '?', '#', ' ']) {
        return Err(bad("nothing may follow the port"));
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && port.parse::<u16>().is_ok() => name,
        Some(_) if !host.ends_with(']') => return Err(bad("the port is no number from 1 to 65535")),
        _ => host,
    };
    if name.is_empty() {
        return Err(bad("the host is missing"));
    }
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_local = bare.parse::<IpAddr>().map_or(bare == "localhost", |address| address.is_loopback());
    Ok(Server { url: format!("{scheme}://{host}"), is_encrypted: scheme == "tls", is_local })
}

fn sign_in(config: &NatsConfig) -> Result<SignIn, BadTarget> {
    let NatsConfig { credentials_file, nkey_file, user, password_file, .. } = config;
    let ways = [credentials_file, nkey_file, user].iter().filter(|way| !way.is_empty()).count();
    if ways > 1 {
        return Err(BadTarget::Several);
    }
    if !credentials_file.is_empty() {
        return Ok(SignIn::Credentials(private("nats.credentials_file", credentials_file)?));
    }
    if !nkey_file.is_empty() {
        return Ok(SignIn::Nkey(first_line("nats.nkey_file", nkey_file)?));
    }
    if user.is_empty() {
        return Ok(SignIn::Nothing);
    }
    let password = match &password_file[..] {
        "" => env::var(PASSWORD).ok().filter(|password| !password.is_empty()).ok_or(BadTarget::NoPassword)?,
        file => first_line("nats.password_file", file)?,
    };
    Ok(SignIn::Password(user.clone(), password))
}

fn first_line(setting: &'static str, path: &str) -> Result<String, BadTarget> {
    let text = private(setting, path)?;
    let line = text.lines().next().unwrap_or_default().trim();
    match line {
        "" => Err(BadTarget::File { setting, path: path.into(), why: "its first line is empty".into() }),
        line => Ok(line.into()),
    }
}

/// Reads a file that others cannot read.
fn private(setting: &'static str, path: &str) -> Result<String, BadTarget> {
    let bad = |why: String| BadTarget::File { setting, path: path.into(), why };
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| bad(error.to_string()))?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && mode & 0o077 != 0 {
        return Err(bad(format!("others can read it (mode {mode:03o}): run `chmod 600 {path}`")));
    }
    let mut text = String::new();
    file.take(LONGEST_SECRET).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    Ok(text)
}

fn readable(setting: &'static str, path: &str) -> Result<(), BadTarget> {
    let opened = File::open(Path::new(path)).map(drop);
    opened.map_err(|error| BadTarget::File { setting, path: path.into(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn of(url: &str) -> Result<Option<Target>, BadTarget> {
        Target::new(&NatsConfig { url: url.into(), ..NatsConfig::default() })
    }

    #[test]
    fn an_address_is_checked_and_never_has_a_password() {
        for good in [
            "nats://127.0.0.1:4222",
            "localhost",
            "nats://[::1]:4222",
            "tls://nats.example.org:4222,tls://b:1",
        ] {
            assert!(of(good).unwrap().is_some(), "{good}");
        }
        for bad in ["http://127.0.0.1", "nats://127.0.0.1:port", "nats://", "nats://a:1/x"] {
            assert!(matches!(of(bad), Err(BadTarget::Url { .. })), "{bad}");
        }
        assert!(matches!(of("nats://10.0.0.1:4222"), Err(BadTarget::Plaintext(_))));
        let error = of("nats://ada:secret@127.0.0.1").unwrap_err();
        assert_eq!(error, BadTarget::Secret);
        assert!(!error.to_string().contains("ada:secret"));
    }

    #[test]
    fn secrets_come_from_files_that_others_cannot_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs::write(&path, "secret\n").unwrap();
        let config = |user: &str| NatsConfig {
            url: "localhost".into(),
            user: user.into(),
            password_file: path.display().to_string(),
            ..NatsConfig::default()
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Target::new(&config("ada")), Err(BadTarget::File { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let target = Target::new(&config("ada")).unwrap().unwrap();
        assert!(
            matches!(&target.sign_in, SignIn::Password(user, password) if user == "ada" && password == "secret")
        );
        assert!(!format!("{target:?} {target}").contains("secret"));
        let several = NatsConfig { nkey_file: "x".into(), ..config("ada") };
        assert!(matches!(Target::new(&several), Err(BadTarget::Several)));
    }
}
