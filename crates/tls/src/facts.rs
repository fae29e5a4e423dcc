//! What a certificate says about itself.

use crate::{TlsError, files};
use rustls::pki_types::CertificateDer;
use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use x509_cert::{
    Certificate,
    der::{DateTime, Decode},
};

/// What a certificate says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its subject, such as `CN=plant-7`.
    pub subject: String,
    /// Time after which it is invalid.
    pub ends: SystemTime,
    /// The same day, as `YYYY-MM-DD`.
    pub last_day: String,
}

impl Facts {
    /// Those of the first certificate of a file.
    ///
    /// # Errors
    /// If the file cannot be read, or its certificate cannot be parsed.
    pub fn of_file(path: &Path) -> Result<Self, TlsError> {
        let certificates = files::certificates("certificate", path)?;
        let first = certificates.first().and_then(Self::of);
        first.ok_or_else(|| TlsError::Content {
            what: "certificate",
            path: path.to_owned(),
            why: "it cannot be parsed".into(),
        })
    }

    /// Those of a certificate, if it can be parsed.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = Certificate::from_der(certificate).ok()?.tbs_certificate;
        let ends: Duration = certificate.validity.not_after.to_unix_duration();
        let day = DateTime::from_unix_duration(ends).ok()?;
        Some(Self {
            subject: certificate.subject.to_string(),
            ends: UNIX_EPOCH + ends,
            last_day: format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day()),
        })
    }
}
