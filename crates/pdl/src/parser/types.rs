//! Types and scoped names: `uint8`, `vector<Port>`, `::OASIS::System::Port`.

use super::{MAX_DEPTH, ParseResult, Parser};
use crate::{
    ast::{Path, Primitive, Type},
    diagnostic::{Code, Diagnostic},
    lexer::Token,
};

impl Parser<'_> {
    /// Whether a type stands here and not a name: a name follows it.
    pub(super) fn type_follows(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|(token, _)| *token);
        self.peek() == Token::Scope || matches!(next, Some(Token::Name | Token::AngleOpen | Token::Scope))
    }

    pub(super) fn kind(&mut self, depth: usize) -> ParseResult<Type> {
        let word = self.word();
        if word == "vector" {
            if depth >= MAX_DEPTH {
                let message = format!("vectors nest deeper than {MAX_DEPTH}");
                return Err(self.report(Diagnostic::new(
                    Code::TooDeep,
                    self.span(),
                    message,
                    "exceeds the limit",
                )));
            }
            self.advance();
            self.expect(Token::AngleOpen, "after `vector`")?;
            let element = self.kind(depth + 1)?;
            self.expect(Token::AngleClose, "after the element type of the vector")?;
            return Ok(Type::Vector(Box::new(element)));
        }
        if let Some(primitive) = Primitive::named(word) {
            self.advance();
            return Ok(Type::Primitive(primitive));
        }
        self.path("a type").map(Type::Named)
    }

    pub(super) fn path(&mut self, of: &str) -> ParseResult<Path> {
        let start = self.span();
        let rooted = self.eat(Token::Scope);
        if self.peek() != Token::Name {
            return Err(self.unexpected(of));
        }
        let mut names = vec![self.name(of)?];
        while self.eat(Token::Scope) {
            names.push(self.name(of)?);
        }
        let end = names.last().map_or(start, |name| name.span);
        Ok(Path { rooted, names, span: start.to(end) })
    }
}
