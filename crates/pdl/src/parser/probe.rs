//! `[uuid(…); version(1.0)] abstract probe Name : Base { … };`

use super::{Attributes, ParseResult, Parser, advice::WRITE_ABSTRACT};
use crate::{
    ast::{PROBE_ATTRIBUTES, Probe},
    diagnostic::{Code, Diagnostic},
    lexer::Token,
    source::Span,
};

impl Parser<'_> {
    pub(super) fn probe(
        &mut self,
        start: Span,
        doc: Option<String>,
        attributes: Attributes,
    ) -> ParseResult<Probe> {
        let is_abstract = self.word() == "abstract";
        self.advance();
        if is_abstract && self.word() != "probe" {
            let help = "only a probe can be abstract".to_owned();
            return Err(self.unexpected_with("`probe`", Some(help)));
        }
        if is_abstract {
            self.advance();
        }
        if !is_abstract && self.word() == "abstract" && self.next() == Token::Name {
            return Err(self.unexpected_with("the name of the probe", Some(WRITE_ABSTRACT.into())));
        }
        let name = self.name("the probe")?;
        let base = if self.eat(Token::Colon) { Some(self.path("the base probe")?) } else { None };
        attributes.only(self, "probe", &PROBE_ATTRIBUTES);
        let metrics = self.metrics("after the probe's name")?;
        if !is_abstract && attributes.uuid.is_none() && !attributes.broken {
            let message = format!("probe `{}` has no UUID", name.text);
            let diagnostic =
                Diagnostic::new(Code::MissingUuid, name.span, message, "a concrete probe requires a UUID");
            self.report(diagnostic.note("on the wire, the UUID identifies the probe type of a sample").help(
                "put `[uuid(…); version(1.0)]` before the probe, with a UUID from `uuidgen`, or make it `abstract`",
            ));
        }
        Ok(Probe {
            name,
            doc,
            is_abstract,
            uuid: attributes.uuid,
            version: attributes.version,
            demand: attributes.demand,
            base,
            metrics,
            extent: self.span_from(start),
        })
    }
}
