//! Text in Windows-1252, as programs of Windows write it in Western Europe.

/// Bytes that text of people does not have: without a character, or of other encodings.
const UNUSED: [u8; 7] = [0x81, 0x8d, 0x8f, 0x90, 0x9d, 0xfe, 0xff];

/// The text of these bytes.
pub fn decode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| character(*byte)).collect()
}

/// Whether the beginning of a file is text in Windows-1252: not in UTF-8, not even in part. The last character may be cut.
pub fn is_likely(beginning: &[u8]) -> bool {
    let mut has_letters = false;
    let mut rest = beginning;
    while let Err(error) = str::from_utf8(rest) {
        let (valid, after) = rest.split_at(error.valid_up_to());
        let Some(length) = error.error_len() else { break };
        let (bytes, after) = after.split_at(length);
        if !valid.is_ascii() || bytes.iter().any(|byte| UNUSED.contains(byte)) {
            return false;
        }
        has_letters = true;
        rest = after;
    }
    has_letters && rest.iter().all(|byte| byte.is_ascii() || !UNUSED.contains(byte))
}

/// The character of a byte.
fn character(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_western_europe_is_told_from_other_bytes() {
        assert_eq!(decode(b"D\xe9bit 5\x80"), "D\u{e9}bit 5\u{20ac}");
        for (bytes, expected) in [
            (&b"Temperatur [\xb0C];D\xe9bit"[..], true),
            (b"plain", false),
            ("D\u{e9}bit".as_bytes(), false),
            ("D\u{e9}bit \u{b0}".as_bytes().split_last().unwrap().1, false),
            (b"D\xc3\xa9bit \xb0C", false),
            (b"\xff\xfe", false),
            (b"a\x81", false),
        ] {
            assert_eq!(is_likely(bytes), expected, "{bytes:?}");
        }
    }
}
