//! Compressed chunks: LZ4 frames and bzip2.

use crate::input::InputError;
use std::io::{self, Read};

/// Most bytes of a chunk when it is unpacked. `rosbag record` makes chunks of 768 KiB, and larger ones only of larger messages.
#[cfg(feature = "mcap")]
const MAX_CHUNK_BYTES: u64 = 64 << 20;

/// The compression of a chunk.
#[derive(Debug, Clone, Copy)]
pub enum Compression {
    Bzip2,
    Lz4,
}

impl Compression {
    /// Returns the compression with this name.
    ///
    /// # Errors
    /// If it is another one, or this program is built without it.
    pub fn of(name: &[u8]) -> Result<Self, InputError> {
        let known = match name {
            b"bz2" => Some(Self::Bzip2),
            b"lz4" => Some(Self::Lz4),
            _ => None,
        };
        match known {
            Some(known) if cfg!(feature = "mcap") => Ok(known),
            Some(_) => Err(InputError::file(
                "the bag is compressed, and this program is built without the feature mcap",
                "unpack it with `rosbag decompress`, or install a package, which has the feature",
            )),
            None => Err(InputError::file(
                "the bag has an unknown compression",
                "unpack it with `rosbag decompress`, or write it anew as MCAP",
            )),
        }
    }

    #[cfg(feature = "mcap")]
    pub fn unpack(self, packed: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let read = match self {
            Self::Bzip2 => {
                bzip2::read::BzDecoder::new(packed).take(MAX_CHUNK_BYTES + 1).read_to_end(&mut content)
            }
            Self::Lz4 => {
                lz4_flex::frame::FrameDecoder::new(packed).take(MAX_CHUNK_BYTES + 1).read_to_end(&mut content)
            }
        };
        if read? as u64 > MAX_CHUNK_BYTES {
            return Err(io::Error::other(format!("it has more than {MAX_CHUNK_BYTES} bytes")));
        }
        Ok(content)
    }

    #[cfg(not(feature = "mcap"))]
    pub fn unpack(self, _: &mut impl Read) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
