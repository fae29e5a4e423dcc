//! A node asks for a certificate: it makes a key that it never gives away, and signs a request with it (PKCS #10, RFC 2986).

use crate::{TlsError, files, node_certificate::common_name};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData,
    SignatureAlgorithm,
};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls::pki_types::{CertificateSigningRequestDer, pem::PemObject};
use sha2::{Digest, Sha256};
use std::path::Path;
use x509_cert::{
    der::{Decode, Encode, asn1::ObjectIdentifier},
    request::CertReq,
};

/// RFC 5480 2.1.1: a key of an elliptic curve, and 2.1.1.1: the curve P-256.
const EC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");

/// A new key of a node, and what it asks for.
#[derive(Debug)]
pub struct NodeKey {
    key: KeyPair,
}

impl NodeKey {
    /// Makes a key.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn generate() -> Result<Self, TlsError> {
        Ok(Self { key: KeyPair::generate()? })
    }

    /// Reads the key of a file that others cannot read.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn read(path: &Path) -> Result<Self, TlsError> {
        files::private_key(path)?;
        let pem = files::read("private key", path)?;
        Ok(Self { key: KeyPair::from_pem(&String::from_utf8_lossy(&pem))? })
    }

    /// Returns the private key in PEM, for a file that only its owner can read.
    pub fn private_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// Returns the signed request for a certificate of this name, in PEM.
    ///
    /// # Errors
    /// If the name cannot be in a certificate.
    pub fn request(&self, name: &str) -> Result<String, TlsError> {
        let mut subject = DistinguishedName::new();
        subject.push(DnType::CommonName, name);
        let mut params = CertificateParams::default();
        params.distinguished_name = subject;
        Ok(params.serialize_request(&self.key)?.pem()?)
    }
}

/// A request whose sender has proven that it has the private key.
#[derive(Debug)]
pub struct CertificateRequest {
    /// The common name that it asks for.
    pub name: String,
    /// SHA-256 of its public key, as in [`NodeCertificate`](crate::NodeCertificate).
    pub key: [u8; 32],
    /// The public key, a point of the curve.
    point: Vec<u8>,
}

impl CertificateRequest {
    /// Parses a request in PEM and checks its signature.
    ///
    /// # Errors
    /// If it is damaged, has another kind of key, or was not signed with that key.
    pub fn parse(pem: &str) -> Result<Self, TlsError> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes());
        Self::from_der(&der.map_err(|error| TlsError::Request(error.to_string()))?)
    }

    fn from_der(der: &[u8]) -> Result<Self, TlsError> {
        let invalid = |why: &str| TlsError::Request(why.into());
        let request = CertReq::from_der(der).map_err(|error| TlsError::Request(error.to_string()))?;
        let public = &request.info.public_key;
        let curve = public.algorithm.parameters.as_ref().and_then(|any| any.decode_as().ok());
        if public.algorithm.oid != EC_KEY || curve != Some(P256) {
            return Err(invalid("its key is not one of the curve P-256"));
        }
        let point = public.subject_public_key.as_bytes().ok_or_else(|| invalid("its key is damaged"))?;
        let signed = request.info.to_der().map_err(|error| TlsError::Request(error.to_string()))?;
        let signature = request.signature.as_bytes().unwrap_or_default();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point)
            .verify(&signed, signature)
            .map_err(|_| invalid("it is not signed with its key"))?;
        let key = public.to_der().map_err(|error| TlsError::Request(error.to_string()))?;
        Ok(Self {
            name: common_name(&request.info.subject).ok_or_else(|| invalid("it has not one common name"))?,
            key: Sha256::digest(key).into(),
            point: point.to_vec(),
        })
    }
}

impl PublicKeyData for CertificateRequest {
    fn der_bytes(&self) -> &[u8] {
        &self.point
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_proves_that_its_sender_has_the_key() {
        let pem = NodeKey::generate().unwrap().request("plant-7").unwrap();
        assert_eq!(CertificateRequest::parse(&pem).unwrap().name, "plant-7");
        for other in ["", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"] {
            assert!(matches!(CertificateRequest::parse(other), Err(TlsError::Request(_))), "{other}");
        }
        // Another name of the same length: the signature is of another text.
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec();
        let at = der.windows(7).position(|window| window == b"plant-7").unwrap();
        let mut forged = CertReq::from_der(&der).unwrap();
        let mut bytes = forged.info.to_der().unwrap();
        let inside = bytes.windows(7).position(|window| window == b"plant-7").unwrap();
        bytes[inside + 6] = b'8';
        forged.info = x509_cert::request::CertReqInfo::from_der(&bytes).unwrap();
        let forged = forged.to_der().unwrap();
        assert_ne!(forged[at..at + 7], der[at..at + 7]);
        let refused = CertificateRequest::from_der(&forged).unwrap_err().to_string();
        assert!(refused.contains("not signed with its key"), "{refused}");
    }
}
