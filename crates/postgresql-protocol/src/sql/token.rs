//! Tokens of PostgreSQL's SQL.

use crate::failure::{SqlFailure, code};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name without quotes, or a keyword.
    Word,
    /// A name in double quotes.
    Quoted,
    /// A text.
    Text,
    /// A number.
    Number,
    /// `$1`
    Parameter,
    /// An operator, a comma, a dot, a colon or a semicolon.
    Operator,
    /// A bracket.
    Bracket,
}

/// A token as SQLite reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its text; escapes of PostgreSQL are resolved.
    pub text: String,
    /// Its begin in the statement, bytes.
    pub at: usize,
}

impl Token {
    /// A token that stands for one at this place.
    pub fn new(kind: Kind, text: impl Into<String>, at: usize) -> Self {
        Self { kind, text: text.into(), at }
    }

    /// Whether it is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this operator.
    pub fn is_operator(&self, operator: &str) -> bool {
        self.kind == Kind::Operator && self.text == operator
    }

    /// Whether it is a name.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted)
    }

    /// Returns the name without quotes, in lower case if it has none.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Quoted => self.text.trim_matches('"').replace("\"\"", "\""),
            _ => self.text.to_ascii_lowercase(),
        }
    }

    /// Returns the content of a text.
    pub fn content(&self) -> String {
        let inside = self.text.get(1..self.text.len().saturating_sub(1)).unwrap_or_default();
        inside.replace("''", "'")
    }
}

/// A text as SQLite writes it.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Characters of operators; a longer sequence is one operator.
const OPERATORS: &str = "+-*/<>=~!@#%^&|`?";

/// Splits a statement into tokens, without comments and spaces.
///
/// # Errors
/// If a text, a name or a comment has no end.
pub fn tokens(sql: &str) -> Result<Vec<Token>, SqlFailure> {
    let mut scanner = Scanner { sql, at: 0 };
    let mut tokens = Vec::new();
    while let Some(token) = scanner.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Scanner<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn left(&self) -> &'a str {
        &self.sql[self.at..]
    }

    fn next(&mut self) -> Result<Option<Token>, SqlFailure> {
        self.skip_spaces()?;
        let begin = self.at;
        let left = self.left();
        let mut letters = left.chars();
        let Some(first) = letters.next() else { return Ok(None) };
        let second = letters.next();
        let (kind, text) = match (first, second) {
            ('\'', _) => (Kind::Text, self.quoted('\'')?),
            ('"', _) => (Kind::Quoted, self.quoted('"')?),
            ('e' | 'E', Some('\'')) => (Kind::Text, self.escaped()?),
            ('n' | 'N' | 'b' | 'B', Some('\'')) => {
                self.at += 1;
                (Kind::Text, self.quoted('\'')?)
            }
            // Bytes, as SQLite writes them.
            ('x' | 'X', Some('\'')) => {
                self.at += 1;
                (Kind::Number, format!("x{}", self.quoted('\'')?))
            }
            ('u' | 'U', Some('&')) if left[2..].starts_with(['\'', '"']) => {
                return Err(SqlFailure::unsupported(
                    "U& texts are not supported: write the character",
                    begin,
                ));
            }
            ('$', Some(second)) if second.is_ascii_digit() => {
                let length = 1 + digits(&left[1..]);
                self.at += length;
                (Kind::Parameter, self.sql[begin..self.at].to_owned())
            }
            ('$', _) => (Kind::Text, self.dollar_quoted()?),
            ('0'..='9', _) => (Kind::Number, self.number()),
            ('.', Some('0'..='9')) => (Kind::Number, self.number()),
            ('(' | ')' | '[' | ']', _) => {
                self.at += 1;
                (Kind::Bracket, first.into())
            }
            (':', Some(':')) => {
                self.at += 2;
                (Kind::Operator, "::".into())
            }
            (',' | ';' | '.' | ':', _) => {
                self.at += 1;
                (Kind::Operator, first.into())
            }
            _ if is_word_start(first) => (Kind::Word, self.word()),
            _ if OPERATORS.contains(first) => (Kind::Operator, self.operator()),
            _ => {
                return Err(
                    SqlFailure::new(code::SYNTAX, format!("unexpected character {first:?}")).at(begin)
                );
            }
        };
        Ok(Some(Token { kind, text, at: begin }))
    }

    fn skip_spaces(&mut self) -> Result<(), SqlFailure> {
        loop {
            let left = &self.sql[self.at..];
            let trimmed = left.trim_start();
            self.at += left.len() - trimmed.len();
            if trimmed.starts_with("--") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.at += comment(trimmed)
                    .ok_or_else(|| SqlFailure::new(code::SYNTAX, "a comment has no end").at(self.at))?;
            } else {
                return Ok(());
            }
        }
    }

    /// A text or name with this quote, which is doubled inside.
    fn quoted(&mut self, quote: char) -> Result<String, SqlFailure> {
        let begin = self.at;
        let mut at = begin + 1;
        loop {
            let end = self.sql[at..].find(quote).map(|end| at + end + 1);
            let end = end.ok_or_else(|| SqlFailure::new(code::SYNTAX, "a quote has no end").at(begin))?;
            if !self.sql[end..].starts_with(quote) {
                self.at = end;
                return Ok(self.sql[begin..end].to_owned());
            }
            at = end + 1;
        }
    }

    /// A text with escapes of C: `E'\n'`.
    fn escaped(&mut self) -> Result<String, SqlFailure> {
        let begin = self.at;
        let mut text = String::new();
        let mut letters = self.sql[begin + 2..].char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\'' if letters.peek().is_some_and(|(_, next)| *next == '\'') => {
                    letters.next();
                    text.push('\'');
                }
                '\'' => {
                    self.at = begin + 2 + at + 1;
                    return Ok(quote(&text));
                }
                '\\' => text.push(match letters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 't')) => '\t',
                    Some((_, 'r')) => '\r',
                    Some((_, 'b')) => '\u{8}',
                    Some((_, 'f')) => '\u{c}',
                    Some((at, 'x' | 'u' | 'U' | '0'..='7')) => {
                        let at = begin + 2 + at;
                        return Err(SqlFailure::unsupported(
                            "escapes by number are not supported: write the character",
                            at,
                        ));
                    }
                    Some((_, other)) => other,
                    None => break,
                }),
                letter => text.push(letter),
            }
        }
        Err(SqlFailure::new(code::SYNTAX, "a quote has no end").at(begin))
    }

    /// A text such as `$$text$$` or `$tag$text$tag$`.
    fn dollar_quoted(&mut self) -> Result<String, SqlFailure> {
        let begin = self.at;
        let left = self.left();
        let is_tag = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = left[1..].find(|letter| !is_tag(letter)).map(|end| end + 1);
        let end = end.filter(|end| left[*end..].starts_with('$'));
        let end = end.ok_or_else(|| SqlFailure::new(code::SYNTAX, "unexpected character '$'").at(begin))?;
        let tag = &left[..=end];
        let inside = &left[tag.len()..];
        let length = inside.find(tag);
        let length = length.ok_or_else(|| SqlFailure::new(code::SYNTAX, "a quote has no end").at(begin))?;
        let text = quote(&inside[..length]);
        self.at += 2 * tag.len() + length;
        Ok(text)
    }

    fn number(&mut self) -> String {
        let left = self.left().as_bytes();
        let mut length = 0;
        let mut has_exponent = false;
        while let Some(byte) = left.get(length) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(left[length - 1], b'e' | b'E');
            let is_exponent = matches!(byte, b'e' | b'E') && !has_exponent;
            if !(byte.is_ascii_digit() || *byte == b'.' || is_exponent || is_sign && length > 0) {
                break;
            }
            has_exponent |= is_exponent;
            length += 1;
        }
        let number = self.left()[..length].to_owned();
        self.at += length;
        number
    }

    fn word(&mut self) -> String {
        let is_part = |letter: char| is_word_start(letter) || letter.is_ascii_digit() || letter == '$';
        let left = self.left();
        let word = left[..left.find(|letter| !is_part(letter)).unwrap_or(left.len())].to_owned();
        self.at += word.len();
        word
    }

    /// An operator. A comment ends it, and one that ends with + or - has a special character, as in PostgreSQL.
    fn operator(&mut self) -> String {
        let left = self.left();
        let end = left.find(|letter| !OPERATORS.contains(letter)).unwrap_or(left.len());
        let mut operator = &left[..end];
        for comment in ["--", "/*"] {
            operator = operator.find(comment).map_or(operator, |at| &operator[..at]);
        }
        while operator.len() > 1
            && operator.ends_with(['+', '-'])
            && !operator.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?'])
        {
            operator = &operator[..operator.len() - 1];
        }
        let operator = operator.to_owned();
        self.at += operator.len();
        operator
    }
}

fn is_word_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Length of the comment that a text begins with; comments nest.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let left = text.get(at..)?;
        let open = left.find("/*");
        let close = left.find("*/")?;
        match open {
            Some(open) if open < close => {
                depth += 1;
                at += open + 2;
            }
            _ => {
                depth -= 1;
                at += close + 2;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(sql: &str) -> Vec<String> {
        tokens(sql).unwrap().into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn texts_of_all_forms_become_texts_of_sqlite() {
        assert_eq!(
            texts(r"E'a\n\'b' 'it''s' $$x'y$$ $t$a$$b$t$"),
            ["'a\n''b'", "'it''s'", "'x''y'", "'a$$b'"]
        );
        assert_eq!(texts("\"a\"\"b\" x$1 $12"), ["\"a\"\"b\"", "x$1", "$12"]);
    }

    #[test]
    fn operators_end_at_comments_and_signs() {
        assert_eq!(
            texts("a!~*b<=-1 ->> x--y\n/* a /* b */ c */ z"),
            ["a", "!~*", "b", "<=", "-", "1", "->>", "x", "z"]
        );
        assert_eq!(texts("1e-3 .5 a.b x::int"), ["1e-3", ".5", "a", ".", "b", "x", "::", "int"]);
    }

    #[test]
    fn what_has_no_end_is_refused_where_it_begins() {
        for (sql, at) in [("a 'b", 2), ("\"x", 0), (" /* y", 1), ("$a$x", 0), ("E'x", 0), ("\u{1}", 0)] {
            assert_eq!(tokens(sql).unwrap_err().at, Some(at), "{sql}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(sql: String) {
            let _ = tokens(&sql);
        }

        #[test]
        fn no_text_of_signs_makes_it_panic(sql in "[-$'\"a-eE0-9.*/:;()\\[\\]~! ]{0,40}") {
            let _ = tokens(&sql);
        }
    }
}
