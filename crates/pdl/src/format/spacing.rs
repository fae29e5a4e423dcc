//! Spacing of words on one line.

use super::pieces::SourceToken;
use crate::lexer::Token;

/// Joint between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Directly after it.
    Glued,
    /// After a blank.
    Spaced,
    /// On a line of its own.
    Line,
    /// On a line of its own, which one empty line may set off.
    Item,
}

/// Position of a word in its sentence, as far as spacing needs it.
#[derive(Debug, Default)]
struct Context {
    /// Parentheses that are open: `<` and `>` compare in there and enclose types elsewhere.
    parentheses: usize,
    /// After a `#`.
    is_directive: bool,
}

impl Context {
    fn pass(&mut self, token: Token) {
        match token {
            Token::Hash => self.is_directive = true,
            Token::ParenOpen => self.parentheses += 1,
            Token::ParenClose => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.is_directive = false;
            }
            Token::Text => self.is_directive = false,
            _ => {}
        }
    }
}

/// Returns the joint of each word if it shares its line with the one before.
pub fn inline(pieces: &[SourceToken<'_>]) -> Vec<Join> {
    let mut context = Context::default();
    let mut before = None;
    let joins = pieces.iter().map(|piece| {
        let join = before.map_or(Join::Glued, |before| join(before, piece.token, &context));
        context.pass(piece.token);
        before = Some(piece.token);
        join
    });
    joins.collect()
}

fn join(before: Token, token: Token, context: &Context) -> Join {
    use Token::{
        AngleClose, AngleOpen, BracketClose, BracketOpen, Comma, Hash, Name, ParenClose, ParenOpen, Scope,
        Semicolon,
    };
    match (before, token) {
        (_, Semicolon | Comma | ParenClose | BracketClose) => Join::Glued,
        (ParenOpen | BracketOpen | Hash | Scope, _) => Join::Glued,
        // `#pragma version (1.1)` has always been written so.
        (_, ParenOpen) if context.is_directive => Join::Spaced,
        (_, ParenOpen) => Join::Glued,
        // Elsewhere a path begins at the root.
        (Name, Scope) => Join::Glued,
        (AngleOpen, _) | (_, AngleOpen | AngleClose) if context.parentheses == 0 => Join::Glued,
        _ => Join::Spaced,
    }
}
