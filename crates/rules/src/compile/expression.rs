//! Types and units of expressions.

use super::{AlreadyReported, Compiled, Compiler, Reads};
use crate::{
    ast::{Arithmetic, Comparison, Expression, ExpressionKind, Logic, Name},
    code::{Code, Diagnostic},
    program::{Condition, Feed, Number, Slot},
    unit::Unit,
};
use oasis_pdl::{Span, nearest};

/// An expression with its type.
pub enum Typed {
    Number(Quantity),
    Condition(Condition),
    /// With the names and numbers of its enum.
    Enumeration(Number, Vec<(String, i64)>),
}

/// A number with its unit.
pub struct Quantity {
    pub number: Number,
    pub unit: Unit,
    /// The value of a number without a unit: it takes the unit of what it is combined with.
    pub constant: Option<f64>,
    pub is_counter: bool,
}

impl Quantity {
    pub fn new(number: Number, unit: Unit) -> Self {
        Self { number, unit, constant: None, is_counter: false }
    }

    fn constant(value: f64) -> Self {
        Self { constant: Some(value), ..Self::new(Number::Constant(value), Unit::none()) }
    }

    /// Converted to another unit of the same dimension.
    fn converted(self, to: &Unit) -> Number {
        if self.constant.is_some() {
            return self.number;
        }
        let (factor, offset) = self.unit.to(to);
        scaled(self.number, factor, offset)
    }
}

fn scaled(of: Number, factor: f64, offset: f64) -> Number {
    match of {
        of if (factor - 1.0).abs() < 1e-12 && offset == 0.0 => of,
        Number::Constant(value) => Number::Constant(value * factor + offset),
        of => Number::Scale { of: of.into(), factor, offset },
    }
}

/// The expressions of one rule.
pub struct Typing<'c, 'a> {
    pub compiler: &'c mut Compiler<'a>,
    /// The samples that the rule reads, and where its text first names them.
    pub reads: Option<(Reads, Span)>,
    pub slots: Vec<Slot>,
    /// The declaration of the input whose samples it is evaluated at, if it reads several.
    pub driver: Option<usize>,
    /// The declaration of the other input that a value is computed from, while it is compiled.
    pub other: Option<usize>,
    /// The values of other inputs.
    pub feeds: Vec<Feed>,
}

impl Typing<'_, '_> {
    pub fn report(&mut self, wrong: Diagnostic) -> AlreadyReported {
        self.compiler.report(wrong)
    }

    /// An expression that is true or false.
    pub fn condition(&mut self, expression: &Expression) -> Compiled<Condition> {
        match self.typed(expression)? {
            Typed::Condition(condition) => Ok(condition),
            Typed::Number(_) => Err(self.no_condition(expression.span, "a number", "compare it: `x > 5`")),
            Typed::Enumeration(..) => {
                Err(self.no_condition(expression.span, "a value of an enum", "compare it: `x == NAME`"))
            }
        }
    }

    fn no_condition(&mut self, span: Span, what: &str, help: &str) -> AlreadyReported {
        let message = format!("expected a condition, found {what}");
        self.report(Diagnostic::new(Code::WrongType, span, message, "neither true nor false").help(help))
    }

    pub(super) fn quantity(&mut self, expression: &Expression) -> Compiled<Quantity> {
        match self.typed(expression)? {
            Typed::Number(quantity) => Ok(quantity),
            Typed::Condition(_) => Err(self.no_number(expression.span, "a condition")),
            Typed::Enumeration(..) => Err(self.no_number(expression.span, "a value of an enum")),
        }
    }

    fn no_number(&mut self, span: Span, what: &str) -> AlreadyReported {
        let message = format!("expected a number, found {what}");
        self.report(Diagnostic::new(Code::WrongType, span, message, "not a number"))
    }

    pub fn typed(&mut self, expression: &Expression) -> Compiled<Typed> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(value, unit) => self.literal(*value, unit.as_ref()).map(Typed::Number),
            ExpressionKind::Reference(path) => self.reference(path, span),
            ExpressionKind::Negate(of) => self.negated(of).map(Typed::Number),
            ExpressionKind::Not(of) => Ok(Typed::Condition(Condition::Not(self.condition(of)?.into()))),
            ExpressionKind::Arithmetic(operator, left, right) => {
                self.arithmetic(*operator, left, right, span).map(Typed::Number)
            }
            ExpressionKind::Compare(operator, left, right) => {
                self.compare(*operator, left, right, span).map(Typed::Condition)
            }
            ExpressionKind::Logic(operator, left, right) => {
                let (left, right) = (self.condition(left)?.into(), self.condition(right)?.into());
                Ok(Typed::Condition(match operator {
                    Logic::And => Condition::And(left, right),
                    Logic::Or => Condition::Or(left, right),
                }))
            }
            ExpressionKind::Call(name, arguments, window) => {
                self.call(name, arguments, window.as_ref(), span)
            }
        }
    }

    fn literal(&mut self, value: f64, unit: Option<&Name>) -> Compiled<Quantity> {
        let Some(unit) = unit else { return Ok(Quantity::constant(value)) };
        match Unit::parse(&unit.text) {
            Ok(unit) => Ok(Quantity::new(Number::Constant(value), unit)),
            Err(error) => {
                let wrong = Diagnostic::new(Code::UnknownUnit, unit.span, error.message, "not in UCUM");
                let wrong =
                    wrong.note("a unit ends at a blank: `5 m / x` is a quotient, and `5 m/s` a speed");
                Err(self.report(Diagnostic { help: error.help, ..wrong }))
            }
        }
    }

    fn negated(&mut self, of: &Expression) -> Compiled<Quantity> {
        let quantity = self.quantity(of)?;
        if let Some(value) = quantity.constant {
            return Ok(Quantity::constant(-value));
        }
        // `-5 Cel` is a temperature.
        if !matches!(quantity.number, Number::Constant(_)) {
            self.not_affine(&quantity, of.span)?;
        }
        Ok(Quantity::new(scaled(quantity.number, -1.0, 0.0), quantity.unit))
    }

    pub(super) fn not_affine(&mut self, quantity: &Quantity, span: Span) -> Compiled<()> {
        if !quantity.unit.is_affine() {
            return Ok(());
        }
        let message = format!("{} does not begin at zero", quantity.unit.name());
        let wrong = Diagnostic::new(Code::WrongUnit, span, message, "a point of a scale");
        Err(self.report(wrong.help("only add, subtract and compare it, or scale it by a plain number")))
    }

    fn arithmetic(
        &mut self,
        operator: Arithmetic,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Compiled<Quantity> {
        let (one, other) = (self.quantity(left)?, self.quantity(right)?);
        if let (Some(one), Some(other)) = (one.constant, other.constant) {
            return Ok(Quantity::constant(computed(operator, one, other)));
        }
        match operator {
            Arithmetic::Add | Arithmetic::Subtract => self.sum(operator, one, other, span),
            Arithmetic::Multiply | Arithmetic::Divide => {
                if other.constant.is_none() && (one.constant.is_none() || operator == Arithmetic::Divide) {
                    self.not_affine(&one, left.span)?;
                    self.not_affine(&other, right.span)?;
                }
                Ok(product(operator, one, other))
            }
        }
    }

    /// A sum has the unit of its left side, or of the side that has one.
    fn sum(
        &mut self,
        operator: Arithmetic,
        one: Quantity,
        other: Quantity,
        span: Span,
    ) -> Compiled<Quantity> {
        let join = |one, other, unit| {
            Quantity::new(Number::Arithmetic(operator, Box::new(one), Box::new(other)), unit)
        };
        if one.constant.is_some() {
            return Ok(join(one.number, other.number, other.unit));
        }
        if other.constant.is_some() {
            return Ok(join(one.number, other.number, one.unit));
        }
        let verb = if operator == Arithmetic::Add { "add" } else { "subtract" };
        self.same_dimension(verb, &one, &other, span)?;
        match (one.unit.is_affine(), other.unit.is_affine()) {
            // 20 Cel and 5 K are 25 Cel.
            (true, false) => {
                let difference = one.unit.of_difference();
                Ok(join(one.number, other.converted(&difference), one.unit))
            }
            (false, true) => self.not_affine(&other, span).map(|()| one),
            (is_affine, _) => {
                let unit = if is_affine && operator == Arithmetic::Subtract {
                    one.unit.of_difference()
                } else {
                    one.unit.clone()
                };
                Ok(join(one.number, other.converted(&one.unit), unit))
            }
        }
    }

    fn same_dimension(&mut self, verb: &str, one: &Quantity, other: &Quantity, span: Span) -> Compiled<()> {
        if one.unit.is_same_dimension(&other.unit) {
            return Ok(());
        }
        let message = format!("cannot {verb} {} and {}", one.unit.name(), other.unit.name());
        let wrong = Diagnostic::new(Code::WrongUnit, span, message, "different dimensions");
        let help = one
            .unit
            .text()
            .or(other.unit.text())
            .map(|unit| format!("use a unit such as `{unit}` on both sides"));
        Err(self.report(Diagnostic { help, ..wrong }))
    }

    fn compare(
        &mut self,
        operator: Comparison,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Compiled<Condition> {
        if let Some(name) = self.enumerator(right) {
            return self.compare_name(operator, left, name, span);
        }
        if let Some(name) = self.enumerator(left) {
            return self.compare_name(operator, right, name, span);
        }
        match (self.typed(left)?, self.typed(right)?) {
            (Typed::Number(one), Typed::Number(other)) => self.compare_numbers(operator, one, other, span),
            (Typed::Enumeration(one, of), Typed::Enumeration(other, same)) if of == same => {
                self.only_equality(operator, span)?;
                Ok(Condition::Compare { operator, left: one, right: other, unit: None, is_witness: false })
            }
            (Typed::Condition(_), _) | (_, Typed::Condition(_)) => {
                let wrong =
                    Diagnostic::new(Code::WrongType, span, "a condition is not compared", "true or false");
                Err(self.report(wrong.help("write `x` or `not x`")))
            }
            (Typed::Enumeration(..), _) | (_, Typed::Enumeration(..)) => {
                let message = "a value of an enum is compared with the names of that enum";
                Err(self.report(Diagnostic::new(Code::WrongType, span, message, "not a name of the enum")))
            }
        }
    }

    fn compare_numbers(
        &mut self,
        operator: Comparison,
        one: Quantity,
        other: Quantity,
        span: Span,
    ) -> Compiled<Condition> {
        if one.constant.is_none() && other.constant.is_none() {
            self.same_dimension("compare", &one, &other, span)?;
        }
        let unit = if one.constant.is_some() { other.unit.clone() } else { one.unit.clone() };
        let (left, right) = (one.converted(&unit), other.converted(&unit));
        if let Some(counted) = self.counted_feed(operator, &left, &right) {
            return Ok(counted);
        }
        Ok(match (left, right) {
            (Number::Count(count), Number::Constant(limit)) => {
                Condition::Counted { count, operator, limit, is_witness: false }
            }
            (Number::Constant(limit), Number::Count(count)) => {
                Condition::Counted { count, operator: reversed(operator), limit, is_witness: false }
            }
            (left, right) => {
                let unit = unit.text().map(str::to_owned);
                Condition::Compare { operator, left, right, unit, is_witness: false }
            }
        })
    }

    /// The name of an expression that can only be a name of an enum.
    fn enumerator<'e>(&self, expression: &'e Expression) -> Option<&'e Name> {
        let ExpressionKind::Reference(path) = &expression.kind else { return None };
        let [name] = &**path else { return None };
        (!self.compiler.names.contains_key(&*name.text)).then_some(name)
    }

    fn compare_name(
        &mut self,
        operator: Comparison,
        of: &Expression,
        name: &Name,
        span: Span,
    ) -> Compiled<Condition> {
        let Typed::Enumeration(left, enumerators) = self.typed(of)? else {
            return self.reference(std::slice::from_ref(name), name.span).and(Err(AlreadyReported));
        };
        self.only_equality(operator, span)?;
        let found = enumerators.iter().find(|(known, _)| *known == name.text);
        let Some(&(_, value)) = found else {
            let help = match nearest(&name.text, enumerators.iter().map(|(known, _)| &**known)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => {
                    let names: Vec<_> = enumerators.iter().map(|(known, _)| &**known).collect();
                    format!("write one of {}", names.join(", "))
                }
            };
            let message = format!("unknown enumerator `{}`", name.text);
            let wrong = Diagnostic::new(Code::UnknownEnumerator, name.span, message, "not in the enum");
            return Err(self.report(wrong.help(help)));
        };
        let right = Number::Constant(value as f64);
        Ok(Condition::Compare { operator, left, right, unit: None, is_witness: false })
    }

    fn only_equality(&mut self, operator: Comparison, span: Span) -> Compiled<()> {
        if matches!(operator, Comparison::Equal | Comparison::NotEqual) {
            return Ok(());
        }
        let message = "values of an enum have no order";
        let wrong = Diagnostic::new(Code::WrongType, span, message, "not an order");
        Err(self.report(wrong.help("compare with `==` or `!=`")))
    }
}

fn computed(operator: Arithmetic, one: f64, other: f64) -> f64 {
    match operator {
        Arithmetic::Add => one + other,
        Arithmetic::Subtract => one - other,
        Arithmetic::Multiply => one * other,
        Arithmetic::Divide => one / other,
    }
}

fn product(operator: Arithmetic, one: Quantity, other: Quantity) -> Quantity {
    let is_product = operator == Arithmetic::Multiply;
    let unit = match (one.constant, other.constant) {
        (_, Some(_)) => one.unit,
        (Some(_), None) if is_product => other.unit,
        _ if is_product => one.unit.times(&other.unit),
        _ => one.unit.over(&other.unit),
    };
    Quantity::new(Number::Arithmetic(operator, Box::new(one.number), Box::new(other.number)), unit)
}

/// The operator with its sides exchanged.
pub fn reversed(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Less => Comparison::Greater,
        Comparison::LessEqual => Comparison::GreaterEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterEqual => Comparison::LessEqual,
        Comparison::Equal | Comparison::NotEqual => operator,
    }
}
