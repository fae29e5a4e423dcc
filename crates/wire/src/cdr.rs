//! Common Data Representation: primitives aligned to their size, counted from the start of the packet, in the sender's byte order.

use crate::reader::{Malformed, Reader};
use alloc::vec::Vec;

/// Order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant first: the web door, and most machines.
    Little,
    /// Most significant first.
    Big,
}

/// Appends CDR to a packet that begins at `start`.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    order: ByteOrder,
}

impl<'a> Writer<'a> {
    /// The packet begins at the present end of `out`.
    pub fn new(out: &'a mut Vec<u8>, order: ByteOrder) -> Self {
        let start = out.len();
        Self { out, start, order }
    }

    /// Bytes of the packet so far.
    pub fn at(&self) -> usize {
        self.out.len() - self.start
    }

    /// Zeros up to the next multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        let padded = self.at().next_multiple_of(alignment);
        self.out.resize(self.start + padded, 0);
    }

    /// A number of `N` bytes, given little-endian, at its alignment.
    pub fn number<const N: usize>(&mut self, mut little_endian: [u8; N]) {
        self.align(N);
        if self.order == ByteOrder::Big {
            little_endian.reverse();
        }
        self.out.extend_from_slice(&little_endian);
    }

    /// Appends bytes unchanged.
    pub fn octets(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Length with the terminating NUL, the bytes, the NUL.
    pub fn string(&mut self, text: &str) {
        let length = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
        self.number(length.to_le_bytes());
        self.octets(text.as_bytes());
        self.out.push(0);
    }

    /// Overwrites a `u32` that was written at `at`.
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        let bytes = if self.order == ByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.out[self.start + at..self.start + at + 4].copy_from_slice(&bytes);
    }
}

/// Reads CDR from a packet.
#[derive(Debug)]
pub struct CdrReader<'a> {
    /// Counts from the start of the packet.
    pub bytes: Reader<'a>,
    order: ByteOrder,
}

impl<'a> CdrReader<'a> {
    /// Starts at offset `at` of `packet`.
    pub fn new(packet: &'a [u8], at: usize, order: ByteOrder) -> Self {
        Self { bytes: Reader::new(packet, at), order }
    }

    /// Reads a number of `N` bytes at its alignment, little-endian. The padding is ignored.
    pub fn number<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes.align(N)?;
        let mut bytes = self.bytes.array::<N>()?;
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// A `u16`.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.number().map(u16::from_le_bytes)
    }

    /// A `u32`.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.number().map(u32::from_le_bytes)
    }

    /// A string, which must end with its NUL and be UTF-8.
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        let length = self.u32()?;
        let at = self.bytes.at();
        let bytes = self.bytes.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let text = bytes.strip_suffix(&[0]).ok_or(Malformed::Terminator { at })?;
        core::str::from_utf8(text).map_err(|_| Malformed::Text { at })
    }
}
