//! Random secrets, and how they are compared.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use std::{fmt, io};
use subtle::ConstantTimeEq;

/// Random bytes of a secret: 256 bits.
const SECRET_BYTES: usize = 32;

/// A secret text. It is shown only on purpose.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Makes a random secret of 256 bits: 43 letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<SECRET_BYTES>()?)))
    }

    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, to be given to its owner only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
    Ok(bytes)
}

/// The SHA-256 of a random secret. Enough to keep: 256 random bits cannot be found by trial.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// A digest of no text: none is known that has it.
    pub(crate) const ZERO: Self = Self([0; 32]);

    /// Returns the digest of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns the digest with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair =
                std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()))?;
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Whether both are the same, in a time that does not depend on where they differ.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A digest opens nothing, but it needs not be in a log either.
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_not_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(one.reveal().len(), 43);
        assert_ne!(one.reveal(), other.reveal());
        assert!(!format!("{one:?}").contains(one.reveal()));
    }

    #[test]
    fn a_digest_is_64_digits() {
        let digest = Digest::of("x");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert!(digest.matches(&Digest::of("x")) && !digest.matches(&Digest::of("y")));
        for text in ["", "+1", &"g".repeat(64), &"ä".repeat(32), &"+1".repeat(32)] {
            assert_eq!(Digest::parse(text), None);
        }
    }
}
