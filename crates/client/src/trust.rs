//! Trust of clients of a DAC, and errors of TLS between them.

use crate::ClientError;
use oasis_tls::{ClientFiles, explain};
use rustls::AlertDescription;
use std::{error::Error, sync::Arc};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// The settings of HTTP requests.
///
/// # Errors
/// If the authorities cannot be read.
pub fn for_http(files: &ClientFiles) -> Result<TlsConfig, ClientError> {
    let authorities = files.authorities()?;
    let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
    let roots = RootCerts::Specific(Arc::new(authorities.collect()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build())
}

/// Meaning of an error of TLS, if that is the cause of another one.
pub fn explained(error: &(dyn Error + 'static)) -> Option<String> {
    tls_error(error).map(explain)
}

/// Whether the server asks its clients for certificates: the data channel of a DAC does, its page never.
pub fn is_data_channel(error: &(dyn Error + 'static)) -> bool {
    matches!(tls_error(error), Some(rustls::Error::AlertReceived(AlertDescription::CertificateRequired)))
}

/// The error of TLS that is the cause of another one.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(error);
        }
        if let Some(ureq::Error::Rustls(error)) = error.downcast_ref() {
            return Some(error);
        }
        // An I/O error does not report what it contains as its source.
        let inner = error.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        let wrapped = match error.downcast_ref() {
            Some(ureq::Error::Io(error)) => Some(error as &(dyn Error + 'static)),
            _ => None,
        };
        cause = inner.map(|inner| inner as _).or(wrapped).or_else(|| error.source());
    }
    None
}
