//! Tokens to declarations, by recursive descent. After an error parsing goes on behind it, so that one run shows several.

mod attributes;
mod enums;
mod limits;
mod number;

use crate::{
    ast::{Declaration, File, Metric, Module, Name, Path, Probe, Simple, Struct, Type},
    diagnostic::{Code, Diagnostic, nearest},
    lexer::{Token, lex},
    source::{FileId, Span},
};
use attributes::Attributes;

/// Deepest nesting of modules and of vectors.
const MAX_DEPTH: usize = 16;
const DECLARATIONS: [&str; 5] = ["module", "struct", "enum", "probe", "abstract"];

/// A syntax error that was reported already.
pub(crate) struct Reported;
type Parsed<T> = Result<T, Reported>;

/// Parses a file; what could be understood is in the result whatever was wrong.
pub fn parse(file: FileId, text: &str) -> (File, Vec<Diagnostic>) {
    let (tokens, wrong) = lex(file, text);
    let open_end = wrong.iter().find(|wrong| wrong.code == Code::Unterminated).and_then(|wrong| wrong.place);
    let readable = open_end.map_or(text.len() + 1, |place| place.start);
    let mut parser = Parser { text, tokens, at: 0, readable, wrong };
    let mut parsed = File::default();
    parser.preamble(&mut parsed);
    parsed.declarations = parser.declarations(0);
    if parsed.declarations.is_empty() && parser.wrong.is_empty() {
        let message = "a PDL file declares at least one module, struct, enum or probe";
        parser.wrong.push(Diagnostic::new(
            Code::EmptyFile,
            parser.span(),
            message,
            "nothing is declared up to here",
        ));
    }
    (parsed, parser.wrong)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// Up to where the tokens are what was meant: behind a comment or text without end they are not.
    readable: usize,
    wrong: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    fn word(&self) -> &str {
        if self.peek() == Token::Name { self.slice(self.span()) } else { "" }
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token, behind: &str) -> Parsed<Span> {
        if self.peek() == token {
            return Ok(self.advance());
        }
        let message = format!("{token} is missing {behind}");
        // What is missing belongs behind the token before, not before the next line's first.
        let place = match (token, self.at.checked_sub(1)) {
            (Token::Semicolon | Token::Comma, Some(before)) => {
                let end = self.tokens[before].1.end;
                Span { start: end.saturating_sub(1), end, ..self.span() }
            }
            _ => self.span(),
        };
        Err(self.report(Diagnostic::new(Code::UnexpectedToken, place, message, format!("expected {token}"))))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if diagnostic.code != Code::UnexpectedToken || self.span().start < self.readable {
            self.wrong.push(diagnostic);
        }
        Reported
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let message = format!("expected {wanted}, found {}", self.found());
        let diagnostic =
            Diagnostic::new(Code::UnexpectedToken, self.span(), message, format!("expected {wanted}"));
        self.report(diagnostic)
    }

    fn found(&self) -> String {
        match self.peek() {
            Token::Name => format!("`{}`", self.word()),
            other => other.to_string(),
        }
    }

    /// Passes over everything up to where a new declaration, metric or the end of this block may begin.
    fn recover(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
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

    /// `#pragma version (1.1)` and `#include "path"`.
    fn preamble(&mut self, file: &mut File) {
        while self.eat(Token::Hash) {
            let parsed = match self.word() {
                "pragma" => self.pragma(),
                "include" => self.include(file),
                _ => Err(self.unexpected("`pragma` or `include`")),
            };
            if parsed.is_err() {
                while !matches!(self.peek(), Token::Hash | Token::End | Token::BracketOpen | Token::Doc)
                    && !DECLARATIONS.contains(&self.word())
                {
                    self.advance();
                }
            }
        }
    }

    fn pragma(&mut self) -> Parsed<()> {
        self.advance();
        if self.word() != "version" {
            return Err(self.unexpected("`version`"));
        }
        self.advance();
        self.parenthesised(|parser| parser.version()).map(drop)
    }

    fn include(&mut self, file: &mut File) -> Parsed<()> {
        self.advance();
        if self.peek() != Token::Text {
            return Err(self.unexpected("the path of a file in quotes"));
        }
        let span = self.advance();
        let text = self.slice(span).trim_matches('"').to_owned();
        file.includes.push(Name { text, span });
        Ok(())
    }

    fn declarations(&mut self, depth: usize) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !matches!(self.peek(), Token::End | Token::BraceClose) || (depth == 0 && self.stray_brace()) {
            match self.declaration(depth) {
                Ok(Some(declaration)) => declarations.push(declaration),
                Ok(None) => {}
                Err(Reported) => self.recover(),
            }
        }
        declarations
    }

    /// A `}` too many does not end the file.
    fn stray_brace(&mut self) -> bool {
        if self.peek() != Token::BraceClose {
            return false;
        }
        let message = "this `}` closes nothing";
        self.report(Diagnostic::new(Code::UnexpectedToken, self.span(), message, "no block is open here"));
        self.advance();
        self.eat(Token::Semicolon);
        self.peek() != Token::End
    }

    fn declaration(&mut self, depth: usize) -> Parsed<Option<Declaration>> {
        let doc = self.doc();
        let attributes = self.attributes()?;
        match self.word() {
            "module" => self.module(depth, &attributes).map(|module| Some(Declaration::Module(module))),
            "struct" => self.struct_(doc, &attributes).map(|declared| Some(Declaration::Struct(declared))),
            "enum" => self.enum_(doc, &attributes).map(|declared| Some(Declaration::Enum(declared))),
            "probe" | "abstract" => self.probe(doc, attributes).map(|probe| Some(Declaration::Probe(probe))),
            // Documentation at the end of a block documents nothing.
            "" if matches!(self.peek(), Token::BraceClose | Token::End) && attributes.is_empty() => Ok(None),
            word => {
                let help =
                    nearest(word, DECLARATIONS.into_iter()).map(|known| format!("did you mean `{known}`?"));
                let message = format!("expected a declaration, found {}", self.found());
                let mut diagnostic = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.span(),
                    message,
                    "expected `module`, `struct`, `enum` or `probe`",
                );
                diagnostic.help = help;
                Err(self.report(diagnostic))
            }
        }
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

    fn name(&mut self, of: &str) -> Parsed<Name> {
        if self.peek() != Token::Name {
            return Err(self.unexpected(&format!("the name of {of}")));
        }
        let text = self.word().to_owned();
        Ok(Name { text, span: self.advance() })
    }

    fn module(&mut self, depth: usize, attributes: &Attributes) -> Parsed<Module> {
        let keyword = self.advance();
        attributes.none_on(self, "module");
        let name = self.name("the module")?;
        if depth >= MAX_DEPTH {
            let message = format!("modules nest deeper than {MAX_DEPTH}");
            return Err(self.report(Diagnostic::new(Code::TooDeep, keyword, message, "one too many")));
        }
        let open = self.expect(Token::BraceOpen, "behind the module's name")?;
        let declarations = self.declarations(depth + 1);
        self.close(open)?;
        // Later files of users have it, the papers' do not.
        self.eat(Token::Semicolon);
        Ok(Module { name, declarations })
    }

    fn close(&mut self, open: Span) -> Parsed<()> {
        if self.eat(Token::BraceClose) {
            return Ok(());
        }
        let message = format!("expected `}}`, found {}", self.found());
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "expected `}`");
        Err(self.report(diagnostic.related(open, "this block is still open")))
    }

    fn struct_(&mut self, doc: Option<String>, attributes: &Attributes) -> Parsed<Struct> {
        self.advance();
        attributes.none_on(self, "struct");
        let name = self.name("the struct")?;
        let members = self.metrics("behind the struct's name")?;
        Ok(Struct { name, doc, members })
    }

    fn probe(&mut self, doc: Option<String>, attributes: Attributes) -> Parsed<Probe> {
        let is_abstract = self.word() == "abstract";
        self.advance();
        if is_abstract && self.word() != "probe" {
            return Err(self.unexpected("`probe`"));
        }
        if is_abstract {
            self.advance();
        }
        let name = self.name("the probe")?;
        let base = if self.eat(Token::Colon) { Some(self.path("the base probe")?) } else { None };
        attributes.only(self, "probe", &["uuid", "version"]);
        let metrics = self.metrics("behind the probe's name")?;
        if !is_abstract && attributes.uuid.is_none() && !attributes.broken {
            let message = format!("probe `{}` has no uuid", name.text);
            let diagnostic =
                Diagnostic::new(Code::MissingUuid, name.span, message, "a concrete probe needs one");
            self.report(diagnostic.note("the UUID says on the wire which probe a sample is of").help(
                "write `[uuid(…); version(1.0)]` before the probe, with a UUID from `uuidgen`, or make it `abstract`",
            ));
        }
        Ok(Probe {
            name,
            doc,
            is_abstract,
            uuid: attributes.uuid,
            version: attributes.version,
            base,
            metrics,
        })
    }

    /// `{ … };` of a struct or a probe.
    fn metrics(&mut self, behind: &str) -> Parsed<Vec<Metric>> {
        let open = self.expect(Token::BraceOpen, behind)?;
        let mut metrics = Vec::new();
        while !matches!(self.peek(), Token::BraceClose | Token::End) {
            if self.metric_line(&mut metrics).is_err() {
                self.recover();
            }
        }
        self.close(open)?;
        // Without it the declaration is as clear as with it: what uses it must not fail too.
        let _reported = self.expect(Token::Semicolon, "behind the `}`");
        Ok(metrics)
    }

    /// `[…] type name, name, type name;`
    fn metric_line(&mut self, metrics: &mut Vec<Metric>) -> Parsed<()> {
        let doc = self.doc();
        if matches!(self.peek(), Token::BraceClose) {
            return Ok(());
        }
        let attributes = self.attributes()?;
        attributes.only(self, "metric", &["unit", "kind", "label", "min", "max", "warn", "alarm"]);
        let mut kind = self.kind(0)?;
        loop {
            let name = self.name("the metric")?;
            metrics.push(Metric {
                name,
                kind: kind.clone(),
                doc: doc.clone(),
                unit: attributes.unit.clone(),
                behaviour: attributes.behaviour,
                label: attributes.label.clone(),
                limits: attributes.limits.clone(),
            });
            if !self.eat(Token::Comma) {
                break;
            }
            // The papers' listing repeats the type behind a comma.
            if self.type_follows() {
                kind = self.kind(0)?;
            }
        }
        self.expect(Token::Semicolon, "behind the metric").map(drop)
    }

    /// Whether a type, not a name, stands here: something with a name behind it.
    fn type_follows(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|(token, _)| *token);
        self.peek() == Token::Scope || matches!(next, Some(Token::Name | Token::AngleOpen | Token::Scope))
    }

    fn kind(&mut self, depth: usize) -> Parsed<Type> {
        let word = self.word();
        if word == "vector" {
            if depth >= MAX_DEPTH {
                let message = format!("vectors nest deeper than {MAX_DEPTH}");
                return Err(self.report(Diagnostic::new(
                    Code::TooDeep,
                    self.span(),
                    message,
                    "one too many",
                )));
            }
            self.advance();
            self.expect(Token::AngleOpen, "behind `vector`")?;
            let element = self.kind(depth + 1)?;
            self.expect(Token::AngleClose, "behind the type of the vector's elements")?;
            return Ok(Type::Vector(Box::new(element)));
        }
        if let Some((_, simple)) = Simple::ALL.into_iter().find(|(name, _)| *name == word) {
            self.advance();
            return Ok(Type::Simple(simple));
        }
        self.path("a type").map(Type::Named)
    }

    fn path(&mut self, of: &str) -> Parsed<Path> {
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

    fn parenthesised<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.expect(Token::ParenOpen, "before the value")?;
        let value = inner(self)?;
        self.expect(Token::ParenClose, "behind the value")?;
        Ok(value)
    }

    /// `major.minor`
    fn version(&mut self) -> Parsed<String> {
        let text = self.slice(self.span()).to_owned();
        let parts: Vec<&str> = text.split('.').collect();
        let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if self.peek() != Token::Number || parts.len() != 2 || !parts.iter().all(number) {
            let diagnostic = Diagnostic::new(
                Code::BadVersion,
                self.span(),
                "a version is two numbers and a dot",
                "not a version",
            );
            return Err(self.report(diagnostic.help("write it like `1.0`")));
        }
        self.advance();
        Ok(text)
    }
}
