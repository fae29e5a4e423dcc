//! Datagrams of an encrypted connection: each is encrypted and authenticated with a key of the connection, and accepted once.
//!
//! Both ends derive the key from their TLS session (RFC 5705, RFC 8446 7.5), so it is never sent. A datagram has a number, which is its nonce: no two
//! of a connection have the same one. The receiver knows recent numbers by a [`ReplayWindow`].

use crate::{
    replay_window::ReplayWindow,
    udp::{DatagramError, MAX_DATAGRAM},
};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use std::fmt;
use uuid::Uuid;

/// The label of the exporter. RFC 5705 4: unregistered ones begin with this word. Its context is the token.
pub const LABEL: &[u8] = b"EXPERIMENTAL OASIS datagrams";
/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes before the encrypted batch: magic number, token and number of the datagram.
pub const HEADER_BYTES: usize = 28;
/// Bytes after it: the authentication tag.
pub const TAG_BYTES: usize = 16;
/// Magic number; the digit is the version.
pub(crate) const MAGIC: [u8; 4] = *b"OSD2";

/// The sending end.
pub struct Sealer {
    key: LessSafeKey,
    token: Uuid,
    /// Number of the last datagram.
    last: u64,
}

/// The receiving end.
pub struct Opener {
    key: LessSafeKey,
    window: ReplayWindow,
}

impl Sealer {
    /// Creates the sending end of a connection.
    ///
    /// # Errors
    /// If the key cannot be one.
    pub fn new(key: &[u8; KEY_BYTES], token: Uuid) -> Result<Self, DatagramError> {
        Ok(Self { key: bound(key)?, token, last: 0 })
    }

    /// Writes the datagram of a batch.
    ///
    /// # Errors
    /// If the batch is too long, or the connection has used up its numbers.
    pub fn seal(&mut self, batch: &[u8], out: &mut Vec<u8>) -> Result<(), DatagramError> {
        if batch.len() > MAX_DATAGRAM - HEADER_BYTES - TAG_BYTES {
            return Err(DatagramError::TooLong);
        }
        let number = self.last.checked_add(1).ok_or(DatagramError::Invalid)?;
        self.last = number;
        out.clear();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(self.token.as_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        let mut head = [0; HEADER_BYTES];
        head.copy_from_slice(out);
        out.extend_from_slice(batch);
        let encrypted = out.get_mut(HEADER_BYTES..).unwrap_or_default();
        let tag = self.key.seal_in_place_separate_tag(nonce(number), Aad::from(head), encrypted);
        out.extend_from_slice(tag.map_err(|_| DatagramError::Invalid)?.as_ref());
        Ok(())
    }
}

impl Opener {
    /// Creates the receiving end of a connection.
    ///
    /// # Errors
    /// If the key cannot be one.
    pub fn new(key: &[u8; KEY_BYTES]) -> Result<Self, DatagramError> {
        Ok(Self { key: bound(key)?, window: ReplayWindow::default() })
    }

    /// Decrypts a datagram in place. Returns its batch.
    ///
    /// # Errors
    /// If it is not protected, was accepted before, is too old, or was not made with the key. Then nothing changes for other datagrams.
    pub fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Result<&'a [u8], DatagramError> {
        if datagram.len() > MAX_DATAGRAM {
            return Err(DatagramError::TooLong);
        }
        let (head, encrypted) =
            datagram.split_first_chunk_mut::<HEADER_BYTES>().ok_or(DatagramError::Invalid)?;
        if head.first_chunk() != Some(&MAGIC) {
            return Err(DatagramError::Unprotected);
        }
        let number = head.last_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        if encrypted.len() <= TAG_BYTES {
            return Err(DatagramError::Invalid);
        }
        // Before the work of decryption.
        if !self.window.is_new(number) {
            return Err(DatagramError::Replayed);
        }
        let batch = self.key.open_in_place(nonce(number), Aad::from(*head), encrypted);
        let batch = batch.map_err(|_| DatagramError::Forged)?;
        // Only after it: a forged number must not move the window.
        self.window.accept(number);
        Ok(batch)
    }
}

fn bound(key: &[u8; KEY_BYTES]) -> Result<LessSafeKey, DatagramError> {
    UnboundKey::new(&CHACHA20_POLY1305, key).map(LessSafeKey::new).map_err(|_| DatagramError::Invalid)
}

/// Unique for the key: each connection has a key of its own, used in one direction.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("last", &self.last).finish_non_exhaustive()
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: Uuid = Uuid::from_u128(7);

    fn ends() -> (Sealer, Opener) {
        (Sealer::new(&[9; KEY_BYTES], TOKEN).unwrap(), Opener::new(&[9; KEY_BYTES]).unwrap())
    }

    proptest! {
        #[test]
        fn a_datagram_comes_out_as_it_went_in_and_shows_nothing(batch in prop::collection::vec(any::<u8>(), 16..2_000)) {
            let (mut sealer, mut opener) = ends();
            let mut datagram = Vec::new();
            sealer.seal(&batch, &mut datagram).unwrap();
            prop_assert_eq!(datagram.len(), HEADER_BYTES + batch.len() + TAG_BYTES);
            prop_assert!(!datagram.windows(16).any(|window| window == &batch[..16]));
            prop_assert_eq!(opener.open(&mut datagram), Ok(&batch[..]));
        }

        /// Whatever bit of a datagram is changed, and wherever it is cut, it is refused; the true one is accepted afterwards.
        #[test]
        fn changed_and_cut_datagrams_are_refused(batch in prop::collection::vec(any::<u8>(), 1..200), at: prop::sample::Index, bit in 0_u8..8, cut: prop::sample::Index) {
            let (mut sealer, mut opener) = ends();
            let mut datagram = Vec::new();
            sealer.seal(&batch, &mut datagram).unwrap();
            let mut changed = datagram.clone();
            changed[at.index(datagram.len())] ^= 1 << bit;
            prop_assert!(opener.open(&mut changed).is_err());
            let mut short = datagram[..cut.index(datagram.len())].to_vec();
            prop_assert!(opener.open(&mut short).is_err());
            prop_assert_eq!(opener.open(&mut datagram.to_vec()).map(<[u8]>::to_vec), Ok(batch));
            prop_assert_eq!(opener.open(&mut datagram), Err(DatagramError::Replayed));
        }

        #[test]
        fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(ends().1.open(&mut bytes).is_err());
        }
    }

    #[test]
    fn another_key_and_no_protection_are_refused() {
        let (mut sealer, mut opener) = ends();
        let mut other = Sealer::new(&[8; KEY_BYTES], TOKEN).unwrap();
        let mut datagram = Vec::new();
        other.seal(b"batch", &mut datagram).unwrap();
        assert_eq!(opener.open(&mut datagram), Err(DatagramError::Forged));
        let mut plain = [&b"OSD1"[..], &[7; 40]].concat();
        assert_eq!(opener.open(&mut plain), Err(DatagramError::Unprotected));
        assert_eq!(opener.open(&mut [0; MAX_DATAGRAM + 1]), Err(DatagramError::TooLong));
        assert_eq!(sealer.seal(&[0; MAX_DATAGRAM], &mut datagram), Err(DatagramError::TooLong));
        sealer.last = u64::MAX;
        assert_eq!(sealer.seal(b"batch", &mut datagram), Err(DatagramError::Invalid));
    }
}
