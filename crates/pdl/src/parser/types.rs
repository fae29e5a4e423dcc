//! Types and scoped names: `uint8`, `vector<Port>`, `::OASIS::System::Port`.

use super::{MAX_DEPTH, ParseResult, Parser};
use crate::{
    ast::{Blob, Path, Primitive, Type},
    diagnostic::{Code, Diagnostic},
    lexer::Token,
    model::Number,
};
use oasis_wire::schema::{DEFAULT_BLOB_BYTES, MAX_BLOB_BYTES, MediaType};

/// Help for another content of a blob.
const SUPPORTED_BLOBS: &str = "write `blob<image/jpeg>` or `blob<image/png>`";

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
        if word == "blob" && self.next() == Token::AngleOpen {
            return self.blob(depth);
        }
        if let Some(primitive) = Primitive::named(word) {
            self.advance();
            return Ok(Type::Primitive(primitive));
        }
        self.path("a type").map(Type::Named)
    }

    /// `blob<image/jpeg>` or `blob<image/jpeg, 65536>`.
    fn blob(&mut self, depth: usize) -> ParseResult<Type> {
        let start = self.span();
        self.advance();
        self.expect(Token::AngleOpen, "after `blob`")?;
        let place = self.span();
        let name = self.slice(place).to_owned();
        let Some(media_type) = MediaType::named(&name) else {
            let message = format!("`{name}` cannot be the content of a blob");
            let wrong = Diagnostic::new(Code::BadBlob, place, message, "not a supported media type");
            return Err(self.report(wrong.help(SUPPORTED_BLOBS)));
        };
        self.advance();
        let mut max_bytes = DEFAULT_BLOB_BYTES;
        if self.eat(Token::Comma) {
            let bound = self.number()?;
            max_bytes = match bound.value {
                Number::Integer(bytes) if (1..=i128::from(MAX_BLOB_BYTES)).contains(&bytes) => bytes as u32,
                _ => {
                    let message = "the bound of a blob is out of range";
                    let label = format!("not a number of bytes from 1 to {MAX_BLOB_BYTES}");
                    let wrong = Diagnostic::new(Code::BadBlob, bound.span, message, label);
                    return Err(self.report(wrong.help("send smaller images: a lower resolution or quality")));
                }
            };
        }
        let end = self.span();
        self.expect(Token::AngleClose, "after the media type of the blob")?;
        if depth > 0 {
            let message = "a blob cannot be an element of a vector";
            let wrong = Diagnostic::new(Code::BadBlob, start.to(end), message, "within a vector");
            return Err(self.report(wrong.help("declare it as a metric of the probe: one image a sample")));
        }
        Ok(Type::Blob(Blob { media_type, max_bytes }))
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
