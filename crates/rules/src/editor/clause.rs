//! What can follow in a clause.

use super::{context::Context, names::Piece};
use crate::lexer::Token;

/// What is wanted at a place.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Nothing that could be proposed.
    Nothing,
    /// One of these words.
    Words(Vec<&'static str>),
    /// A probe type.
    Type,
    /// `NODE/INSTANCE`, in quotes.
    Instance,
    /// The input of a rule, or `NODE/INSTANCE` in quotes.
    Target,
    /// A placeholder, in quotes.
    Placeholder,
    /// What is in this input, struct or derived instance.
    Member(Vec<&'a str>),
    /// What can be compared with this, or any value.
    Compared(Vec<&'a str>),
    /// A unit of what is compared, or one of these words.
    Unit(Option<Vec<&'a str>>, Vec<&'static str>),
    /// A value, or `last` for a window.
    Value,
}

pub const DECLARATIONS: [&str; 5] = crate::parser::KEYWORDS;
const CLAUSES: [&str; 8] = ["raise", "clear", "severity", "latch", "on_unknown", "message", "notify", "on"];
const COMMANDS: [&str; 7] = ["hertz", "enable", "disable", "sample-now", "trigger", "demand", "demand-off"];

/// What is wanted at a place.
pub fn wanted<'a>(context: &Context<'a>) -> Wanted<'a> {
    let clause = &*context.clause;
    if context.is_quoted {
        return match clause {
            [(_, "input"), _, (Token::Assign, _)] | [(_, "on"), ..] => Wanted::Instance,
            [(_, "message")] => Wanted::Placeholder,
            _ => Wanted::Nothing,
        };
    }
    match (context.block, clause) {
        (None, []) => Wanted::Words(DECLARATIONS.into()),
        (None, [(_, "input"), _, _, (Token::Text, _), (Token::Colon, _)]) => Wanted::Type,
        (None, [(_, "derive"), (Token::Name, _)]) => Wanted::Words(vec!["every"]),
        (None, [.., (_, "every"), (Token::Number, _)]) => Wanted::Unit(None, Vec::new()),
        (Some("alarm"), []) => Wanted::Words(CLAUSES.into()),
        (Some("event"), []) => Wanted::Words(vec!["when", "on"]),
        (Some("check"), []) => Wanted::Words(vec!["after"]),
        (Some("alarm"), [(_, "severity")]) => {
            Wanted::Words(crate::ast::Severity::ALL.map(|(name, _)| name).into())
        }
        (Some("alarm"), [(_, "on_unknown")]) => {
            Wanted::Words(crate::ast::OnUnknown::ALL.map(|(name, _)| name).into())
        }
        (Some("alarm"), [(_, "notify")]) => Wanted::Words(vec!["none"]),
        (Some("alarm"), [(_, "on")]) => Wanted::Words(vec!["raised", "cleared"]),
        (Some("event"), [(_, "on")]) => Wanted::Words(vec!["matched", "violated"]),
        (Some("alarm" | "event"), [(_, "on"), _]) => Wanted::Words(COMMANDS.into()),
        (Some("alarm" | "event"), [(_, "on"), _, (_, "hertz")]) => Wanted::Nothing,
        (Some("alarm" | "event"), [(_, "on"), ..]) => Wanted::Target,
        (Some("alarm"), [(_, "raise" | "clear"), rest @ ..]) => expression(rest, &["for"]),
        (Some("event"), [(_, "when"), rest @ ..]) => expression(rest, &["then", "within"]),
        (Some("check"), [(_, "after"), rest @ .., (Token::Colon, _)]) if !rest.is_empty() => {
            Wanted::Words(vec!["always"])
        }
        (Some("check"), [(_, "after"), rest @ ..]) => expression(rest, &[]),
        (Some("derive"), [(Token::Name, _), (Token::Assign, _), rest @ ..]) => expression(rest, &[]),
        _ => Wanted::Nothing,
    }
}

/// What can follow a part of an expression.
fn expression<'a>(before: &[Piece<'a>], words: &[&'static str]) -> Wanted<'a> {
    let ends_value: Vec<&'static str> = ["and", "or"].into_iter().chain(words.iter().copied()).collect();
    match before {
        [.., (Token::Dot, _)] => Wanted::Member(path(&before[..before.len() - 1])),
        [rest @ .., (Token::Equal | Token::NotEqual, _)] => Wanted::Compared(path(rest)),
        // Of a duration.
        [.., (_, "for" | "within") | (Token::Comma | Token::BracketOpen, _), (Token::Number, _)] => {
            Wanted::Unit(None, vec!["at most"])
        }
        [rest @ .., (Token::Number, _)] => {
            let is_comparison = matches!(
                rest,
                [.., (Token::Less | Token::LessEqual | Token::Greater | Token::GreaterEqual, _)]
            );
            let compared =
                is_comparison.then(|| path(&rest[..rest.len() - 1])).filter(|path| !path.is_empty());
            Wanted::Unit(compared, ends_value)
        }
        [.., (_, "for" | "within" | "last")] => Wanted::Nothing,
        [.., (Token::Name, word)] if !["and", "or", "not", "then"].contains(word) => {
            Wanted::Words(ends_value)
        }
        [.., (Token::ParenClose | Token::BraceClose | Token::Percent, _)] => Wanted::Words(ends_value),
        _ => Wanted::Value,
    }
}

/// The names with dots between them at the end of tokens.
fn path<'a>(before: &[Piece<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut rest = before;
    while let [before @ .., (Token::Name, name)] = rest {
        names.push(*name);
        rest = match before {
            [before @ .., (Token::Dot, _)] => before,
            _ => break,
        };
    }
    names.reverse();
    names
}
