//! `[uuid(…); version(1.1)]` before probes, `[unit("By"); warn(> 80)]` before metrics: in any order, without duplicates.

use super::{
    ParseResult, Parser,
    advice::{self, WRITE_ABSTRACT},
};
use crate::{
    ast::{Behavior, Demand, Limits, METRIC_ATTRIBUTES, PROBE_ATTRIBUTES},
    diagnostic::{Code, Diagnostic, nearest, with_article},
    lexer::Token,
    source::Span,
};
use oasis_wire::unit;
use uuid::Uuid;

fn known() -> impl Iterator<Item = &'static str> {
    PROBE_ATTRIBUTES.into_iter().chain(METRIC_ATTRIBUTES)
}

/// The parsed attributes.
#[derive(Debug, Default)]
pub struct Attributes {
    pub uuid: Option<(Uuid, Span)>,
    pub version: Option<String>,
    pub demand: Option<Box<Demand>>,
    pub unit: Option<String>,
    pub behavior: Option<Behavior>,
    pub label: Option<String>,
    pub limits: Limits,
    /// Each attribute and where it stands.
    seen: Vec<(&'static str, Span)>,
    /// An attribute could not be parsed, so missing attributes are not reported.
    pub broken: bool,
}

impl Attributes {
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty() && !self.broken
    }

    /// Reports attributes that a declaration of this kind cannot have.
    pub fn only(&self, parser: &mut Parser<'_>, kind: &str, allowed: &[&str]) {
        let kind = with_article(kind);
        for &(name, span) in self.seen.iter().filter(|(name, _)| !allowed.contains(name)) {
            let message = format!("attribute `{name}` is not allowed on {kind}");
            let diagnostic = Diagnostic::new(Code::UnknownAttribute, span, message, "not allowed here");
            let list = allowed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            parser.report(match allowed {
                [] => diagnostic,
                _ => diagnostic.note(format!("{kind} accepts {list}")),
            });
        }
    }

    /// Reports all of them.
    pub fn none_on(&self, parser: &mut Parser<'_>, kind: &str) {
        self.only(parser, kind, &[]);
    }
}

impl Parser<'_> {
    pub(super) fn attributes(&mut self) -> ParseResult<Attributes> {
        let mut attributes = Attributes::default();
        while self.eat(Token::BracketOpen) {
            loop {
                if self.eat(Token::BracketClose) {
                    break;
                }
                if self.attribute(&mut attributes).is_err() {
                    attributes.broken = true;
                    self.skip_to_next_attribute();
                }
                if !self.eat(Token::Semicolon) {
                    self.expect(Token::BracketClose, "after the attributes")?;
                    break;
                }
            }
        }
        Ok(attributes)
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> ParseResult<()> {
        let other = advice::attribute(self.word(), self.parenthesized_text());
        let name = self.name("an attribute")?;
        let Some(known) = known().find(|known| *known == name.text) else {
            let message = format!("unknown attribute `{}`", name.text);
            let mut diagnostic =
                Diagnostic::new(Code::UnknownAttribute, name.span, message, "not an attribute");
            let similar = || nearest(&name.text, known()).map(|known| format!("did you mean `{known}`?"));
            diagnostic.help = other.or_else(similar);
            if name.text == "abstract" {
                diagnostic.help = Some(WRITE_ABSTRACT.into());
            }
            return Err(self.report(diagnostic));
        };
        if let Some(&(_, first)) = attributes.seen.iter().find(|(seen, _)| *seen == known) {
            let message = format!("duplicate attribute `{known}`");
            let diagnostic = Diagnostic::new(Code::RepeatedAttribute, name.span, message, "again here");
            self.report(diagnostic.related(first, "first here"));
        }
        attributes.seen.push((known, name.span));
        match known {
            "uuid" => attributes.uuid = Some(self.parenthesized(Self::uuid)?),
            "version" => attributes.version = Some(self.parenthesized(Self::version)?),
            "rate" => attributes.demand = self.parenthesized(Self::rate)?.map(Box::new),
            "unit" => attributes.unit = Some(self.parenthesized(Self::unit)?),
            "label" => attributes.label = Some(self.parenthesized(Self::text)?),
            "min" => attributes.limits.min = Some(self.parenthesized(Self::number)?),
            "max" => attributes.limits.max = Some(self.parenthesized(Self::number)?),
            "warn" => attributes.limits.warn = self.parenthesized(Self::conditions)?,
            "alarm" => attributes.limits.alarm = self.parenthesized(Self::conditions)?,
            _ => attributes.behavior = Some(self.parenthesized(Self::behavior)?),
        }
        Ok(())
    }

    fn uuid(&mut self) -> ParseResult<(Uuid, Span)> {
        let span = self.value_span();
        if self.peek() == Token::Uuid
            && let Ok(uuid) = self.slice(span).parse()
        {
            self.advance();
            return Ok((uuid, span));
        }
        self.forget_unknown(span);
        let diagnostic = Diagnostic::new(Code::BadUuid, span, "invalid UUID", "not a UUID");
        let help = if matches!(self.peek(), Token::Text | Token::BraceOpen) {
            "write the UUID without quotes or braces"
        } else {
            "a UUID has 8-4-4-4-12 hexadecimal digits: generate one with `uuidgen`"
        };
        let reported = self.report(diagnostic.help(help));
        // A brace before the UUID does not open a block.
        self.eat(Token::BraceOpen);
        Err(reported)
    }

    fn text(&mut self) -> ParseResult<String> {
        if self.peek() != Token::Text {
            let help = Some(self.word()).filter(|word| !word.is_empty());
            let help = help.map(|word| format!("write `\"{word}\"`"));
            return Err(self.unexpected_with("a quoted string", help));
        }
        let span = self.advance();
        Ok(self.unquoted(span).to_owned())
    }

    fn unit(&mut self) -> ParseResult<String> {
        let span = self.span();
        let text = self.text()?;
        if let Err(error) = unit::check(&text) {
            // The text begins after its quote.
            let start = span.start + 1;
            let place = Span { start: start + error.at.start, end: start + error.at.end, ..span };
            let mut diagnostic = Diagnostic::new(Code::UnknownUnit, place, error.message, "not a unit");
            diagnostic.help = error.help;
            self.report(diagnostic);
        }
        Ok(text)
    }

    fn behavior(&mut self) -> ParseResult<Behavior> {
        if let Some((_, behavior)) = Behavior::ALL.into_iter().find(|(name, _)| *name == self.word()) {
            self.advance();
            return Ok(behavior);
        }
        let names = || Behavior::ALL.into_iter().map(|(name, _)| name);
        let message = format!("expected a kind: {}", names().collect::<Vec<_>>().join(", "));
        let mut diagnostic = Diagnostic::new(Code::BadAttribute, self.span(), message, "not a kind");
        let word = self.slice(self.span()).trim_matches(['"', '\'']);
        diagnostic.help = nearest(word, names()).map(|known| format!("did you mean `{known}`?"));
        Err(self.report(diagnostic))
    }

    /// Parsing continues after an invalid attribute.
    fn skip_to_next_attribute(&mut self) {
        while !matches!(self.peek(), Token::Semicolon | Token::BracketClose | Token::BraceOpen | Token::End) {
            self.advance();
        }
    }
}
