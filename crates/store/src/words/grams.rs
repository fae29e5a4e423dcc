//! Grams of texts, and their rows.

/// Rows of an index.
pub const ROWS: usize = 1 << ROW_BITS;
const ROW_BITS: u32 = 14;
/// Characters of a gram.
const GRAM_CHARS: usize = 4;

/// Characters beyond ASCII that a search takes for letters of ASCII: the Kelvin sign, and the long s.
const KELVIN: &[u8] = "\u{212a}".as_bytes();
const LONG_S: &[u8] = "\u{17f}".as_bytes();

/// Calls back with the row of each gram: of four visible characters of ASCII in a row, in lower case. Other bytes are between grams.
pub fn each(bytes: &[u8], mut found: impl FnMut(u16)) {
    let (mut at, mut gram, mut length) = (0, 0_u32, 0);
    while let Some(&byte) = bytes.get(at) {
        let (letter, taken) = match byte {
            b'!'..=b'~' => (byte.to_ascii_lowercase(), 1),
            0xe2 if bytes[at..].starts_with(KELVIN) => (b'k', KELVIN.len()),
            0xc5 if bytes[at..].starts_with(LONG_S) => (b's', LONG_S.len()),
            _ => {
                (at, length) = (at + 1, 0);
                continue;
            }
        };
        at += taken;
        gram = gram << 8 | u32::from(letter);
        length += 1;
        if length >= GRAM_CHARS {
            found(row(gram));
        }
    }
}

/// The rows of the parts with a record of this severity or above: several, because each is shared with grams of texts.
pub fn rows_of_level(level: i64) -> [u16; 4] {
    // No gram of a text begins with a control character.
    [1, 2, 3, 4].map(|first| row(first << 24 | (level.cast_unsigned() & 0x00ff_ffff) as u32))
}

/// Multiplicative hashing: the upper bits depend on all others.
fn row(gram: u32) -> u16 {
    (gram.wrapping_mul(0x9e37_79b1) >> (u32::BITS - ROW_BITS)) as u16
}
