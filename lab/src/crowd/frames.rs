//! Extracts messages from the bytes of a server: complete frames without masks (RFC 6455 section 5.2).

use anyhow::bail;

const CONTINUATION: u8 = 0x00;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;

/// Binary messages in some bytes. Texts and pings are skipped.
#[derive(Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl<'a> Frames<'a> {
    /// Messages in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, length: bytes.len() }
    }

    /// Bytes of the frames seen so far.
    pub fn taken(&self) -> usize {
        self.length - self.bytes.len()
    }

    /// First byte and payload of the next frame, once it is complete.
    fn frame(&mut self) -> Option<(u8, &'a [u8])> {
        let [first, short, rest @ ..] = self.bytes else { return None };
        let (length, rest) = match short {
            126 => {
                let (length, rest) = rest.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(*length)), rest)
            }
            127 => {
                let (length, rest) = rest.split_first_chunk()?;
                (usize::try_from(u64::from_be_bytes(*length)).ok()?, rest)
            }
            short => (usize::from(*short), rest),
        };
        let (payload, rest) = rest.split_at_checked(length)?;
        self.bytes = rest;
        Some((*first, payload))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = anyhow::Result<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.frame()? {
                (BINARY, payload) => return Some(Ok(payload)),
                (CLOSE, payload) => {
                    let reason = String::from_utf8_lossy(payload.get(2..).unwrap_or_default());
                    return Some(refuse(format!("server closed: {reason}")));
                }
                (first, _) if first & 0x80 == 0 || first & 0x0f == CONTINUATION => {
                    return Some(refuse("fragmented messages are not supported".into()));
                }
                _ => {}
            }
        }
    }
}

fn refuse<'a>(why: String) -> anyhow::Result<&'a [u8]> {
    bail!(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_messages_are_found_among_others_and_half_a_frame_is_left() {
        let mut bytes = vec![0x82, 2, 7, 7, 0x81, 1, b'x', 0x82, 126, 0, 130];
        bytes.extend([8; 130]);
        let whole = bytes.len();
        bytes.extend([0x82, 126, 0]);
        let mut frames = Frames::new(&bytes);
        let found: Vec<&[u8]> = frames.by_ref().map(Result::unwrap).collect();
        assert_eq!((found, frames.taken()), (vec![&[7; 2][..], &[8; 130]], whole));
    }

    #[test]
    fn a_close_frame_has_its_reason() {
        let found = Frames::new(&[0x88, 4, 3, 232, b'n', b'o']).next().unwrap();
        assert_eq!(found.unwrap_err().to_string(), "server closed: no");
    }
}
