//! `[uuid(…); version(1.1)]` before probes, `[unit("By"); warn(> 80)]` before metrics: in any order, none of them twice.

use super::{Parsed, Parser, advice::WRITE_ABSTRACT};
use crate::{
    ast::{Behaviour, Demand, Limits, METRIC_ATTRIBUTES, PROBE_ATTRIBUTES},
    diagnostic::{Code, Diagnostic, nearest, with_article},
    lexer::Token,
    source::Span,
    unit,
};
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
    pub behaviour: Option<Behaviour>,
    pub label: Option<String>,
    pub limits: Limits,
    /// Each attribute and where it stands.
    seen: Vec<(&'static str, Span)>,
    /// One of them could not be read, so nothing can be said to be missing.
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
            let message = format!("{kind} cannot have the attribute `{name}`");
            let diagnostic = Diagnostic::new(Code::UnknownAttribute, span, message, "does not belong here");
            let list = allowed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            parser.report(match allowed {
                [] => diagnostic,
                _ => diagnostic.note(format!("{kind} can have {list}")),
            });
        }
    }

    /// Reports all of them.
    pub fn none_on(&self, parser: &mut Parser<'_>, kind: &str) {
        self.only(parser, kind, &[]);
    }
}

impl Parser<'_> {
    pub(super) fn attributes(&mut self) -> Parsed<Attributes> {
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
                    self.expect(Token::BracketClose, "behind the attributes")?;
                    break;
                }
            }
        }
        Ok(attributes)
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> Parsed<()> {
        let name = self.name("an attribute")?;
        let Some(known) = known().find(|known| *known == name.text) else {
            let message = format!("there is no attribute `{}`", name.text);
            let mut diagnostic =
                Diagnostic::new(Code::UnknownAttribute, name.span, message, "unknown attribute");
            diagnostic.help = nearest(&name.text, known()).map(|known| format!("did you mean `{known}`?"));
            if name.text == "abstract" {
                diagnostic.help = Some(WRITE_ABSTRACT.into());
            }
            return Err(self.report(diagnostic));
        };
        if let Some(&(_, first)) = attributes.seen.iter().find(|(seen, _)| *seen == known) {
            let message = format!("the attribute `{known}` stands twice");
            let diagnostic = Diagnostic::new(Code::RepeatedAttribute, name.span, message, "again here");
            self.report(diagnostic.related(first, "first here"));
        }
        attributes.seen.push((known, name.span));
        match known {
            "uuid" => attributes.uuid = Some(self.parenthesised(Self::uuid)?),
            "version" => attributes.version = Some(self.parenthesised(Self::version)?),
            "rate" => attributes.demand = self.parenthesised(Self::rate)?.map(Box::new),
            "unit" => attributes.unit = Some(self.parenthesised(Self::unit)?),
            "label" => attributes.label = Some(self.parenthesised(Self::text)?),
            "min" => attributes.limits.min = Some(self.parenthesised(Self::number)?),
            "max" => attributes.limits.max = Some(self.parenthesised(Self::number)?),
            "warn" => attributes.limits.warn = self.parenthesised(Self::conditions)?,
            "alarm" => attributes.limits.alarm = self.parenthesised(Self::conditions)?,
            _ => attributes.behaviour = Some(self.parenthesised(Self::behaviour)?),
        }
        Ok(())
    }

    fn uuid(&mut self) -> Parsed<(Uuid, Span)> {
        let span = self.value_span();
        if self.peek() == Token::Uuid
            && let Ok(uuid) = self.slice(span).parse()
        {
            self.advance();
            return Ok((uuid, span));
        }
        self.forget_unknown(span);
        let diagnostic = Diagnostic::new(Code::BadUuid, span, "this is no UUID", "expected a UUID");
        let help = if matches!(self.peek(), Token::Text | Token::BraceOpen) {
            "write it without quotes and braces"
        } else {
            "a UUID has 8-4-4-4-12 hexadecimal digits: `uuidgen` makes one"
        };
        let reported = self.report(diagnostic.help(help));
        // Braces around it are no block.
        self.eat(Token::BraceOpen);
        Err(reported)
    }

    fn text(&mut self) -> Parsed<String> {
        if self.peek() != Token::Text {
            let help = Some(self.word()).filter(|word| !word.is_empty());
            let help = help.map(|word| format!("write `\"{word}\"`"));
            return Err(self.unexpected_with("a text in quotes", help));
        }
        let span = self.advance();
        Ok(self.unquoted(span).to_owned())
    }

    fn unit(&mut self) -> Parsed<String> {
        let span = self.span();
        let text = self.text()?;
        if let Err(mistake) = unit::check(&text) {
            // The text begins after its quote.
            let start = span.start + 1;
            let place = Span { start: start + mistake.at.start, end: start + mistake.at.end, ..span };
            let mut diagnostic = Diagnostic::new(Code::UnknownUnit, place, mistake.message, "not a unit");
            diagnostic.help = mistake.help;
            self.report(diagnostic);
        }
        Ok(text)
    }

    fn behaviour(&mut self) -> Parsed<Behaviour> {
        if let Some((_, behaviour)) = Behaviour::ALL.into_iter().find(|(name, _)| *name == self.word()) {
            self.advance();
            return Ok(behaviour);
        }
        let names = || Behaviour::ALL.into_iter().map(|(name, _)| name);
        let message = format!("a metric's kind is one of {}", names().collect::<Vec<_>>().join(", "));
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
