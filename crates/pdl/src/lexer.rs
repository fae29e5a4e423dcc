//! Converts text to tokens. Blanks and comments are skipped, except `///` documentation.

use crate::{
    diagnostic::{Code, Diagnostic},
    source::{FileId, Span},
};
use logos::{Lexer, Logos, Skip};
use std::{fmt, ops::Range};

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Logos)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(error = LexError)]
#[allow(missing_docs)]
pub enum Token {
    #[regex(r"///[^\n]*", priority = 10, allow_greedy = true)]
    Doc,
    #[regex(r"//[^\n]*", logos::skip, allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    #[regex(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", priority = 20)]
    Uuid,
    #[regex(r"[A-Za-z][A-Za-z0-9_]*")]
    Name,
    /// A media type, such as `image/jpeg`.
    #[regex(r"[A-Za-z]+/[A-Za-z0-9][A-Za-z0-9.+\-]*")]
    MediaType,
    #[regex(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", priority = 5)]
    Number,
    #[regex(r#""[^"\n]*""#)]
    #[regex(r"'[^'\n]*'", single_quotes)]
    Text,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("<")]
    AngleOpen,
    #[token(">")]
    AngleClose,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("::")]
    Scope,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("#")]
    Hash,
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Doc | Self::Comment => "a comment",
            Self::Uuid => "a UUID",
            Self::Name => "a name",
            Self::MediaType => "a media type",
            Self::Number => "a number",
            Self::Text => "a quoted string",
            Self::BraceOpen => "`{`",
            Self::BraceClose => "`}`",
            Self::ParenOpen => "`(`",
            Self::ParenClose => "`)`",
            Self::BracketOpen => "`[`",
            Self::BracketClose => "`]`",
            Self::AngleOpen => "`<`",
            Self::AngleClose => "`>`",
            Self::Semicolon => "`;`",
            Self::Comma => "`,`",
            Self::Scope => "`::`",
            Self::Colon => "`:`",
            Self::Equals => "`=`",
            Self::Hash => "`#`",
            Self::End => "the end of the file",
        })
    }
}

/// The reason why no token starts here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LexError {
    /// A character that the language does not use.
    #[default]
    Character,
    /// A comment without its end.
    Unterminated,
    /// A string in single quotes, as in other languages.
    Quotes,
}

fn single_quotes(_: &mut Lexer<'_, Token>) -> Result<Skip, LexError> {
    Err(LexError::Quotes)
}

fn block_comment(lexer: &mut Lexer<'_, Token>) -> Result<Skip, LexError> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(Skip)
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(LexError::Unterminated)
        }
    }
}

/// The tokens of a text with their byte positions, without invalid characters and ordinary comments.
pub fn tokens(text: &str) -> Vec<(Token, Range<usize>)> {
    let tokens = Token::lexer(text).spanned();
    tokens.filter_map(|(token, range)| Some((token.ok()?, range))).collect()
}

/// Returns all tokens of a text, the last one [`Token::End`], and the diagnostics.
pub fn lex(file: FileId, text: &str) -> (Vec<(Token, Span)>, Vec<Diagnostic>) {
    let mut tokens = Vec::new();
    let mut wrong: Vec<Diagnostic> = Vec::new();
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span::new(file, range);
        match token {
            Ok(token) => tokens.push((token, span)),
            Err(LexError::Unterminated) => {
                let place = Span { end: span.start + 2, ..span };
                wrong.push(
                    Diagnostic::new(Code::Unterminated, place, "unterminated comment", "starts here")
                        .help("close it with `*/`"),
                );
            }
            Err(LexError::Quotes) => {
                let message = "strings take double quotes";
                let label = "not part of the language";
                wrong.push(Diagnostic::new(Code::UnknownCharacter, span, message, label));
                tokens.push((Token::Text, span));
            }
            Err(LexError::Character) => unknown_character(span, text, &mut wrong),
        }
    }
    tokens.push((Token::End, Span::new(file, text.len()..text.len())));
    (tokens, wrong)
}

/// One diagnostic for a run of them.
fn unknown_character(span: Span, text: &str, wrong: &mut Vec<Diagnostic>) {
    if let Some(last) = wrong.last_mut()
        && last.code == Code::UnknownCharacter
        && let Some(place) = &mut last.place
        && place.end == span.start
    {
        place.end = span.end;
        return;
    }
    let character = &text[span.start..span.end];
    if character.starts_with('"') {
        let message = "unterminated string";
        wrong.push(
            Diagnostic::new(Code::Unterminated, span, message, "starts here")
                .help("close it with `\"` on the same line"),
        );
        return;
    }
    let message = format!("unexpected character {character:?}");
    wrong.push(Diagnostic::new(Code::UnknownCharacter, span, message, "not part of the language"));
}
