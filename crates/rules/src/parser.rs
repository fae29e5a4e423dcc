//! Parses tokens to declarations, by recursive descent. Parsing continues after the declaration with an error, so that one run shows several.

mod action;
mod declaration;
mod expression;
mod quantity;

pub use declaration::KEYWORDS;
pub use quantity::unit_after;

use crate::{
    ast::{Declaration, Name},
    code::{Code, Diagnostic},
    lexer::{Token, lex},
};
use oasis_pdl::{FileId, Span, nearest};

/// Largest file, in bytes.
const MAX_TEXT: usize = 1024 * 1024;
/// Most declarations of a file.
const MAX_DECLARATIONS: usize = 1_000;
/// Longest name, in bytes.
const MAX_NAME: usize = 64;

/// A syntax error that was reported already.
struct AlreadyReported;
type ParseResult<T> = Result<T, AlreadyReported>;

/// Parses a file. The result has every declaration without errors.
pub fn parse(file: FileId, text: &str) -> (Vec<Declaration>, Vec<Diagnostic>) {
    if text.len() > MAX_TEXT {
        let message = format!("file of {} bytes: at most {MAX_TEXT} are allowed", text.len());
        return (Vec::new(), vec![Diagnostic::new(Code::TooLarge, Span::new(file, 0..0), message, "")]);
    }
    let mut tokens = match lex(file, text) {
        Ok(tokens) => tokens,
        Err(wrong) => return (Vec::new(), vec![*wrong]),
    };
    tokens.retain(|(token, _)| !token.is_comment());
    let mut parser = Parser { text, tokens, at: 0, nodes: 0, depth: 0, wrong: Vec::new() };
    let declarations = parser.declarations();
    (declarations, parser.wrong)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// Parts of the expression so far.
    nodes: usize,
    /// Parentheses, calls and signs that are open in the expression.
    depth: usize,
    wrong: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens.get(self.at).map_or(Token::End, |(token, _)| *token)
    }

    fn span(&self) -> Span {
        // The last token is the end, which `advance` does not pass.
        self.tokens[self.at].1
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The name here, or nothing.
    fn word(&self) -> &str {
        if self.peek() == Token::Name { self.slice(self.span()) } else { "" }
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// The span from `start` to the last token that was read.
    fn span_from(&self, start: Span) -> Span {
        self.at.checked_sub(1).map_or(start, |last| start.to(self.tokens[last].1))
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token, context: &str) -> ParseResult<Span> {
        if self.peek() == token {
            return Ok(self.advance());
        }
        let message = format!("missing {token} {context}");
        // A missing semicolon belongs after the previous token, not before the first of the next line.
        let place = match (token, self.at.checked_sub(1)) {
            (Token::Semicolon, Some(before)) => {
                let end = self.tokens[before].1.end;
                Span { start: end.saturating_sub(1), end, ..self.span() }
            }
            _ => self.span(),
        };
        let wrong = Diagnostic::new(Code::UnexpectedToken, place, message, format!("expected {token}"));
        let help = self.advice();
        Err(self.report(Diagnostic { help, ..wrong }))
    }

    fn expect_word(&mut self, word: &str, context: &str) -> ParseResult<Span> {
        if self.word() == word {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{word}` {context}")))
        }
    }

    fn report(&mut self, wrong: Diagnostic) -> AlreadyReported {
        self.wrong.push(wrong);
        AlreadyReported
    }

    fn unexpected(&mut self, wanted: &str) -> AlreadyReported {
        let found = match self.peek() {
            Token::Name | Token::Number | Token::Foreign => format!("`{}`", self.slice(self.span())),
            token => token.to_string(),
        };
        let message = format!("expected {wanted}, found {found}");
        let wrong = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "not expected here");
        let help = self.advice();
        self.report(Diagnostic { help, ..wrong })
    }

    /// Help for what other languages spell differently.
    fn advice(&self) -> Option<String> {
        let text = match (self.peek(), self.slice(self.span())) {
            (Token::Foreign, "&&") => "write `and`",
            (Token::Foreign, "||") => "write `or`",
            (Token::Foreign, _) => "write `not`",
            (Token::Assign, _) => "compare with `==`",
            (Token::Equal, _) => "write one `=`",
            (Token::Name, "hold" | "during") => "write `for`: `raise pump.temperature > 95 for 2s;`",
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn name(&mut self, of: &str) -> ParseResult<Name> {
        if self.peek() != Token::Name {
            return Err(self.unexpected(&format!("the name of {of}")));
        }
        let text = self.word().to_owned();
        let span = self.advance();
        if text.len() > MAX_NAME {
            let message = format!("name of {} characters: at most {MAX_NAME} are allowed", text.len());
            return Err(self.report(Diagnostic::new(Code::TooLarge, span, message, "too long")));
        }
        Ok(Name { text, span })
    }

    /// A quoted string, without its quotes.
    fn quoted(&mut self, of: &str) -> ParseResult<Name> {
        if self.peek() != Token::Text {
            return Err(self.unexpected(&format!("{of} in double quotes")));
        }
        let span = self.advance();
        let text = self.text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default().to_owned();
        Ok(Name { text, span })
    }

    /// One of these words.
    fn one_of<T: Copy>(&mut self, words: &[(&'static str, T)], of: &str) -> ParseResult<T> {
        let word = self.word();
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == word) {
            let value = *value;
            self.advance();
            return Ok(value);
        }
        let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
        let help = match nearest(word, names.iter().copied()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("write one of {}", names.join(", ")),
        };
        let message = format!(
            "expected {of}, found {}",
            if word.is_empty() { self.peek().to_string() } else { format!("`{word}`") }
        );
        let wrong = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "not expected here");
        Err(self.report(wrong.help(help)))
    }

    fn declarations(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while self.peek() != Token::End {
            if declarations.len() == MAX_DECLARATIONS {
                let message = format!("more than {MAX_DECLARATIONS} declarations in one file");
                let wrong = Diagnostic::new(Code::TooLarge, self.span(), message, "one too many");
                self.report(wrong.help("move some to another file"));
                return declarations;
            }
            let start = self.at;
            match self.declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(AlreadyReported) => self.recover(start),
            }
        }
        declarations
    }

    /// Continues after an error, where the next declaration begins.
    fn recover(&mut self, start: usize) {
        self.at = self.at.max((start + 1).min(self.tokens.len() - 1));
        while self.peek() != Token::End && !self.is_at_declaration() {
            self.advance();
        }
    }

    /// `alarm NAME {`: keywords are names elsewhere.
    fn is_at_declaration(&self) -> bool {
        let token = |ahead: usize| self.tokens.get(self.at + ahead).map(|(token, _)| *token);
        declaration::KEYWORDS.contains(&self.word())
            && token(1) == Some(Token::Name)
            && matches!(token(2), Some(Token::BraceOpen | Token::Assign | Token::Name))
    }
}
