//! The settings of a client: whom it trusts, and how it proves who it is.

use crate::{TlsError, files, provider};
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};
use std::{path::PathBuf, sync::Arc};

/// Files of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientFiles {
    /// Authorities whose servers are trusted; those of the system if absent.
    pub ca: Option<PathBuf>,
    /// The client's own certificate.
    pub certificate: Option<PathBuf>,
    /// Its private key.
    pub key: Option<PathBuf>,
}

impl ClientFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// If a file cannot be used, or the system has no authorities.
    pub fn load(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.authorities()?);
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let chain = files::certificates("certificate", certificate)?;
                let (certificate, key_path) = (certificate.clone(), key.clone());
                builder.with_client_auth_cert(chain, files::private_key(key)?).map_err(
                    |error| match error {
                        rustls::Error::InconsistentKeys(_) => TlsError::NoPair { certificate, key: key_path },
                        error => error.into(),
                    },
                )?
            }
            (None, None) => builder.with_no_client_auth(),
            _ => return Err(TlsError::OneOfTwo),
        };
        Ok(Arc::new(config))
    }

    /// The authorities that are trusted, at least one.
    ///
    /// # Errors
    /// If the file cannot be used, or the system has none.
    pub fn authorities(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        if let Some(path) = &self.ca {
            return files::certificates("CA certificate", path);
        }
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            let why = found.errors.first().map_or_else(|| "none found".into(), ToString::to_string);
            return Err(TlsError::NoSystemAuthorities(why));
        }
        Ok(found.certs)
    }
}
