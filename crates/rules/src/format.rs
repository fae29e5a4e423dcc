//! One layout for every file. Tokens and comments keep their text and order; only blanks and line breaks change.

use crate::{
    code::Diagnostic,
    compile::Report,
    lexer::{Token, lex},
    parser,
};
use oasis_pdl::{Sources, Span};
use std::{iter, ops::Range, path::Path};

/// Characters that a line has at most, if it can be broken.
const MAX_LINE_CHARS: usize = 100;
const BLOCK_INDENT: usize = 2;
/// Indentation of the rest of a clause: deeper than a block.
const CONTINUATION_INDENT: usize = 4;
/// Words that may begin a line. An operator outside of parentheses may too, if what follows it does not fit.
const BREAKS: [&str; 5] = ["and", "or", "then", "within", "for"];
/// Words that are followed by a blank even before a parenthesis.
const WORDS: [&str; 11] =
    ["and", "or", "not", "raise", "clear", "when", "then", "within", "after", "for", "every"];

/// Returns the text in its one layout.
///
/// # Errors
/// A report with the errors of a text that cannot be parsed; names are not looked up.
///
/// ```
/// let laid_out = oasis_rules::format("hot.rules".as_ref(), "alarm Hot{raise pump.t>95 Cel for 2s;}").unwrap();
/// assert_eq!(laid_out, "alarm Hot {\n  raise pump.t > 95 Cel for 2s;\n}\n");
/// ```
#[expect(clippy::result_large_err, reason = "an error is returned once a file")]
pub fn format(path: &Path, text: &str) -> Result<String, Report> {
    let mut sources = Sources::default();
    let file = sources.add(path.to_owned(), text.to_owned());
    let (_, diagnostics) = parser::parse(file, text);
    let tokens = match lex(file, text) {
        Ok(tokens) if diagnostics.is_empty() => tokens,
        Ok(_) => return Err(refused(diagnostics, sources)),
        Err(wrong) => return Err(refused(vec![*wrong], sources)),
    };
    let pieces = pieces(text, &tokens);
    let mut writer = Writer { pieces: &pieces, out: String::new(), depth: 0, column: 0 };
    for at in 0..pieces.len() {
        writer.piece(at);
    }
    Ok(writer.finish())
}

fn refused(diagnostics: Vec<Diagnostic>, sources: Sources) -> Report {
    Report { diagnostics, sources, ..Report::default() }
}

/// A token or a comment, and how it stood.
#[derive(Debug)]
struct LayoutToken<'a> {
    token: Token,
    text: &'a str,
    /// Line breaks before it.
    newlines: usize,
    /// Whether it follows the one before it directly: units and their numbers keep that.
    is_glued: bool,
    /// Its role besides its token.
    role: Role,
    /// Parentheses that are open.
    depth: usize,
}

impl LayoutToken<'_> {
    fn is_word_of_line(&self) -> bool {
        BREAKS.contains(&self.text)
    }

    fn is_operator(&self) -> bool {
        let is_binary = matches!(self.token, Token::Plus | Token::Minus | Token::Star | Token::Slash);
        is_binary && self.role == Role::Other && self.depth == 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A sign before a value.
    Sign,
    /// Part of a unit.
    Unit,
    /// The hyphen of a command, and what follows it.
    Hyphen,
    /// Neither.
    Other,
}

fn pieces<'a>(text: &'a str, tokens: &[(Token, Span)]) -> Vec<LayoutToken<'a>> {
    let mut pieces: Vec<LayoutToken<'a>> = Vec::with_capacity(tokens.len());
    let (mut end, mut unit_end, mut depth) = (0, 0, 0_usize);
    for (token, span) in tokens {
        let before = text.get(end..span.start).unwrap_or_default();
        let last = pieces.iter().rev().find(|piece| !piece.token.is_comment());
        let role = match token {
            _ if span.start < unit_end => Role::Unit,
            _ if is_in_command(&pieces, *token, before.is_empty()) => Role::Hyphen,
            Token::Minus if !last.is_some_and(ends_value) => Role::Sign,
            _ => Role::Other,
        };
        if *token == Token::Number && role == Role::Other {
            unit_end = parser::unit_after(text, *span).map_or(0, |unit| unit.end);
        }
        match token {
            Token::ParenOpen => depth += 1,
            Token::ParenClose => depth = depth.saturating_sub(1),
            _ => {}
        }
        pieces.push(LayoutToken {
            token: *token,
            text: text.get(span.start..span.end).unwrap_or_default().trim_end(),
            newlines: before.matches('\n').count(),
            is_glued: before.is_empty(),
            role,
            depth,
        });
        end = span.end;
    }
    pieces
}

/// Whether a token is the hyphen of a command, or what follows it: `on raised sample-now`. Nothing else has two words after `on`.
fn is_in_command(pieces: &[LayoutToken<'_>], token: Token, is_glued: bool) -> bool {
    let mut words = pieces.iter().rev().filter(|piece| !piece.token.is_comment());
    let mut last = || words.next().map_or("", |piece| piece.text);
    let word = if token == Token::Minus {
        last()
    } else {
        Some(last()).filter(|hyphen| *hyphen == "-").map_or("", |_| last())
    };
    let is_command = is_glued && matches!(word, "sample" | "demand");
    is_command && matches!(last(), "raised" | "cleared" | "matched" | "violated") && last() == "on"
}

/// Whether a value can end with this piece, so that a minus after it subtracts.
fn ends_value(piece: &LayoutToken<'_>) -> bool {
    match piece.token {
        Token::Name => !WORDS.contains(&piece.text),
        Token::Number | Token::ParenClose => true,
        _ => piece.role == Role::Unit,
    }
}

struct Writer<'a> {
    pieces: &'a [LayoutToken<'a>],
    out: String,
    depth: usize,
    column: usize,
}

impl Writer<'_> {
    fn piece(&mut self, at: usize) {
        let piece = &self.pieces[at];
        if piece.token == Token::BraceClose && piece.role == Role::Other {
            self.depth = self.depth.saturating_sub(1);
        }
        if let Some(before) = at.checked_sub(1) {
            self.join(&self.pieces[before], piece, at);
        }
        self.write(piece.text);
        if piece.token == Token::BraceOpen && piece.role == Role::Other {
            self.depth += 1;
        }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn line(&mut self, indent: usize, is_set_off: bool) {
        self.out.push_str(if is_set_off { "\n\n" } else { "\n" });
        self.out.extend(iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes the blanks between two pieces.
    fn join(&mut self, before: &LayoutToken<'_>, piece: &LayoutToken<'_>, at: usize) {
        let indent = self.depth * BLOCK_INDENT;
        let opens = before.token == Token::BraceOpen && before.role == Role::Other;
        let closes = matches!(piece.token, Token::BraceClose | Token::End) && piece.role == Role::Other;
        let may_set_off = !opens && !closes && piece.newlines > 1;
        if piece.token == Token::Semicolon && before.token == Token::BraceClose && before.role == Role::Other
        {
            return;
        }
        if piece.token.is_comment() {
            return if piece.newlines > 0 { self.line(indent, may_set_off) } else { self.write(" ") };
        }
        let is_end = matches!(before.token, Token::Semicolon)
            || (before.token == Token::BraceClose && before.role == Role::Other);
        let after_comment =
            before.token == Token::LineComment || (before.token == Token::BlockComment && piece.newlines > 0);
        if after_comment && !self.is_at_beginning(at) {
            self.line(indent + CONTINUATION_INDENT, false);
        } else if opens || closes || is_end || after_comment {
            self.line(indent, may_set_off);
        } else if before.token == Token::BlockComment || is_spaced(before, piece) {
            self.blank(at, indent);
        }
    }

    /// Whether a clause or declaration begins at a piece, comments aside.
    fn is_at_beginning(&self, at: usize) -> bool {
        let before = self.pieces[..at].iter().rev().find(|piece| !piece.token.is_comment());
        let closes = matches!(self.pieces[at].token, Token::BraceClose | Token::End);
        closes
            || before.is_none_or(|before| {
                matches!(before.token, Token::Semicolon | Token::BraceOpen | Token::BraceClose)
            })
    }

    /// A blank, or a line break before a piece that may begin a line, if what follows it does not fit.
    fn blank(&mut self, at: usize, indent: usize) {
        let piece = &self.pieces[at];
        let may_break = piece.is_word_of_line() || piece.is_operator();
        if may_break && self.column + 1 + self.width(at..self.next_break(at)) > MAX_LINE_CHARS {
            return self.line(indent + CONTINUATION_INDENT, false);
        }
        self.write(" ");
    }

    /// The end of what shares a line with this piece: up to the next word after a word, and up to the next operator after an operator.
    fn next_break(&self, at: usize) -> usize {
        let is_operator = self.pieces[at].is_operator();
        let ends = |piece: &LayoutToken<'_>| {
            let may_break = piece.is_word_of_line() || (is_operator && piece.is_operator());
            may_break || matches!(piece.token, Token::Semicolon | Token::LineComment | Token::End)
        };
        self.pieces[at + 1..].iter().position(ends).map_or(self.pieces.len(), |after| at + 1 + after)
    }

    fn width(&self, range: Range<usize>) -> usize {
        let width = |at: usize| {
            let piece = &self.pieces[at];
            let blank = at > 0 && is_spaced(&self.pieces[at - 1], piece);
            piece.text.chars().count() + usize::from(blank)
        };
        range.map(width).sum()
    }

    fn finish(self) -> String {
        let lines = self.out.trim_end().lines().map(str::trim_end);
        let mut text = lines.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

fn is_spaced(before: &LayoutToken<'_>, piece: &LayoutToken<'_>) -> bool {
    if piece.role == Role::Unit {
        return !piece.is_glued;
    }
    if piece.role == Role::Hyphen {
        return false;
    }
    let is_word = before.token == Token::Name && WORDS.contains(&before.text);
    match (before.token, piece.token) {
        (_, Token::Semicolon | Token::Comma | Token::ParenClose | Token::BracketClose) => false,
        _ if before.role == Role::Unit => true,
        (Token::ParenOpen | Token::BracketOpen | Token::Dot | Token::Scope, _) => false,
        (_, Token::Dot | Token::Scope) => false,
        (Token::Name, Token::ParenOpen) => is_word,
        (Token::Name, Token::BracketOpen) => false,
        (_, Token::Colon) => before.token == Token::Text,
        _ if before.role == Role::Sign => false,
        _ => true,
    }
}
