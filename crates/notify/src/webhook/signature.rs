//! Signature that proves to the receiver of a webhook its sender and its time.

use oasis_http_client::Secret;
use ring::hmac;

/// Signs messages with a secret that the receiver knows.
#[derive(Debug)]
pub struct Signer(hmac::Key);

impl Signer {
    /// With this secret.
    pub fn new(secret: &Secret) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.reveal().as_bytes()))
    }

    /// The signature of the time, a dot and the body, as `sha256=HEX`.
    pub fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        let mut signing = hmac::Context::with_key(&self.0);
        signing.update(timestamp.as_bytes());
        signing.update(b".");
        signing.update(body);
        let digits = signing.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("sha256={digits}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    /// As `printf '1700000000.{}' | openssl dgst -sha256 -hmac hush` prints it.
    #[test]
    fn a_signature_is_what_openssl_makes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "hush").unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        let signer = Signer::new(&Secret::read(file.path()).unwrap().unwrap());
        assert_eq!(signer.sign("1700000000", b"{}"), SIGNATURE);
        assert_ne!(signer.sign("1700000001", b"{}"), SIGNATURE);
    }

    const SIGNATURE: &str = "sha256=763081ea12e3b1f903f958994c023cde07f1224b02a538ad6f959112a2f780ba";
}
