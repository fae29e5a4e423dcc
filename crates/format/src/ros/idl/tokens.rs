//! Words, signs and texts of IDL. Comments, lines of the preprocessor, and the lines between definitions of a schema are skipped.

use super::super::definitions::BadText;
use crate::visible::shortened;

/// Longest name, with its modules: each use of a type repeats it.
const MAX_NAME_BYTES: usize = 1_024;

/// A piece of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name, which may be scoped (`a::b`), a keyword or a number.
    Word(&'a str),
    /// The content of quotes, as written.
    Text(&'a str),
    Sign(char),
    End,
}

/// The tokens of a text.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    rest: &'a str,
    line: usize,
    next: Token<'a>,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Result<Self, BadText> {
        let mut tokens = Self { rest: text, line: 1, next: Token::End };
        tokens.skip_separator();
        tokens.advance()?;
        Ok(tokens)
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Token<'a> {
        self.next
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Result<Token<'a>, BadText> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    /// Takes the next token if it is this sign.
    pub fn take_sign(&mut self, sign: char) -> Result<bool, BadText> {
        let is_next = self.next == Token::Sign(sign);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes the next token if it is this word.
    pub fn take_word(&mut self, word: &str) -> Result<bool, BadText> {
        let is_next = self.next == Token::Word(word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes a sign that must follow.
    pub fn expect(&mut self, sign: char) -> Result<(), BadText> {
        if self.take_sign(sign)? { Ok(()) } else { Err(self.error(&format!("expected {sign:?}"))) }
    }

    /// Takes a word that must follow.
    pub fn word(&mut self) -> Result<&'a str, BadText> {
        match self.take()? {
            Token::Word(word) => Ok(word),
            _ => Err(self.error("expected a name")),
        }
    }

    pub fn error(&self, what: &str) -> BadText {
        BadText::Idl(self.line, what.to_owned())
    }

    fn advance(&mut self) -> Result<(), BadText> {
        self.skip_blank()?;
        let mut characters = self.rest.chars();
        let (token, length) = match characters.next() {
            None => (Token::End, 0),
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            Some(first) if first.is_ascii_alphanumeric() || first == '_' || self.rest.starts_with("::") => {
                let length = word_length(self.rest);
                if length > MAX_NAME_BYTES {
                    return Err(self.error(&format!("a name has more than {MAX_NAME_BYTES} bytes")));
                }
                (Token::Word(&self.rest[..length]), length)
            }
            Some(sign) => (Token::Sign(sign), sign.len_utf8()),
        };
        self.skip(length);
        self.next = token;
        Ok(())
    }

    fn quoted(&self, quote: char) -> Result<(Token<'a>, usize), BadText> {
        let mut is_escaped = false;
        for (at, character) in self.rest.char_indices().skip(1) {
            if is_escaped {
                is_escaped = false;
            } else if character == '\\' {
                is_escaped = true;
            } else if character == quote {
                return Ok((Token::Text(&self.rest[1..at]), at + 1));
            }
        }
        Err(self.error(&format!("the text {:?} has no end", shortened(self.rest))))
    }

    fn skip_blank(&mut self) -> Result<(), BadText> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            let is_line_start = self.rest[..blank].contains('\n');
            self.skip(blank);
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").ok_or_else(|| self.error("a comment has no end"))?;
                self.skip(end + 2);
            } else if !(is_line_start && self.skip_separator()) {
                return Ok(());
            }
        }
    }

    /// Skips a line between two definitions: `=====`, or `IDL: a/msg/A`.
    fn skip_separator(&mut self) -> bool {
        let is_separator = self.rest.starts_with("===") || self.rest.starts_with("IDL:");
        if is_separator {
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        is_separator
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
    }
}

/// The length of a word: letters, digits, `_`, `::` between them; in a number also `.`.
fn word_length(text: &str) -> usize {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if next.is_ascii_alphanumeric() || next == '_' || (is_number && next == '.') {
            at += 1;
        } else if text[at..].starts_with("::") {
            at += 2;
        } else {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut tokens = Tokens::new(text).unwrap();
        std::iter::from_fn(|| Some(tokens.take().unwrap()).filter(|token| *token != Token::End)).collect()
    }

    #[test]
    fn comments_and_separators_are_skipped() {
        let text = "====\nIDL: a/msg/A\n#include \"b.idl\"\n// one\nmodule a /* two\n */ { ::b::C c; };\n\n====\nIDL: b/msg/C\nx";
        let expected = [
            Token::Word("module"),
            Token::Word("a"),
            Token::Sign('{'),
            Token::Word("::b::C"),
            Token::Word("c"),
            Token::Sign(';'),
            Token::Sign('}'),
            Token::Sign(';'),
            Token::Word("x"),
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn texts_have_escapes_and_numbers_points() {
        let expected = [Token::Text("a\\\"=b"), Token::Sign('-'), Token::Word("1.5"), Token::Text("x")];
        assert_eq!(tokens("\"a\\\"=b\" -1.5 'x'"), expected);
    }

    #[test]
    fn an_error_has_its_line() {
        assert_eq!(Tokens::new("\n/* x").unwrap_err(), BadText::Idl(2, "a comment has no end".into()));
        let long = Tokens::new(&"x".repeat(1_025)).unwrap_err();
        assert_eq!(long, BadText::Idl(1, "a name has more than 1024 bytes".into()));
        let mut tokens = Tokens::new("a\nb").unwrap();
        tokens.take().unwrap();
        assert_eq!(tokens.expect(';').unwrap_err(), BadText::Idl(2, "expected ';'".into()));
    }
}
