//! Seals: a heartbeat that passes other TEMs shows that its DAC has sent it.
//!
//! A DAC signs each heartbeat with a key of its own (Ed25519). A TEM that hears the DAC itself needs no seal: the request has a token. It remembers the key,
//! so that a peer can report a later heartbeat of this DAC only if the DAC has really sent one.

use crate::{kind::Kind, name::DacName};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use oasis_wire::quantity::Epoch;
use ring::{
    rand::SystemRandom,
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest, Sha256};
use std::fmt;
use utoipa::ToSchema;

/// Separates these signatures from all others that a key could make.
const DOMAIN: &[u8] = b"oasis tem heartbeat 1\0";

/// Bytes that are written as base64url without padding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bytes<const N: usize>(pub [u8; N]);

/// The public key of a DAC.
pub type PublicKey = Bytes<32>;
/// Signature of a DAC.
pub type Signature = Bytes<64>;

/// Key and signature of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Seal {
    /// The public key of the DAC, base64url: the same as long as the DAC has the same token.
    #[schema(value_type = String)]
    pub key: PublicKey,
    /// Its signature over name, epoch, number and addresses, base64url.
    #[schema(value_type = String)]
    pub signature: Signature,
}

/// Signed message.
#[derive(Debug, Clone, Copy)]
pub struct Sealed<'a> {
    /// The name.
    pub name: &'a DacName,
    /// The life of the process.
    pub epoch: Epoch,
    /// The number of the heartbeat.
    pub beat: u64,
    /// Content of the message.
    pub content: Content<'a>,
}

/// Content of a signed message.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// The DAC lives, and is reached at these addresses.
    Beat {
        /// Kind of the member.
        kind: Kind,
        /// Address of its page.
        doors: &'a str,
        /// Address of its data channel.
        channel: &'a str,
    },
    /// The DAC ends.
    Leave,
}

/// The key of a DAC.
pub struct SealKey(Ed25519KeyPair);

impl SealKey {
    /// A key that is the same whenever a DAC of this name starts with this secret: so a TEM knows a DAC again that has restarted.
    ///
    /// # Errors
    /// If the library refuses the key, which does not happen.
    pub fn of_secret(secret: &[u8], name: &DacName) -> Result<Self, SealKeyError> {
        let mut hash = Sha256::new();
        hash.update(b"oasis tem key 1\0");
        hash.update(name.as_str());
        hash.update([0]);
        hash.update(secret);
        Ed25519KeyPair::from_seed_unchecked(&hash.finalize()).map(Self).map_err(|_| SealKeyError)
    }

    /// A key that no other process has.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> Result<Self, SealKeyError> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| SealKeyError)?;
        Ed25519KeyPair::from_pkcs8(document.as_ref()).map(Self).map_err(|_| SealKeyError)
    }

    /// Signs a heartbeat or a departure.
    pub fn seal(&self, sealed: Sealed<'_>) -> Option<Seal> {
        let signature = self.0.sign(&sealed.bytes());
        let key = self.0.public_key().as_ref().try_into().ok()?;
        Some(Seal { key: Bytes(key), signature: Bytes(signature.as_ref().try_into().ok()?) })
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

/// There is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no key can be made for the heartbeats of this DAC: the system has no random numbers")]
pub struct SealKeyError;

impl Sealed<'_> {
    /// Whether the owner of a key has signed this.
    pub fn is_signed(&self, key: &PublicKey, signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, key.0).verify(&self.bytes(), &signature.0).is_ok()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(192);
        bytes.extend_from_slice(DOMAIN);
        bytes.extend_from_slice(&self.epoch.0.to_be_bytes());
        bytes.extend_from_slice(&self.beat.to_be_bytes());
        // No name and no address has a zero byte.
        let mut text = |text: &str| {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        };
        text(self.name.as_str());
        match self.content {
            Content::Beat { kind, doors, channel } => [kind.as_str(), doors, channel].map(text),
            Content::Leave => ["leave", "", ""].map(text),
        };
        bytes
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(D::Error::custom)?;
        let bytes = bytes.try_into().map_err(|_| D::Error::custom(format!("it has not {N} bytes")))?;
        Ok(Self(bytes))
    }
}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_valid_for_what_was_signed_alone() {
        let (name, other): (DacName, DacName) = ("hall-1".parse().unwrap(), "hall-2".parse().unwrap());
        let key = SealKey::of_secret(b"token", &name).unwrap();
        let content = Content::Beat { kind: Kind::Dac, doors: "http://x:1", channel: "x:2" };
        let sealed = Sealed { name: &name, epoch: Epoch(7), beat: 3, content };
        let Seal { key: public, signature } = key.seal(sealed).unwrap();
        assert!(sealed.is_signed(&public, &signature));
        let elsewhere = Content::Beat { kind: Kind::Dac, doors: "http://y:1", channel: "x:2" };
        for forged in [
            Sealed { beat: 4, ..sealed },
            Sealed { epoch: Epoch(8), ..sealed },
            Sealed { name: &other, ..sealed },
            Sealed { content: elsewhere, ..sealed },
            Sealed { content: Content::Leave, ..sealed },
        ] {
            assert!(!forged.is_signed(&public, &signature), "{forged:?}");
        }
    }

    #[test]
    fn a_dac_that_restarts_with_its_token_has_the_same_key() {
        let name: DacName = "hall-1".parse().unwrap();
        let sealed = Sealed { name: &name, epoch: Epoch(7), beat: 3, content: Content::Leave };
        let key = |secret: &[u8]| SealKey::of_secret(secret, &name).unwrap().seal(sealed).unwrap().key;
        assert_eq!(key(b"token"), key(b"token"));
        assert_ne!(key(b"token"), key(b"other"));
        assert_ne!(SealKey::random().unwrap().seal(sealed).unwrap().key, key(b"token"));
    }

    #[test]
    fn a_seal_is_text_and_a_damaged_one_is_refused() {
        let name: DacName = "hall-1".parse().unwrap();
        let sealed = Sealed { name: &name, epoch: Epoch(7), beat: 3, content: Content::Leave };
        let seal = SealKey::random().unwrap().seal(sealed).unwrap();
        let text = serde_json::to_string(&seal).unwrap();
        assert_eq!(serde_json::from_str::<Seal>(&text).unwrap(), seal);
        for wrong in [r#"{"key": "", "signature": ""}"#, r#"{"key": "!", "signature": "!"}"#] {
            assert!(serde_json::from_str::<Seal>(wrong).is_err(), "{wrong}");
        }
    }
}
