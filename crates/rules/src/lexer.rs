//! Converts text to tokens. Comments are tokens too: the formatter keeps them, and the parser skips them.

use crate::code::{Code, Diagnostic};
use logos::{Lexer, Logos};
use oasis_pdl::{FileId, Span};
use std::fmt;

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Logos)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(error = LexError)]
pub enum Token {
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[regex(r#""[^"\n]*""#)]
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
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("::")]
    Scope,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Assign,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    /// `&&`, `||` and `!` of other languages, for advice.
    #[token("&&")]
    #[token("||")]
    #[token("!")]
    Foreign,
    End,
}

impl Token {
    /// Whether the parser skips it.
    pub fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }

    fn text(self) -> &'static str {
        match self {
            Self::LineComment | Self::BlockComment => "a comment",
            Self::Name => "a name",
            Self::Number => "a number",
            Self::Text => "a quoted string",
            Self::BraceOpen => "`{`",
            Self::BraceClose => "`}`",
            Self::ParenOpen => "`(`",
            Self::ParenClose => "`)`",
            Self::BracketOpen => "`[`",
            Self::BracketClose => "`]`",
            Self::Semicolon => "`;`",
            Self::Comma => "`,`",
            Self::Scope => "`::`",
            Self::Colon => "`:`",
            Self::Dot => "`.`",
            Self::Assign => "`=`",
            Self::Equal => "`==`",
            Self::NotEqual => "`!=`",
            Self::Less => "`<`",
            Self::LessEqual => "`<=`",
            Self::Greater => "`>`",
            Self::GreaterEqual => "`>=`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::Percent => "`%`",
            Self::Foreign => "an operator of another language",
            Self::End => "the end of the file",
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
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
}

fn block_comment(lexer: &mut Lexer<'_, Token>) -> Result<(), LexError> {
    let end = lexer.remainder().find("*/");
    lexer.bump(end.map_or(lexer.remainder().len(), |end| end + 2));
    end.map(drop).ok_or(LexError::Unterminated)
}

/// Returns all tokens of a text, the last one [`Token::End`], or the first character or comment that is wrong.
pub fn lex(file: FileId, text: &str) -> Result<Vec<(Token, Span)>, Box<Diagnostic>> {
    let mut tokens = Vec::new();
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span::new(file, range);
        match token {
            Ok(token) => tokens.push((token, span)),
            Err(LexError::Unterminated) => {
                let place = Span { end: span.start + 2, ..span };
                let wrong = Diagnostic::new(Code::Unterminated, place, "unterminated comment", "starts here");
                return Err(wrong.help("close it with `*/`").into());
            }
            Err(LexError::Character) => return Err(unknown_character(span, text).into()),
        }
    }
    tokens.push((Token::End, Span::new(file, text.len()..text.len())));
    Ok(tokens)
}

fn unknown_character(span: Span, text: &str) -> Diagnostic {
    let character = text.get(span.start..span.end).unwrap_or_default();
    if character.starts_with('"') {
        let wrong = Diagnostic::new(Code::Unterminated, span, "unterminated string", "starts here");
        return wrong.help("close it with `\"` on the same line");
    }
    let message = format!("unexpected character {character:?}");
    let wrong = Diagnostic::new(Code::UnknownCharacter, span, message, "not part of the language");
    match character {
        "'" => wrong.help("strings take double quotes"),
        "&" => wrong.help("write `and`"),
        "|" => wrong.help("write `or`"),
        "°" => wrong.help("write `Cel` for degrees Celsius, `deg` for angles"),
        _ => wrong,
    }
}
