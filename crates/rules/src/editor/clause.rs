//! Syntax that can follow in a clause.

use super::{context::Context, names::TokenText};
use crate::lexer::Token;

/// The syntax that is expected at a place.
#[derive(Debug, PartialEq, Eq)]
pub enum ExpectedSyntax<'a> {
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
    /// A member of this input, struct or derived instance.
    Member(Vec<&'a str>),
    /// A value that can be compared with this, or any value.
    Compared(Vec<&'a str>),
    /// A unit of what is compared, or one of these words.
    Unit(Option<Vec<&'a str>>, Vec<&'static str>),
    /// A value, or `last` for a window.
    Value,
}

pub const DECLARATIONS: [&str; 5] = crate::parser::KEYWORDS;
const CLAUSES: [&str; 8] = ["raise", "clear", "severity", "latch", "on_unknown", "message", "notify", "on"];
const COMMANDS: [&str; 7] = ["hertz", "enable", "disable", "sample-now", "trigger", "demand", "demand-off"];

/// Returns the syntax that is expected at a place.
pub fn expected_syntax<'a>(context: &Context<'a>) -> ExpectedSyntax<'a> {
    let clause = &*context.clause;
    if context.is_quoted {
        return match clause {
            [(_, "input"), _, (Token::Assign, _)] | [(_, "on"), ..] => ExpectedSyntax::Instance,
            [(_, "message")] => ExpectedSyntax::Placeholder,
            _ => ExpectedSyntax::Nothing,
        };
    }
    match (context.block, clause) {
        (None, []) => ExpectedSyntax::Words(DECLARATIONS.into()),
        (None, [(_, "input"), _, _, (Token::Text, _), (Token::Colon, _)]) => ExpectedSyntax::Type,
        (None, [(_, "derive"), (Token::Name, _)]) => ExpectedSyntax::Words(vec!["every"]),
        (None, [.., (_, "every"), (Token::Number, _)]) => ExpectedSyntax::Unit(None, Vec::new()),
        (Some("alarm"), []) => ExpectedSyntax::Words(CLAUSES.into()),
        (Some("event"), []) => ExpectedSyntax::Words(vec!["when", "on"]),
        (Some("check"), []) => ExpectedSyntax::Words(vec!["after"]),
        (Some("alarm"), [(_, "severity")]) => {
            ExpectedSyntax::Words(crate::ast::Severity::ALL.map(|(name, _)| name).into())
        }
        (Some("alarm"), [(_, "on_unknown")]) => {
            ExpectedSyntax::Words(crate::ast::OnUnknown::ALL.map(|(name, _)| name).into())
        }
        (Some("alarm"), [(_, "notify")]) => ExpectedSyntax::Words(vec!["none"]),
        (Some("alarm"), [(_, "on")]) => ExpectedSyntax::Words(vec!["raised", "cleared"]),
        (Some("event"), [(_, "on")]) => ExpectedSyntax::Words(vec!["matched", "violated"]),
        (Some("alarm" | "event"), [(_, "on"), _]) => ExpectedSyntax::Words(COMMANDS.into()),
        (Some("alarm" | "event"), [(_, "on"), _, (_, "hertz")]) => ExpectedSyntax::Nothing,
        (Some("alarm" | "event"), [(_, "on"), ..]) => ExpectedSyntax::Target,
        (Some("alarm"), [(_, "raise" | "clear"), rest @ ..]) => expression(rest, &["for"]),
        (Some("event"), [(_, "when"), rest @ ..]) => expression(rest, &["then", "within"]),
        (Some("check"), [(_, "after"), rest @ .., (Token::Colon, _)]) if !rest.is_empty() => {
            ExpectedSyntax::Words(vec!["always"])
        }
        (Some("check"), [(_, "after"), rest @ ..]) => expression(rest, &[]),
        (Some("derive"), [(Token::Name, _), (Token::Assign, _), rest @ ..]) => expression(rest, &[]),
        _ => ExpectedSyntax::Nothing,
    }
}

/// Returns the syntax that can follow a part of an expression.
fn expression<'a>(before: &[TokenText<'a>], words: &[&'static str]) -> ExpectedSyntax<'a> {
    let ends_value: Vec<&'static str> = ["and", "or"].into_iter().chain(words.iter().copied()).collect();
    match before {
        [.., (Token::Dot, _)] => ExpectedSyntax::Member(path(&before[..before.len() - 1])),
        [rest @ .., (Token::Equal | Token::NotEqual, _)] => ExpectedSyntax::Compared(path(rest)),
        // The number of a duration.
        [.., (_, "for" | "within") | (Token::Comma | Token::BracketOpen, _), (Token::Number, _)] => {
            ExpectedSyntax::Unit(None, vec!["at most"])
        }
        [rest @ .., (Token::Number, _)] => {
            let is_comparison = matches!(
                rest,
                [.., (Token::Less | Token::LessEqual | Token::Greater | Token::GreaterEqual, _)]
            );
            let compared =
                is_comparison.then(|| path(&rest[..rest.len() - 1])).filter(|path| !path.is_empty());
            ExpectedSyntax::Unit(compared, ends_value)
        }
        [.., (_, "for" | "within" | "last")] => ExpectedSyntax::Nothing,
        [.., (Token::Name, word)] if !["and", "or", "not", "then"].contains(word) => {
            ExpectedSyntax::Words(ends_value)
        }
        [.., (Token::ParenClose | Token::BraceClose | Token::Percent, _)] => {
            ExpectedSyntax::Words(ends_value)
        }
        _ => ExpectedSyntax::Value,
    }
}

/// The names with dots between them at the end of tokens.
fn path<'a>(before: &[TokenText<'a>]) -> Vec<&'a str> {
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
