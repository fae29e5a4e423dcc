//! Expressions: `or` binds last, then `and`, `not`, comparisons, `+ -`, `* /`, signs.

use super::{ParseResult, Parser};
use crate::{
    ast::{Arithmetic, Comparison, Expression, ExpressionKind, Logic, Name, Window, WindowSize},
    code::{Code, Diagnostic},
    lexer::Token,
    program::MAX_WINDOW,
};
use oasis_pdl::Span;

/// Deepest nesting of parentheses, calls and signs.
const MAX_DEPTH: usize = 32;
/// Most parts of an expression.
const MAX_NODES: usize = 256;

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> ParseResult<Expression> {
        (self.nodes, self.depth) = (0, 0);
        self.disjunction()
    }

    fn node(&mut self, kind: ExpressionKind, start: Span) -> ParseResult<Expression> {
        let span = self.span_from(start);
        self.nodes += 1;
        if self.nodes <= MAX_NODES {
            return Ok(Expression { kind, span });
        }
        let message = format!("expression of more than {MAX_NODES} parts");
        let wrong = Diagnostic::new(Code::TooLarge, span, message, "too large");
        Err(self.report(wrong.help("split it over several rules, or derive a value")))
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("expression nests deeper than {MAX_DEPTH}");
            return Err(self.report(Diagnostic::new(
                Code::TooLarge,
                self.span(),
                message,
                "exceeds the limit",
            )));
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }

    fn disjunction(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let mut left = self.conjunction()?;
        while self.eat_word("or") {
            let right = self.conjunction()?;
            left = self.node(ExpressionKind::Logic(Logic::Or, left.into(), right.into()), start)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let mut left = self.negation()?;
        while self.eat_word("and") {
            let right = self.negation()?;
            left = self.node(ExpressionKind::Logic(Logic::And, left.into(), right.into()), start)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        if !self.eat_word("not") {
            return self.comparison();
        }
        let of = self.deeper(Self::negation)?;
        self.node(ExpressionKind::Not(of.into()), start)
    }

    fn comparison(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let left = self.sum()?;
        let Some(operator) = comparison(self.peek()) else { return Ok(left) };
        self.advance();
        let right = self.sum()?;
        if comparison(self.peek()).is_some() {
            let message = "comparisons cannot be chained";
            let wrong = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "second comparison");
            return Err(self.report(wrong.help("join two comparisons with `and`: `0 < x and x < 9`")));
        }
        self.node(ExpressionKind::Compare(operator, left.into(), right.into()), start)
    }

    fn sum(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Token::Plus => Arithmetic::Add,
                Token::Minus => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            self.advance();
            let right = self.product()?;
            left = self.node(ExpressionKind::Arithmetic(operator, left.into(), right.into()), start)?;
        }
    }

    fn product(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let mut left = self.signed()?;
        loop {
            let operator = match self.peek() {
                Token::Star => Arithmetic::Multiply,
                Token::Slash => Arithmetic::Divide,
                _ => return Ok(left),
            };
            self.advance();
            let right = self.signed()?;
            left = self.node(ExpressionKind::Arithmetic(operator, left.into(), right.into()), start)?;
        }
    }

    fn signed(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        if !self.eat(Token::Minus) {
            return self.primary();
        }
        let of = self.deeper(Self::signed)?;
        self.node(ExpressionKind::Negate(of.into()), start)
    }

    fn primary(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        match self.peek() {
            Token::ParenOpen => {
                self.advance();
                let inner = self.deeper(Self::disjunction)?;
                self.expect(Token::ParenClose, "after the expression")?;
                Ok(inner)
            }
            Token::Number => {
                let (value, unit) = self.quantity()?;
                self.node(ExpressionKind::Number(value, unit), start)
            }
            Token::Name => self.reference_or_call(),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// `pump.temperature`, `OPEN` or `mean(…)`
    fn reference_or_call(&mut self) -> ParseResult<Expression> {
        let start = self.span();
        let first = self.name("a value")?;
        if self.eat(Token::ParenOpen) {
            let (arguments, window) = self.deeper(Self::arguments)?;
            self.expect(Token::ParenClose, &format!("after the arguments of `{}`", first.text))?;
            return self.node(ExpressionKind::Call(first, arguments, window), start);
        }
        let mut path = vec![first];
        while self.eat(Token::Dot) {
            path.push(self.name("a metric")?);
        }
        self.node(ExpressionKind::Reference(path), start)
    }

    fn arguments(&mut self) -> ParseResult<(Vec<Expression>, Option<Window>)> {
        let mut arguments = vec![self.disjunction()?];
        while self.eat(Token::Comma) {
            if self.word() == "last" {
                return Ok((arguments, Some(self.last()?)));
            }
            let start = (self.at, self.span(), self.nodes);
            let argument = self.disjunction()?;
            // A number with a unit of time is a window if nothing but the closing parenthesis or its bound follows.
            if is_time(&argument) && (self.peek() == Token::ParenClose || self.word() == "at") {
                (self.at, self.nodes) = (start.0, start.2);
                return Ok((arguments, Some(self.time(start.1)?)));
            }
            arguments.push(argument);
        }
        Ok((arguments, None))
    }

    /// `last 5`
    fn last(&mut self) -> ParseResult<Window> {
        let start = self.advance();
        let count = self.samples(MAX_WINDOW)?;
        Ok(Window { size: WindowSize::Last(count), span: self.span_from(start) })
    }

    /// `10s`, `10s at most 200 samples`
    fn time(&mut self, start: Span) -> ParseResult<Window> {
        let (nanos, _) = self.duration()?;
        let mut most = None;
        if self.eat_word("at") {
            self.expect_word("most", "after `at`")?;
            most = Some(self.samples(MAX_WINDOW)?);
            if !self.eat_word("sample") {
                self.expect_word("samples", "after the number")?;
            }
        }
        Ok(Window { size: WindowSize::Time(nanos, most), span: self.span_from(start) })
    }
}

fn is_time(argument: &Expression) -> bool {
    let ExpressionKind::Number(_, Some(Name { text, .. })) = &argument.kind else { return false };
    crate::unit::Unit::parse(text).is_ok_and(|unit| unit.seconds().is_some())
}

fn comparison(token: Token) -> Option<Comparison> {
    Some(match token {
        Token::Less => Comparison::Less,
        Token::LessEqual => Comparison::LessEqual,
        Token::Greater => Comparison::Greater,
        Token::GreaterEqual => Comparison::GreaterEqual,
        Token::Equal => Comparison::Equal,
        Token::NotEqual => Comparison::NotEqual,
        _ => return None,
    })
}
