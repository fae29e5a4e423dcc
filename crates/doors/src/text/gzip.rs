//! Builds one gzip stream from pieces that many answers share.
//!
//! Browsers read only the first member of a gzip file, so members cannot be concatenated. Deflate blocks can. A piece with a full flush refers to no earlier
//! data and ends on a byte (RFC 1951 3.2.3). Checksums of pieces combine without reading their bytes again.

use bytes::{BufMut, Bytes};
use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress};

/// RFC 1952 2.3: deflate, no name, no time, any system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// An empty last block.
const LAST: [u8; 2] = [3, 0];
/// Checksum and length of the text before a piece's blocks.
const PREFIX: usize = 8;

/// A text as blocks, with its length and checksum for the trailer.
pub fn piece(text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(PREFIX + text.len() / 4 + 64);
    out.put_u32_le(crc32fast::hash(text));
    out.put_u32_le(text.len() as u32); // RFC 1952 wants it modulo 2^32
    let mut compress = Compress::new(Compression::fast(), false);
    loop {
        let taken = usize::try_from(compress.total_in()).unwrap_or(usize::MAX);
        let rest = text.get(taken..).unwrap_or_default();
        out.reserve(rest.len() / 2 + 64);
        // Fails only after misuse of the compressor; then the trailer's checksum is wrong.
        let done = compress.compress_vec(rest, &mut out, FlushCompress::Full).is_err();
        // Free room in the output means that the compressor has no more.
        if done || out.len() < out.capacity() {
            return out.into();
        }
    }
}

/// The stream of one answer.
#[derive(Debug, Clone, Default)]
pub struct Splice {
    checksum: Hasher,
    /// Length of the text, modulo 2^32.
    length: u32,
    has_begun: bool,
}

impl Splice {
    /// The header before the first piece; empty after that.
    pub fn head(&mut self) -> &'static [u8] {
        if std::mem::replace(&mut self.has_begun, true) { &[] } else { &GZIP_HEADER }
    }

    /// The blocks of a piece.
    pub fn shared(&mut self, piece: &Bytes) -> Bytes {
        let Some((prefix, _)) = piece.split_first_chunk::<PREFIX>() else { return Bytes::new() };
        let [a, b, c, d, e, f, g, h] = *prefix;
        let (checksum, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        self.checksum.combine(&Hasher::new_with_initial_len(checksum, length.into()));
        self.length = self.length.wrapping_add(length);
        piece.slice(PREFIX..)
    }

    /// A short text for this answer alone, stored without compression.
    pub fn own(&mut self, text: &[u8], out: &mut impl BufMut) {
        for chunk in text.chunks(usize::from(u16::MAX)) {
            let length = chunk.len() as u16; // chunks keep it in range
            out.put_u8(0);
            out.put_u16_le(length);
            out.put_u16_le(!length);
            out.put_slice(chunk);
        }
        self.checksum.update(text);
        self.length = self.length.wrapping_add(text.len() as u32);
    }

    /// The end of the stream.
    pub fn trailer(&self) -> Vec<u8> {
        let mut out = LAST.to_vec();
        out.put_u32_le(self.checksum.clone().finalize());
        out.put_u32_le(self.length);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    proptest! {
        #[test]
        fn any_mix_of_pieces_and_own_text_reads_back(
            parts in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300), 1_usize..400), 0..12),
        ) {
            let (mut splice, mut plain, mut zipped) = (Splice::default(), Vec::new(), Vec::new());
            zipped.extend_from_slice(splice.head());
            for (is_shared, text, times) in parts {
                let text = text.repeat(times);
                if is_shared {
                    zipped.extend_from_slice(&splice.shared(&piece(&text)));
                } else {
                    splice.own(&text, &mut zipped);
                }
                plain.extend_from_slice(&text);
            }
            zipped.extend_from_slice(&splice.trailer());
            let mut read = Vec::new();
            flate2::read::GzDecoder::new(&zipped[..]).read_to_end(&mut read).unwrap();
            prop_assert_eq!(read, plain);
        }
    }
}
