//! Facts about a certificate, from its own text.

use crate::{TlsError, files};
use rustls::pki_types::CertificateDer;
use std::{
    net::IpAddr,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use x509_cert::{
    Certificate, TbsCertificate,
    der::{DateTime, Decode},
    ext::pkix::{SubjectAltName, name::GeneralName},
};

/// Facts about a certificate, from its own text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its subject, such as `CN=plant-7`.
    pub subject: String,
    /// Host names and addresses that it is for, in its order. The name of a host may begin with `*.`.
    pub names: Vec<String>,
    /// Time after which it is invalid.
    pub ends: SystemTime,
    /// The same day, as `YYYY-MM-DD`.
    pub last_day: String,
}

impl Facts {
    /// Reads the facts of the first certificate of a file.
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

    /// Returns the facts of a certificate, if it can be parsed.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = Certificate::from_der(certificate).ok()?.tbs_certificate;
        let ends: Duration = certificate.validity.not_after.to_unix_duration();
        let day = DateTime::from_unix_duration(ends).ok()?;
        Some(Self {
            subject: certificate.subject.to_string(),
            names: names(&certificate).unwrap_or_default(),
            ends: UNIX_EPOCH + ends,
            last_day: format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day()),
        })
    }
    /// Whether clients that connect to this host name or address accept it (RFC 6125 6.4).
    pub fn is_for(&self, host: &str) -> bool {
        let address = address(host);
        self.names.iter().any(|name| match (address, self::address(name)) {
            (Some(asked), Some(known)) => asked == known,
            (None, None) => {
                let covered = || name.strip_prefix("*.").zip(host.split_once('.'));
                name.eq_ignore_ascii_case(host)
                    || covered().is_some_and(|(domain, (_, rest))| domain.eq_ignore_ascii_case(rest))
            }
            _ => false,
        })
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// RFC 5280 4.2.1.6: the alternative names. Those that are neither of hosts nor addresses are left out.
fn names(certificate: &TbsCertificate) -> Option<Vec<String>> {
    let (_, SubjectAltName(names)) = certificate.get::<SubjectAltName>().ok()??;
    let name = |name: GeneralName| match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
                .ok()
                .map(|address| address.to_string())
        }
        _ => None,
    };
    Some(names.into_iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_its_names_and_addresses() {
        let names = ["dac.example.org", "*.plant.example.org", "192.0.2.7", "2001:db8::1"];
        let facts = Facts {
            subject: String::new(),
            names: names.map(str::to_owned).into(),
            ends: UNIX_EPOCH,
            last_day: String::new(),
        };
        for host in ["DAC.example.org", "a.plant.example.org", "192.0.2.7", "[2001:db8:0::1]"] {
            assert!(facts.is_for(host), "{host}");
        }
        for host in ["example.org", "a.b.plant.example.org", "plant.example.org", "192.0.2.8", "::1", ""] {
            assert!(!facts.is_for(host), "{host}");
        }
    }
}
