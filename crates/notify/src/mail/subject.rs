//! The subject of a mail. It has names of instances and rules, which may look like encoded words (RFC 2047).

use lettre::message::header::{Header, HeaderName, HeaderValue};
use std::error::Error;

/// The beginning of an encoded word.
const ENCODED_WORD_START: &str = "=?";
/// Most characters of the encoded text of a word: a line has 76, also the first one with the header's name (RFC 2047 2).
const MAX_WORD: usize = 54;

/// One line of text that readers show as it is.
#[derive(Debug, Clone)]
pub struct Subject(pub String);

impl Header for Subject {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Subject")
    }

    fn parse(text: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self(text.into()))
    }

    fn display(&self) -> HeaderValue {
        let text = self.0.clone();
        if text.contains(ENCODED_WORD_START) {
            // A text that looks like an encoded word is encoded, so that readers decode it to itself.
            let encoded = words(&text);
            return HeaderValue::dangerous_new_pre_encoded(Self::name(), text, encoded);
        }
        HeaderValue::new(Self::name(), text)
    }
}

/// The text as encoded words, one in each line. No word splits a character (RFC 2047 5).
fn words(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for character in text.chars() {
        let encoded = quoted(character);
        match words.last_mut().filter(|word| word.len() + encoded.len() <= MAX_WORD) {
            Some(word) => word.push_str(&encoded),
            None => words.push(encoded),
        }
    }
    let words = words.iter().map(|word| format!("=?utf-8?q?{word}?="));
    words.collect::<Vec<_>>().join("\r\n ")
}

/// RFC 2047 4.2: letters and digits stand for themselves.
fn quoted(character: char) -> String {
    if character.is_ascii_alphanumeric() {
        return character.to_string();
    }
    let mut bytes = [0; 4];
    character.encode_utf8(&mut bytes).bytes().map(|byte| format!("={byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that a reader of mail shows.
    fn decoded(encoded: &str) -> String {
        let mut bytes = Vec::new();
        for word in encoded.split("\r\n ") {
            assert!(word.len() <= 75, "{word}");
            let text = word.strip_prefix("=?utf-8?q?").unwrap().strip_suffix("?=").unwrap();
            assert!(!text.contains(['?', ' ', '_']), "{text}");
            let mut text = text.bytes();
            while let Some(byte) = text.next() {
                bytes.push(match byte {
                    b'=' => {
                        let digits = [text.next().unwrap(), text.next().unwrap()];
                        u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                    }
                    byte => byte,
                });
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_text_that_looks_like_encoded_words_is_decoded_to_itself() {
        for text in [
            "=?utf-8?q?=0D=0ABcc:_x?=",
            "a =?",
            "[HIGH] Hot at 炉/=?x?= ünïcödé ?= 🔥 and so on, for more than one line",
        ] {
            assert_eq!(decoded(&words(text)), text);
        }
    }
}
