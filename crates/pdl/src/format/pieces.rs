//! Words, each with the comments and line breaks before it.

use crate::{lexer::Token, source::Span};

/// A token, and the text between it and the one before.
#[derive(Debug)]
pub struct SourceToken<'a> {
    pub token: Token,
    pub text: &'a str,
    pub comments: Vec<Comment<'a>>,
    /// Line breaks after the last comment, or after the previous token if there is none.
    pub newlines: usize,
}

/// `// …` or `/* … */`. (`/// …` is a token: it means something.)
#[derive(Debug)]
pub struct Comment<'a> {
    pub text: &'a str,
    /// Line breaks before it.
    pub newlines: usize,
    /// The text before it on its line.
    pub before: &'a str,
}

impl SourceToken<'_> {
    /// Characters on the line.
    pub fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// Characters that the comments before it take if they share its line, each with a blank.
    pub fn comments_width(&self) -> usize {
        self.comments.iter().map(|comment| comment.width() + 1).sum()
    }

    /// Whether a comment before it keeps it and the token before from sharing a line.
    pub fn is_set_apart(&self) -> bool {
        let apart = |comment: &Comment<'_>| {
            comment.newlines > 0 || comment.runs_to_the_end_of_its_line() || comment.text.contains('\n')
        };
        self.comments.iter().any(apart) || (!self.comments.is_empty() && self.newlines > 0)
    }
}

impl Comment<'_> {
    /// Characters of its longest line. Blanks around the lines do not count: they change when the comment moves, and the next run must see the same width.
    fn width(&self) -> usize {
        self.text.split('\n').map(|line| line.trim().chars().count()).max().unwrap_or_default()
    }

    /// Whether nothing can follow it on its line.
    pub fn runs_to_the_end_of_its_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

/// All words of a text that was lexed without errors.
pub fn pieces<'a>(text: &'a str, tokens: &[(Token, Span)]) -> Vec<SourceToken<'a>> {
    let mut pieces = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for (token, span) in tokens {
        let (comments, newlines) = between(text, end, span.start);
        // Blanks at the end of a line of documentation are not part of it.
        let text = text.get(span.start..span.end).unwrap_or_default().trim_end();
        pieces.push(SourceToken { token: *token, text, comments, newlines });
        end = span.end;
    }
    pieces
}

/// The comments between two tokens, and the line breaks after the last one.
fn between(text: &str, start: usize, end: usize) -> (Vec<Comment<'_>>, usize) {
    let mut comments = Vec::new();
    let mut rest = text.get(start..end).unwrap_or_default();
    // Everything that is no comment is blank, and no blank is a slash.
    while let Some(blank) = rest.find('/') {
        let (before, from_comment) = rest.split_at(blank);
        let (comment, after) = from_comment.split_at(length(from_comment));
        let at = end - from_comment.len();
        comments.push(Comment {
            text: comment.trim_end(),
            newlines: newlines(before),
            before: line_before(text, at),
        });
        rest = after;
    }
    (comments, newlines(rest))
}

fn length(comment: &str) -> usize {
    let end = if comment.starts_with("/*") {
        comment.get(2..).and_then(|inner| inner.find("*/")).map(|inner| inner + 4)
    } else {
        comment.find('\n')
    };
    end.unwrap_or(comment.len())
}

fn newlines(blanks: &str) -> usize {
    blanks.matches('\n').count()
}

fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    // The byte order mark takes no room.
    before.rsplit_once('\n').map_or(before.trim_start_matches('\u{feff}'), |(_, line)| line)
}
