//! Texts that are put together while a program is compiled: a derived schema contains those of its enums and structs.

use std::str;

/// A piece of JSON, or several.
#[derive(Debug, Clone, Copy)]
pub enum Text {
    /// As it is.
    Str(&'static str),
    /// Between quotes. It contains nothing to escape.
    Quoted(&'static str),
    /// Decimal digits.
    Integer(i64),
    /// One after another.
    All(&'static [Text]),
}

/// Digits of the longest [`Text::Integer`], with its sign.
const DIGITS: usize = 20;

impl Text {
    /// Returns its length in bytes.
    pub const fn length(&self) -> usize {
        match self {
            Self::Str(text) => text.len(),
            Self::Quoted(text) => text.len() + 2,
            Self::Integer(number) => DIGITS - digits(*number).1,
            Self::All(parts) => {
                let (mut sum, mut at) = (0, 0);
                while at < parts.len() {
                    sum += parts[at].length();
                    at += 1;
                }
                sum
            }
        }
    }

    /// Returns its bytes; `N` is its [`length`](Self::length).
    pub const fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.put(&mut bytes, 0);
        bytes
    }

    /// Writes it, and returns the place after it.
    const fn put<const N: usize>(&self, bytes: &mut [u8; N], at: usize) -> usize {
        match self {
            Self::Str(text) => copy(text.as_bytes(), 0, bytes, at),
            Self::Quoted(text) => {
                bytes[at] = b'"';
                let end = copy(text.as_bytes(), 0, bytes, at + 1);
                bytes[end] = b'"';
                end + 1
            }
            Self::Integer(number) => {
                let (digits, first) = digits(*number);
                copy(&digits, first, bytes, at)
            }
            Self::All(parts) => {
                let (mut place, mut part) = (at, 0);
                while part < parts.len() {
                    place = parts[part].put(bytes, place);
                    part += 1;
                }
                place
            }
        }
    }
}

/// Copies `from[first..]`, and returns the place after it.
const fn copy<const N: usize>(from: &[u8], first: usize, to: &mut [u8; N], at: usize) -> usize {
    let mut index = first;
    while index < from.len() {
        to[at + index - first] = from[index];
        index += 1;
    }
    at + from.len() - first
}

/// The digits of a number, at the end, and where they begin.
const fn digits(number: i64) -> ([u8; DIGITS], usize) {
    let mut digits = [b'-'; DIGITS];
    let (mut left, mut first) = (number.unsigned_abs(), DIGITS);
    loop {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    (digits, if number < 0 { first - 1 } else { first })
}

/// Returns the text of bytes that [`Text::bytes`] has made.
///
/// # Panics
/// If they are not UTF-8, while the program is compiled.
pub const fn text(bytes: &'static [u8]) -> &'static str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a schema is UTF-8"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_all_kinds_follow_one_another() {
        const NESTED: Text = Text::All(&[
            Text::Str("{"),
            Text::Quoted("ä"),
            Text::All(&[Text::Str(":"), Text::Integer(-50), Text::Str(",")]),
            Text::Integer(i64::MIN),
            Text::Integer(0),
        ]);
        const BYTES: [u8; NESTED.length()] = NESTED.bytes();
        assert_eq!(text(&BYTES), "{\"ä\":-50,-92233720368547758080");
    }
}
