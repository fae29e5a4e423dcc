//! One Zstandard stream out of pieces that many answers share: frames, strung together as RFC 8878 3 allows.

use bytes::{BufMut, Bytes};
use zstd::{bulk::Compressor, zstd_safe::CParameter};

/// Little time for most of the gain: a piece is made while its first reader waits.
const LEVEL: i32 = 1;
/// 1 MiB. Clients need not take more than 8 MiB (RFC 9659).
const WINDOW_LOG: u32 = 20;
/// RFC 8878 3.1.1.
const MAGIC: u32 = 0xfd2f_b528;
/// RFC 8878 3.1.1.1.1: one segment, its size in two bytes, no checksum.
const DESCRIPTOR: u8 = 0b0110_0000;
/// Offset of this encoding of the size.
const SIZE_BASE: usize = 256;
/// RFC 8878 3.1.1.2: last block, stored.
const LAST_RAW: u32 = 1;
/// Below it the size of a frame fits the form above, and its one block the window.
const MAX_RAW: usize = 64 * 1024;

/// A text as a frame.
pub fn piece(text: &[u8]) -> Bytes {
    compressed(text)
        .unwrap_or_else(|_| {
            // Fails only without memory for a compressor. Then the text is sent uncompressed.
            let mut out = Vec::with_capacity(text.len() + 64);
            own(text, &mut out);
            out
        })
        .into()
}

fn compressed(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    compressor.compress(text)
}

/// Writes the frame of an answer without text. An empty body is not a Zstandard stream.
pub fn nothing(out: &mut impl BufMut) {
    own_chunk(&[], out);
}

/// A short text of one answer alone, stored without compression. An empty text adds nothing.
pub fn own(text: &[u8], out: &mut impl BufMut) {
    text.chunks(MAX_RAW).for_each(|chunk| own_chunk(chunk, out));
}

/// A chunk of at most [`MAX_RAW`] bytes as a frame.
fn own_chunk(chunk: &[u8], out: &mut impl BufMut) {
    out.put_u32_le(MAGIC);
    match chunk.len().checked_sub(SIZE_BASE) {
        Some(size) => {
            out.put_u8(DESCRIPTOR);
            out.put_u16_le(size as u16); // chunks keep it in range
        }
        None => {
            out.put_u8(DESCRIPTOR & 0b0010_0000);
            out.put_u8(chunk.len() as u8); // less than SIZE_BASE
        }
    }
    let block = (chunk.len() as u32) << 3 | LAST_RAW;
    out.put_slice(&block.to_le_bytes()[..3]);
    out.put_slice(chunk);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_mix_of_pieces_and_own_text_reads_back(
            parts in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300), 1_usize..400), 1..12),
        ) {
            let (mut plain, mut zipped) = (Vec::new(), Vec::new());
            for (is_shared, text, times) in parts {
                let text = text.repeat(times);
                if is_shared {
                    zipped.extend_from_slice(&piece(&text));
                } else {
                    own(&text, &mut zipped);
                }
                plain.extend_from_slice(&text);
            }
            if zipped.is_empty() {
                nothing(&mut zipped);
            }
            prop_assert_eq!(zstd::stream::decode_all(&zipped[..]).unwrap(), plain);
        }
    }

    #[test]
    fn own_text_of_any_length_reads_back() {
        for length in [1, 255, 256, 257, MAX_RAW - 1, MAX_RAW, MAX_RAW + 1] {
            let text = vec![b'x'; length];
            let mut zipped = Vec::new();
            own(&text, &mut zipped);
            assert_eq!(zstd::stream::decode_all(&zipped[..]).unwrap(), text, "{length}");
        }
    }

    #[test]
    fn a_large_piece_asks_for_no_more_than_clients_give() {
        let text: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let zipped = piece(&text);
        let mut reader = zstd::stream::read::Decoder::new(&zipped[..]).unwrap();
        reader.window_log_max(WINDOW_LOG).unwrap();
        let mut read = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut read).unwrap();
        assert!(read == text);
    }
}
