//! Wide text (`wstring`). Its form is not agreed on: implementations of DDS write each character with 4 bytes (Fast CDR 1, `rmw_cyclonedds`), with 2
//! bytes, or count bytes instead of characters (DDS-XTypes 1.3, 7.4.1.1.2). A message is read in each form, and the one that fits it best counts.

use oasis_wire::reader::{Malformed, Reader};

/// A form of wide text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideForm {
    /// A count of characters of 4 bytes.
    FourBytes,
    /// A count of units of UTF-16.
    TwoBytes,
    /// UTF-16 after its number of bytes.
    ByteCount,
}

impl WideForm {
    /// In the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::FourBytes, Self::TwoBytes, Self::ByteCount];

    /// Reads the text that follows its count.
    pub fn read(self, count: u32, is_little: bool, from: &mut Reader<'_>) -> Result<String, Malformed> {
        let at = from.at();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let bytes = match self {
            Self::FourBytes => count.saturating_mul(4),
            Self::TwoBytes => count.saturating_mul(2),
            Self::ByteCount if count % 2 == 1 => return Err(Malformed::Text { at }),
            Self::ByteCount => count,
        };
        let bytes = from.take(bytes)?;
        if self == Self::FourBytes {
            let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| match is_little {
                true => u32::from_le_bytes(*bytes),
                false => u32::from_be_bytes(*bytes),
            });
            return four_bytes(numbers).ok_or(Malformed::Text { at });
        }
        let units = bytes.as_chunks::<2>().0.iter().map(|bytes| match is_little {
            true => u16::from_le_bytes(*bytes),
            false => u16::from_be_bytes(*bytes),
        });
        let units: Vec<u16> = units.collect();
        let units = units.strip_suffix(&[0]).unwrap_or(&units);
        match units.contains(&0) {
            true => Err(Malformed::Text { at }),
            false => Ok(String::from_utf16_lossy(units)),
        }
    }
}

/// Characters of 4 bytes. A program that widens UTF-16 writes both halves of a pair.
fn four_bytes(numbers: impl Iterator<Item = u32>) -> Option<String> {
    let mut units = Vec::new();
    let mut numbers = numbers.peekable();
    while let Some(number) = numbers.next() {
        match (number, u16::try_from(number)) {
            (0, _) if numbers.peek().is_none() => {}
            (0, _) => return None,
            (_, Ok(unit)) => units.push(unit),
            (_, Err(_)) => units.extend_from_slice(char::from_u32(number)?.encode_utf16(&mut [0; 2])),
        }
    }
    Some(String::from_utf16_lossy(&units))
}
