//! API tokens: `oasis_`, the number of the token, and 256 random bits.

use crate::secret::{Digest, Secret, random};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, io, str::FromStr};

/// Prefix of every token, so that scanners find one that leaked.
pub const PREFIX: &str = "oasis_";
/// Letters of the random part.
const RANDOM_LETTERS: usize = 43;

/// The public number of a token: 8 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(u32);

impl TokenId {
    /// The number of the token of the DAC's own user (`access.local`); no other token has it.
    pub(crate) const HOST: Self = Self(0);

    /// Makes a random number.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Self(u32::from_be_bytes(random()?)))
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// A text that is not the number of a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the number of a token: write 8 hexadecimal digits, as `oasis token list` does")]
pub struct TokenIdError(String);

impl FromStr for TokenId {
    type Err = TokenIdError;
    fn from_str(text: &str) -> Result<Self, TokenIdError> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let id = (text.len() == 8 && text.bytes().all(is_hex)).then(|| u32::from_str_radix(text, 16).ok());
        id.flatten().map(Self).ok_or_else(|| TokenIdError(text.chars().take(40).collect()))
    }
}

impl Serialize for TokenId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TokenId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Makes a token of this number. Only its digest is kept.
pub(crate) fn make(id: TokenId) -> io::Result<(Secret, Digest)> {
    let text = format!("{PREFIX}{id}_{}", Secret::random()?.reveal());
    let digest = Digest::of(&text);
    Ok((Secret::new(text), digest))
}

/// Takes a token apart. Returns its number, and the digest that its owner must show.
pub(crate) fn parse(text: &str) -> Option<(TokenId, Digest)> {
    let (id, random) = text.strip_prefix(PREFIX)?.split_at_checked(8)?;
    let random = random.strip_prefix('_')?;
    (random.len() == RANDOM_LETTERS).then_some(())?;
    Some((id.parse().ok()?, Digest::of(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_number() {
        let id: TokenId = "00c0ffee".parse().unwrap();
        let (token, digest) = make(id).unwrap();
        assert!(token.reveal().starts_with("oasis_00c0ffee_"));
        let (found, shown) = parse(token.reveal()).unwrap();
        assert!(found == id && shown.matches(&digest));
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let random = "x".repeat(43);
        for text in [
            String::new(),
            "oasis_".into(),
            "oasis_0000000".into(),
            "oasis_ääää".into(),
            format!("oasis_0000000g_{random}"),
            format!("oasis_00000000-{random}"),
            format!("oasis_00000000_{random}x"),
            format!("Oasis_00000000_{random}"),
        ] {
            assert!(parse(&text).is_none(), "{text}");
        }
    }
}
