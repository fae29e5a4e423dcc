//! Bodies of requests: compressed or not, within a limit.

use flate2::read::MultiGzDecoder;
use std::{borrow::Cow, io::Read};

/// Most bytes of a body after decompression.
pub const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A body beyond the limit.
    #[error("the body has more than {MAX_BODY_BYTES} bytes: send fewer samples at a time")]
    TooLong,
    /// A body that is no gzip stream, although its header says so.
    #[error("the body is no gzip stream: {0}")]
    Gzip(String),
    /// A body with another compression.
    #[error("the content encoding {0:?} is not read: send gzip or identity")]
    Encoding(String),
}

/// Returns the body with this value of `Content-Encoding`, decompressed.
///
/// # Errors
/// If it is too long, or in no known encoding.
pub fn decoded<'a>(encoding: Option<&str>, body: &'a [u8]) -> Result<Cow<'a, [u8]>, BodyError> {
    match encoding.map(str::trim).unwrap_or_default() {
        "" | "identity" if body.len() > MAX_BODY_BYTES => Err(BodyError::TooLong),
        "" | "identity" => Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" => {
            let mut plain = Vec::new();
            let mut stream = MultiGzDecoder::new(body).take(MAX_BODY_BYTES as u64 + 1);
            stream.read_to_end(&mut plain).map_err(|error| BodyError::Gzip(error.to_string()))?;
            if plain.len() > MAX_BODY_BYTES { Err(BodyError::TooLong) } else { Ok(Cow::Owned(plain)) }
        }
        other => Err(BodyError::Encoding(other.chars().take(40).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_is_read_compressed_or_not() {
        assert_eq!(&*decoded(None, b"a").unwrap(), b"a");
        let two = [gzip(b"a"), gzip(b"b")].concat();
        assert_eq!(&*decoded(Some("gzip"), &two).unwrap(), b"ab");
        assert!(matches!(decoded(Some("gzip"), b"a"), Err(BodyError::Gzip(_))));
        assert_eq!(decoded(Some("br"), b"a"), Err(BodyError::Encoding("br".into())));
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = gzip(&vec![0; MAX_BODY_BYTES + 1]);
        assert!(bomb.len() < MAX_BODY_BYTES / 100);
        assert_eq!(decoded(Some("gzip"), &bomb), Err(BodyError::TooLong));
    }
}
