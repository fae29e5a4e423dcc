//! Reads bytes from outside: every step is checked, and a length field alone causes no allocation.

use alloc::{borrow::Cow, string::String};

/// A decoding error and its place: offsets count from the first byte read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Unexpected end.
    #[error("unexpected end at offset {at}: {needed} bytes needed, {left} left")]
    Truncated {
        /// Offset.
        at: usize,
        /// Bytes needed.
        needed: usize,
        /// Bytes found.
        left: usize,
    },
    /// A varint of more than 64 bits.
    #[error("varint at offset {at} exceeds 64 bits")]
    Varint {
        /// Offset.
        at: usize,
    },
    /// A boolean byte other than 0 and 1.
    #[error("boolean at offset {at} is neither 0 nor 1")]
    Boolean {
        /// Offset.
        at: usize,
    },
    /// Text that is not UTF-8.
    #[error("string at offset {at} is not UTF-8")]
    Text {
        /// Offset.
        at: usize,
    },
    /// A CDR string without its NUL.
    #[error("string at offset {at} does not end with NUL")]
    Terminator {
        /// Offset.
        at: usize,
    },
    /// A value that does not fit its type.
    #[error("value at offset {at} is out of range for its type")]
    Range {
        /// Offset.
        at: usize,
    },
    /// A run of equal values that goes past the end of its column.
    #[error("run at offset {at} exceeds its column")]
    Run {
        /// Offset.
        at: usize,
    },
    /// A Golomb-Rice parameter over 56.
    #[error("Rice parameter at offset {at} exceeds 56")]
    RiceParameter {
        /// Offset.
        at: usize,
    },
    /// Nonzero bits after the last residual of a `rice` column.
    #[error("unused bits at offset {at} are not 0")]
    Padding {
        /// Offset.
        at: usize,
    },
    /// A vector of more elements than there are bytes.
    #[error("vector at offset {at} has more elements than bytes")]
    Elements {
        /// Offset.
        at: usize,
    },
    /// A blob beyond the bound of its metric.
    #[error(
        "blob at offset {at} has {bytes} bytes: its metric allows at most {max_bytes}, send a smaller file or raise the bound in the PDL"
    )]
    BlobTooLarge {
        /// Offset.
        at: usize,
        /// Bytes found.
        bytes: u64,
        /// The bound.
        max_bytes: u32,
    },
}

/// A reader of untrusted bytes.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at offset `at`.
    #[inline]
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    /// The offset of the next read.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Bytes not read yet.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next `length` bytes.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.at..];
        let truncated = Malformed::Truncated { at: self.at, needed: length, left: rest.len() };
        let taken = rest.get(..length).ok_or(truncated)?;
        self.at += length;
        Ok(taken)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let at = self.at;
        let left = self.left();
        self.take(N)?.first_chunk().copied().ok_or(Malformed::Truncated { at, needed: N, left })
    }

    /// Skips zero to `alignment - 1` bytes.
    pub fn align(&mut self, alignment: usize) -> Result<(), Malformed> {
        self.take(self.at.next_multiple_of(alignment) - self.at).map(drop)
    }

    /// A LEB128 number.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, Malformed> {
        let at = self.at;
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // The tenth byte has room for one bit only.
                return if shift == 63 && byte > 1 { Err(Malformed::Varint { at }) } else { Ok(value) };
            }
        }
        Err(Malformed::Varint { at })
    }

    /// A byte that is 0 or 1.
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        let at = self.at;
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Malformed::Boolean { at }),
        }
    }

    /// A varint length and as many bytes of UTF-8.
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        let at = self.at;
        let length = self.varint()?;
        let text = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        core::str::from_utf8(text).map_err(|_| Malformed::Text { at })
    }

    /// A varint length and as many bytes of text of a sample. Bytes that are not UTF-8 become U+FFFD: one text of a program in C does not make the samples
    /// beside it unreadable.
    pub fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let length = self.varint()?;
        let text = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(String::from_utf8_lossy(text))
    }

    /// A varint length, at most `max_bytes`, and as many bytes of a blob.
    pub fn blob(&mut self, max_bytes: u32) -> Result<&'a [u8], Malformed> {
        let at = self.at;
        let bytes = self.varint()?;
        if bytes > u64::from(max_bytes) {
            return Err(Malformed::BlobTooLarge { at, bytes, max_bytes });
        }
        self.take(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// A varint number of elements, each of which takes a byte at least.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let at = self.at;
        let count = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if count > self.left() { Err(Malformed::Elements { at }) } else { Ok(count) }
    }
}
