//! `enum Mode : uint8 { IDLE, RUNNING = 5, FAILED };`

use super::{Attributes, ParseResult, Parser};
use crate::{
    ast::{Enum, Enumerator, Primitive},
    lexer::Token,
    source::Span,
};

impl Parser<'_> {
    pub(super) fn enum_(
        &mut self,
        start: Span,
        doc: Option<String>,
        attributes: &Attributes,
    ) -> ParseResult<Enum> {
        self.advance();
        attributes.none_on(self, "enum");
        let name = self.name("the enum")?;
        // Most enums have few values.
        let base = if self.eat(Token::Colon) { self.base_of_enum()? } else { Primitive::Uint8 };
        let open = self.expect(Token::BraceOpen, "after the enum's name")?;
        let enumerators = self.enumerators();
        let _of_nothing = self.doc();
        self.end(open);
        Ok(Enum { name, doc, base, enumerators, extent: self.span_from(start) })
    }

    fn base_of_enum(&mut self) -> ParseResult<Primitive> {
        let found = Primitive::named(self.word()).filter(|primitive| primitive.can_carry_enum());
        let base = found.ok_or_else(|| self.unexpected("an integer type of at most 32 bits"))?;
        self.advance();
        Ok(base)
    }

    /// Parses at least one enumerator. An error in one does not affect the others.
    fn enumerators(&mut self) -> Vec<Enumerator> {
        let mut enumerators = Vec::new();
        loop {
            enumerators.extend(self.enumerator());
            if !self.next_enumerator() {
                return enumerators;
            }
        }
    }

    /// Steps over the comma, which the last enumerator may have too.
    fn next_enumerator(&mut self) -> bool {
        while !matches!(self.peek(), Token::Comma | Token::BraceClose | Token::End) {
            self.advance();
        }
        self.eat(Token::Comma) && !self.at_end_of_block()
    }

    fn enumerator(&mut self) -> ParseResult<Enumerator> {
        let doc = self.doc();
        let name = self.name("an enumerator")?;
        let value = if self.eat(Token::Equals) { Some(self.number()?) } else { None };
        if self.peek() != Token::Comma && !self.at_end_of_block() {
            let _reported = self.expect(Token::Comma, "after the enumerator");
        }
        Ok(Enumerator { name, doc, value })
    }

    /// Whether only documentation comments precede the `}`.
    fn at_end_of_block(&self) -> bool {
        let next = self.tokens[self.at..].iter().find(|(token, _)| *token != Token::Doc);
        matches!(next, Some((Token::BraceClose | Token::End, _)))
    }
}
