//! The settings, checked.

use crate::error::ConfigError;
use oasis_access::OidcConfig;
use openidconnect::{ClientId, ClientSecret, IssuerUrl, url::Url};
use std::{fs::File, io::Read, os::unix::fs::MetadataExt, path::Path};

/// Longest secret that is read, bytes.
const MAX_SECRET_BYTES: u64 = 4_096;

/// The settings that a sign-in needs.
#[derive(Debug)]
pub struct Settings {
    pub config: OidcConfig,
    pub issuer: IssuerUrl,
    pub client: ClientId,
    pub secret: Option<ClientSecret>,
}

impl Settings {
    /// # Errors
    /// If a setting cannot be used.
    pub fn new(config: OidcConfig) -> Result<Self, ConfigError> {
        let bad_issuer = || ConfigError::Url { setting: "access.oidc.issuer", url: config.issuer.clone() };
        let issuer = IssuerUrl::new(config.issuer.clone()).map_err(|_| bad_issuer())?;
        if !is_safe(issuer.url()) {
            return Err(bad_issuer());
        }
        let redirect = config.redirect_url.as_str();
        if !redirect.is_empty() && !Url::parse(redirect).is_ok_and(|url| is_safe(&url)) {
            return Err(ConfigError::Url { setting: "access.oidc.redirect_url", url: redirect.into() });
        }
        if config.client_id.is_empty() {
            return Err(ConfigError::Missing("access.oidc.client_id"));
        }
        let path = &config.client_secret_file;
        let secret = if path.as_os_str().is_empty() { None } else { Some(secret(path)?) };
        Ok(Self { issuer, client: ClientId::new(config.client_id.clone()), secret, config })
    }
}

/// Whether the way to a URL is protected against reading and changes.
pub fn is_safe(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(openidconnect::url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(openidconnect::url::Host::Ipv4(address)) => address.is_loopback(),
        Some(openidconnect::url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

fn secret(path: &Path) -> Result<ClientSecret, ConfigError> {
    let failed = |error| ConfigError::Secret { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(ConfigError::SecretOpenToOthers { path: path.to_owned(), mode });
    }
    let mut text = String::new();
    file.take(MAX_SECRET_BYTES).read_to_string(&mut text).map_err(failed)?;
    match text.trim() {
        "" => Err(ConfigError::Missing("the file of access.oidc.client_secret_file")),
        secret => Ok(ClientSecret::new(secret.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn config() -> OidcConfig {
        let (issuer, client_id) = ("https://id.example".into(), "oasis".into());
        OidcConfig { issuer, client_id, ..OidcConfig::default() }
    }

    fn refused(config: OidcConfig) -> String {
        Settings::new(config).unwrap_err().to_string()
    }

    #[test]
    fn only_urls_that_nobody_on_the_way_can_change_are_used() {
        for issuer in ["https://id.example/realm", "http://127.0.0.1:9", "http://localhost", "http://[::1]:9"]
        {
            Settings::new(OidcConfig { issuer: issuer.into(), ..config() }).unwrap();
        }
        for issuer in ["http://id.example", "http://localhost.evil.example", "ftp://x", "x"] {
            assert!(refused(OidcConfig { issuer: issuer.into(), ..config() }).contains("access.oidc.issuer"));
        }
        let redirect_url = "http://dac.example/sign-in/oidc/callback".into();
        assert!(refused(OidcConfig { redirect_url, ..config() }).contains("redirect_url"));
        assert!(refused(OidcConfig { client_id: String::new(), ..config() }).contains("client_id"));
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, "hush\n").unwrap();
        let with_secret = || OidcConfig { client_secret_file: file.clone(), ..config() };
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(refused(with_secret()).contains("mode 644"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Settings::new(with_secret()).unwrap().secret.unwrap().secret(), "hush");
        fs::write(&file, "\n").unwrap();
        assert!(refused(with_secret()).contains("is empty"));
    }
}
