//! The context of a place: code, a comment or quotes, the declaration, and the tokens before it.

use super::names::TokenText;
use crate::lexer::Token;
use logos::Logos;

/// A place in a text.
#[derive(Debug)]
pub struct Context<'a> {
    /// The first byte of what is being written there.
    pub start: usize,
    /// The part of it before the place.
    pub word: &'a str,
    /// Whether it is in quotes.
    pub is_quoted: bool,
    /// The word that began the declaration whose block the place is in.
    pub block: Option<&'a str>,
    /// The tokens since the last `;` or the begin of the block.
    pub clause: Vec<TokenText<'a>>,
}

/// The tokens of a text, without comments and without what is none.
pub fn pieces(text: &str) -> Vec<TokenText<'_>> {
    let tokens = Token::lexer(text).spanned();
    let known = tokens.filter_map(|(token, range)| Some((token.ok()?, text.get(range)?)));
    known.filter(|(token, _)| !token.is_comment()).collect()
}

/// Returns the context of a place; none in a comment.
pub fn context(text: &str, offset: usize) -> Option<Context<'_>> {
    let before = text.get(..offset)?;
    let quote = match inside(before) {
        Inside::Comment => return None,
        Inside::Quotes(quote) => Some(quote),
        Inside::Code => None,
    };
    let start = quote.map_or_else(|| word_start(before), |quote| quote + 1);
    let tokens = pieces(&before[..quote.unwrap_or(start)]);
    let (block, clause) = enclosing(&tokens);
    Some(Context { start, word: &before[start..], is_quoted: quote.is_some(), block, clause })
}

enum Inside {
    Code,
    Comment,
    /// After the quote at this byte.
    Quotes(usize),
}

/// Returns the context at the end of a text.
fn inside(text: &str) -> Inside {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if rest.starts_with("//") {
            rest.find('\n').ok_or(Inside::Comment)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map(|end| end + 4).ok_or(Inside::Comment)
        } else if let Some(quoted) = rest.strip_prefix('"') {
            match quoted.find(['"', '\n']) {
                Some(end) => Ok(end + 2),
                None => Err(Inside::Quotes(at)),
            }
        } else {
            Ok(rest.chars().next().map_or(1, char::len_utf8))
        };
        match length {
            Ok(length) => at += length,
            Err(found) => return found,
        }
    }
    Inside::Code
}

/// The begin of the name at the end of a text, with its scopes and hyphens: `Plant::Pu`, `sample-n`.
fn word_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut start = bytes.len();
    loop {
        while start > 0 && is_name(bytes[start - 1]) {
            start -= 1;
        }
        let is_after_name = |end: usize| end > 0 && is_name(bytes[end - 1]);
        let command = |end: usize| {
            let name = text[..end].rsplit(|other: char| !other.is_ascii_alphanumeric()).next();
            matches!(name, Some("sample" | "demand"))
        };
        match &bytes[..start] {
            [before @ .., b':', b':'] if is_after_name(before.len()) => start -= 2,
            [before @ .., b'-'] if command(before.len()) => start -= 1,
            // A number has no letters: `5m` is 5 and a unit.
            _ => {
                let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                return start + digits;
            }
        }
    }
}

/// The word of the declaration that is open, and the tokens of its last clause.
fn enclosing<'a>(tokens: &[TokenText<'a>]) -> (Option<&'a str>, Vec<TokenText<'a>>) {
    let mut depth = 0_usize;
    let (mut block, mut first, mut clause) = (None, None, Vec::new());
    for &(token, text) in tokens {
        match token {
            // An annotation of a unit follows a number.
            Token::BraceOpen if depth == 0 => {
                (depth, block) = (1, first);
                clause.clear();
                continue;
            }
            Token::BraceClose if depth > 0 && !is_open_annotation(&clause) => {
                (depth, block, first) = (0, None, None);
                clause.clear();
                continue;
            }
            Token::Semicolon => {
                clause.clear();
                if depth == 0 {
                    first = None;
                }
                continue;
            }
            Token::Name if depth == 0 && first.is_none() => first = Some(text),
            _ => {}
        }
        clause.push((token, text));
    }
    (block, clause)
}

fn is_open_annotation(clause: &[TokenText<'_>]) -> bool {
    let count = |wanted: Token| clause.iter().filter(|(token, _)| *token == wanted).count();
    count(Token::BraceOpen) > count(Token::BraceClose)
}
