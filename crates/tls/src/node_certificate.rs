//! Identity of a client, by the certificate that it has shown.

use rustls::pki_types::{CertificateDer, pem::PemObject};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use x509_cert::{
    Certificate,
    der::{
        Decode, Encode,
        asn1::{ObjectIdentifier, PrintableStringRef, Utf8StringRef},
    },
    name::Name,
};

/// RFC 5280 A.1, id-at-commonName.
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// The last character of a certificate's name that stands for any text.
const ANY: char = '*';

/// A client of a server, after its handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// The client needed no certificate.
    Anonymous,
    /// A node of the server's own process.
    Itself,
    /// The holder of the key of a certificate, which is of an authority that the server trusts.
    Node(NodeCertificate),
}

/// Node that a certificate names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCertificate {
    /// Its common name: the name of the node, or the beginning of names and a `*`.
    pub name: String,
    /// SHA-256 of the certificate.
    pub fingerprint: [u8; 32],
    /// SHA-256 of its public key.
    pub key: [u8; 32],
    /// When it becomes valid.
    pub begins: SystemTime,
    /// When it expires.
    pub ends: SystemTime,
}

impl NodeCertificate {
    /// Returns what a certificate says, if it can be parsed and has exactly one common name.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = Certificate::from_der(certificate).ok()?.tbs_certificate;
        let time = |time: x509_cert::time::Time| -> SystemTime {
            let since: Duration = time.to_unix_duration();
            UNIX_EPOCH + since
        };
        Some(Self {
            name: common_name(&parsed.subject)?,
            fingerprint: Sha256::digest(certificate).into(),
            key: Sha256::digest(parsed.subject_public_key_info.to_der().ok()?).into(),
            begins: time(parsed.validity.not_before),
            ends: time(parsed.validity.not_after),
        })
    }

    /// The same of the first certificate in PEM.
    pub fn of_pem(pem: &str) -> Option<Self> {
        Self::of(&CertificateDer::from_pem_slice(pem.as_bytes()).ok()?)
    }

    /// Whether the holder of the certificate may be the node of this name.
    pub fn is_for(&self, node: &str) -> bool {
        match self.name.strip_suffix(ANY) {
            Some(beginning) => node.starts_with(beginning),
            None => self.name == node,
        }
    }
}

/// The only common name of a subject.
pub(crate) fn common_name(subject: &Name) -> Option<String> {
    let attributes = subject.0.iter().flat_map(|relative| relative.0.iter());
    let mut names = attributes.filter(|attribute| attribute.oid == COMMON_NAME);
    let value = &names.next()?.value;
    if names.next().is_some() {
        return None;
    }
    let utf8 = value.decode_as::<Utf8StringRef<'_>>().map(|text| text.as_str().to_owned());
    utf8.or_else(|_| value.decode_as::<PrintableStringRef<'_>>().map(|text| text.as_str().to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_its_name_or_for_all_with_its_beginning() {
        let named = |name: &str| NodeCertificate {
            name: name.into(),
            fingerprint: [0; 32],
            key: [0; 32],
            begins: UNIX_EPOCH,
            ends: UNIX_EPOCH,
        };
        assert!(named("plant-7").is_for("plant-7"));
        assert!(!named("plant-7").is_for("plant-77") && !named("plant-77").is_for("plant-7"));
        assert!(named("replay:*").is_for("replay:plant-7") && !named("replay:*").is_for("plant-7"));
        assert!(!named("pl*nt").is_for("plant") && !named("").is_for("plant"));
    }
}
