//! Parses tokens to declarations, by recursive descent. Parsing continues after an error, so that one run shows several.

mod advice;
mod attributes;
mod directives;
mod enums;
mod limits;
mod number;
mod probe;
mod rate;
mod types;
mod unknown;

use crate::{
    ast::{DECLARATIONS, Declaration, File, METRIC_ATTRIBUTES, Metric, Module, Name, Struct},
    diagnostic::{Code, Diagnostic, nearest},
    lexer::{Token, lex},
    source::{FileId, Span},
};
use attributes::Attributes;
use unknown::UnknownCharacters;

/// Deepest nesting of modules and of vectors.
const MAX_DEPTH: usize = 16;

/// Most tokens of attributes that are skipped together after an error.
const MAX_ATTRIBUTE_TOKENS: usize = 256;

/// A syntax error that was reported already.
pub(crate) struct AlreadyReported;
type ParseResult<T> = Result<T, AlreadyReported>;

/// Parses a file. The result has every declaration that could be parsed, even after errors.
pub fn parse(file: FileId, text: &str) -> (File, Vec<Diagnostic>) {
    let (tokens, wrong) = lex(file, text);
    let open_end = wrong.iter().find(|wrong| wrong.code == Code::Unterminated).and_then(|wrong| wrong.place);
    let unknown = unknown::unknown(&wrong);
    let readable = open_end.map_or(text.len() + 1, |place| place.start);
    let mut parser = Parser { text, tokens, at: 0, readable, unknown, wrong };
    let mut parsed = File::default();
    parser.preamble(&mut parsed);
    parsed.declarations = parser.declarations(0);
    parser.forget();
    (parsed, parser.wrong)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// The end of the meaningful tokens: the tokens after an unterminated comment or text have no meaning.
    readable: usize,
    /// Characters that are not part of a token, in order.
    unknown: Vec<UnknownCharacters>,
    wrong: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    /// The token after this one.
    fn next(&self) -> Token {
        self.tokens.get(self.at + 1).map_or(Token::End, |(token, _)| *token)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    /// The content of a text, without quotes.
    fn unquoted(&self, text: Span) -> &str {
        self.slice(Span { start: text.start + 1, end: text.end.saturating_sub(1), ..text })
    }

    fn word(&self) -> &str {
        if self.peek() == Token::Name { self.slice(self.span()) } else { "" }
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// The span from `start` to the last token that was read.
    fn span_from(&self, start: Span) -> Span {
        self.at.checked_sub(1).map_or(start, |last| start.to(self.tokens[last].1))
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token, context: &str) -> ParseResult<Span> {
        if self.peek() == token {
            return Ok(self.advance());
        }
        let message = format!("missing {token} {context}");
        // The missing token belongs after the previous one, not before the first of the next line.
        let place = match (token, self.at.checked_sub(1)) {
            (Token::Semicolon | Token::Comma, Some(before)) => {
                let end = self.tokens[before].1.end;
                Span { start: end.saturating_sub(1), end, ..self.span() }
            }
            _ => self.span(),
        };
        let mut diagnostic =
            Diagnostic::new(Code::UnexpectedToken, place, message, format!("expected {token}"));
        diagnostic.help = self.advice(Some(token));
        Err(self.report(diagnostic))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> AlreadyReported {
        let is_echo = diagnostic.code == Code::UnexpectedToken
            && (self.span().start >= self.readable || self.follows_unknown());
        if !is_echo {
            self.wrong.push(diagnostic);
        }
        AlreadyReported
    }

    fn unexpected(&mut self, wanted: &str) -> AlreadyReported {
        let help = self.advice(None);
        self.unexpected_with(wanted, help)
    }

    fn unexpected_with(&mut self, wanted: &str, help: Option<String>) -> AlreadyReported {
        let message = format!("expected {wanted}, found {}", self.found());
        let label = format!("expected {wanted}");
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, label);
        self.report(Diagnostic { help, ..diagnostic })
    }

    fn found(&self) -> String {
        match self.peek() {
            Token::Name => format!("`{}`", self.word()),
            Token::MediaType => format!("`{}`", self.slice(self.span())),
            other => other.to_string(),
        }
    }

    /// Skips to the next place where a declaration, a metric or the end of this block can start.
    fn recover(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                // Attributes have semicolons of their own.
                Token::BracketOpen if self.closes_bracket() => {
                    while self.peek() != Token::BracketClose {
                        self.advance();
                    }
                }
                Token::BraceOpen => depth += 1,
                Token::BraceClose if depth == 0 => return,
                Token::BraceClose => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        self.eat(Token::Semicolon);
                        return;
                    }
                }
                Token::Semicolon if depth == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Whether the `[` that stands here is closed before a block begins or ends.
    fn closes_bracket(&self) -> bool {
        let ends = |token: &Token| {
            matches!(token, Token::BracketClose | Token::BraceOpen | Token::BraceClose | Token::End)
        };
        let mut rest = self.tokens.iter().skip(self.at).take(MAX_ATTRIBUTE_TOKENS).map(|(token, _)| *token);
        rest.find(ends) == Some(Token::BracketClose)
    }

    /// Whether this token is on a later line than the one before it.
    fn is_on_new_line(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let between = before.and_then(|(_, before)| self.text.get(before.end..self.span().start));
        between.is_some_and(|between| between.contains('\n'))
    }

    /// Whether a metric begins here, on a line of its own.
    fn is_at_metric_line(&self) -> bool {
        let is_begin = match self.peek() {
            Token::BracketOpen => self.next() == Token::Name,
            Token::Name => self.type_follows(),
            Token::Scope | Token::Doc => true,
            _ => false,
        };
        is_begin && self.is_on_new_line()
    }

    fn declarations(&mut self, depth: usize) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !matches!(self.peek(), Token::End | Token::BraceClose) || (depth == 0 && self.stray_brace()) {
            match self.declaration(depth) {
                Ok(Some(declaration)) => declarations.push(declaration),
                Ok(None) => {}
                Err(AlreadyReported) => self.recover(),
            }
        }
        declarations
    }

    /// Reports an unmatched `}` and continues after it.
    fn stray_brace(&mut self) -> bool {
        if self.peek() != Token::BraceClose {
            return false;
        }
        let message = "unmatched `}`";
        self.report(Diagnostic::new(Code::UnexpectedToken, self.span(), message, "no block is open here"));
        self.advance();
        self.eat(Token::Semicolon);
        self.peek() != Token::End
    }

    fn declaration(&mut self, depth: usize) -> ParseResult<Option<Declaration>> {
        let start = self.span();
        let doc = self.doc();
        let attributes = self.attributes()?;
        self.stray_documentation();
        match self.word() {
            "module" => {
                self.module(start, depth, &attributes).map(|module| Some(Declaration::Module(module)))
            }
            "struct" => {
                self.struct_(start, doc, &attributes).map(|declared| Some(Declaration::Struct(declared)))
            }
            "enum" => self.enum_(start, doc, &attributes).map(|declared| Some(Declaration::Enum(declared))),
            "probe" | "abstract" => {
                self.probe(start, doc, attributes).map(|probe| Some(Declaration::Probe(probe)))
            }
            // Documentation at the end of a block describes nothing.
            "" if matches!(self.peek(), Token::BraceClose | Token::End) && attributes.is_empty() => Ok(None),
            _ if self.peek() == Token::Hash => {
                self.late_directive();
                Ok(None)
            }
            _ => Err(self.no_declaration()),
        }
    }

    fn no_declaration(&mut self) -> AlreadyReported {
        let message = format!("expected a declaration, found {}", self.found());
        let label = "expected `module`, `struct`, `enum` or `probe`";
        let mut diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, label);
        let known = advice::declaration(self.word())
            .or_else(|| nearest(self.word(), DECLARATIONS.into_iter()))
            .map(|known| format!("did you mean `{known}`?"));
        diagnostic.help = known.or_else(|| self.advice(None));
        self.report(diagnostic)
    }

    fn doc(&mut self) -> Option<String> {
        let mut lines = Vec::new();
        while self.peek() == Token::Doc {
            let span = self.advance();
            let line = self.slice(span).trim_start_matches('/').trim_end();
            lines.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn name(&mut self, of: &str) -> ParseResult<Name> {
        if self.peek() != Token::Name {
            return Err(self.unexpected(&format!("the name of {of}")));
        }
        let text = self.word().to_owned();
        Ok(Name { text, span: self.advance() })
    }

    fn module(&mut self, start: Span, depth: usize, attributes: &Attributes) -> ParseResult<Module> {
        let keyword = self.advance();
        attributes.none_on(self, "module");
        let name = self.name("the module")?;
        if depth >= MAX_DEPTH {
            let message = format!("modules nest deeper than {MAX_DEPTH}");
            return Err(self.report(Diagnostic::new(Code::TooDeep, keyword, message, "exceeds the limit")));
        }
        let open = self.expect(Token::BraceOpen, "after the module's name")?;
        let declarations = self.declarations(depth + 1);
        // The declaration is known even if it is not closed, so that its uses do not fail too.
        let _reported = self.close(open);
        // Newer files have this `;`, those in the papers do not.
        self.eat(Token::Semicolon);
        Ok(Module { name, declarations, extent: self.span_from(start) })
    }

    fn close(&mut self, open: Span) -> ParseResult<()> {
        if self.eat(Token::BraceClose) {
            return Ok(());
        }
        let message = format!("expected `}}`, found {}", self.found());
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "expected `}`");
        Err(self.report(diagnostic.related(open, "this block is not closed")))
    }

    /// `};` after a block. The declaration is known without it too, so that its uses do not fail.
    fn end(&mut self, open: Span) {
        if self.close(open).is_ok() {
            let _reported = self.expect(Token::Semicolon, "after `}`");
        }
    }

    fn struct_(&mut self, start: Span, doc: Option<String>, attributes: &Attributes) -> ParseResult<Struct> {
        self.advance();
        attributes.none_on(self, "struct");
        let name = self.name("the struct")?;
        let members = self.metrics("after the struct's name")?;
        Ok(Struct { name, doc, members, extent: self.span_from(start) })
    }

    /// `{ … };` of a struct or a probe.
    fn metrics(&mut self, context: &str) -> ParseResult<Vec<Metric>> {
        let open = self.expect(Token::BraceOpen, context)?;
        let mut metrics = Vec::new();
        while !matches!(self.peek(), Token::BraceClose | Token::End) {
            if self.is_at_declaration() {
                // This block was not closed, but a declaration follows.
                break;
            }
            if self.metric_line(&mut metrics).is_err() {
                self.recover();
            }
        }
        self.end(open);
        Ok(metrics)
    }

    /// Whether a declaration begins here, and not a metric of a type named `probe`.
    fn is_at_declaration(&self) -> bool {
        let token = |ahead: usize| self.tokens.get(self.at + ahead).map(|(token, _)| *token);
        DECLARATIONS.contains(&self.word())
            && token(1) == Some(Token::Name)
            && matches!(token(2), Some(Token::BraceOpen | Token::Colon | Token::Name))
    }

    /// `[…] type name, name, type name;`
    fn metric_line(&mut self, metrics: &mut Vec<Metric>) -> ParseResult<()> {
        let doc = self.doc();
        if matches!(self.peek(), Token::BraceClose) {
            return Ok(());
        }
        let attributes = self.attributes()?;
        self.stray_documentation();
        attributes.only(self, "metric", &METRIC_ATTRIBUTES);
        let start = self.span();
        let mut kind = self.kind(0)?;
        let written = self.span_from(start);
        self.stray_documentation();
        loop {
            let name = self.name("the metric")?;
            self.array(written, name.span)?;
            metrics.push(Metric {
                name,
                kind: kind.clone(),
                doc: doc.clone(),
                unit: attributes.unit.clone(),
                behavior: attributes.behavior,
                label: attributes.label.clone(),
                limits: attributes.limits.clone(),
            });
            if !self.eat(Token::Comma) {
                break;
            }
            // The papers' listing repeats the type after a comma.
            if self.type_follows() {
                kind = self.kind(0)?;
            }
        }
        let is_next_line = self.is_at_metric_line();
        match self.expect(Token::Semicolon, "after the metric") {
            // The next metric is known although this one lacks its `;`.
            Err(AlreadyReported) if is_next_line => Ok(()),
            ended => ended.map(drop),
        }
    }

    fn parenthesized<T>(&mut self, inner: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.expect(Token::ParenOpen, "before the value")?;
        let value = inner(self)?;
        self.expect(Token::ParenClose, "after the value")?;
        Ok(value)
    }
}
