//! The body of a request, decompressed.

use oasis_source_node::{BodyError, MAX_BODY_BYTES};

/// Decompresses a body. Remote write has the block format of Snappy, and no other.
///
/// # Errors
/// If it is compressed otherwise, damaged, or too long.
pub fn decompressed(encoding: Option<&str>, body: &[u8]) -> Result<Vec<u8>, BadBody> {
    match encoding {
        Some("snappy") => {}
        other => return Err(BadBody::Encoding(other.unwrap_or_default().chars().take(40).collect())),
    }
    // The length stands at the beginning; a bomb is refused before any memory is taken.
    match snap::raw::decompress_len(body) {
        Ok(length) if length > MAX_BODY_BYTES => Err(BadBody::TooLong(BodyError::TooLong.to_string())),
        Ok(_) => snap::raw::Decoder::new()
            .decompress_vec(body)
            .map_err(|error| BadBody::Damaged(error.to_string())),
        Err(error) => Err(BadBody::Damaged(error.to_string())),
    }
}

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBody {
    #[error("the body has the content encoding {0:?}: send it compressed with snappy, as remote write does")]
    Encoding(String),
    #[error("the body is not Snappy: {0}")]
    Damaged(String),
    #[error("{0}")]
    TooLong(String),
}

impl BadBody {
    /// Returns the status of HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Self::Encoding(_) => 415,
            Self::Damaged(_) => 400,
            Self::TooLong(_) => 413,
        }
    }
}
