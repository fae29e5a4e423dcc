//! Rules that read several inputs: they are evaluated at the samples of the input that is declared first, with values of the others.

use super::{
    AlreadyReported, Compiled, Compiler, Reads,
    expression::{Typed, Typing, reversed},
};
use crate::{
    ast::{Comparison, Expression, ExpressionKind, Kind, Name, Window, WindowSize},
    code::{Code, Diagnostic},
    program::{Alignment, Condition, Feed, Number, Source, Value},
};
use oasis_pdl::Span;
use std::collections::BTreeMap;

/// The greatest age of values of other inputs, in nanoseconds.
pub const DEFAULT_MAX_AGE_NANOS: u64 = 10_000_000_000;
/// Most inputs of a rule.
const MAX_INPUTS: usize = 8;

impl<'a> Compiler<'a> {
    /// Begins a rule with these expressions.
    pub(super) fn typing<'e>(
        &mut self,
        rule: &Name,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> Compiled<Typing<'_, 'a>> {
        let mut paths = Vec::new();
        expressions.into_iter().for_each(|expression| collect(expression, &mut paths));
        let (inputs, has_derived) = self.sources(&paths);
        let is_joined = inputs.len() > 1 && !has_derived;
        let driver = inputs.first_key_value().filter(|_| is_joined).map(|(at, span)| (*at, *span));
        let mut reads = None;
        if let Some((driver, span)) = driver {
            self.check_count(rule, inputs.len())?;
            for (&other, &span) in inputs.iter().skip(1) {
                self.check_join(driver, other, span)?;
            }
            let (input, probe_type) = self.inputs.get(&driver).cloned().ok_or(AlreadyReported)?;
            let hertz = probe_type.demand().map(|demand| demand.max().get());
            reads = Some((Reads { source: Source::Input(input), input, hertz }, span));
        }
        let driver = driver.map(|(driver, _)| driver);
        Ok(Typing { compiler: self, reads, slots: Vec::new(), driver, other: None, feeds: Vec::new() })
    }

    /// The inputs that are read, by declaration, with the place where that is first. And whether a derived instance is read.
    fn sources(&self, paths: &[(&Name, Span)]) -> (BTreeMap<usize, Span>, bool) {
        let (mut inputs, mut has_derived) = (BTreeMap::new(), false);
        for (name, span) in paths {
            let Some(&at) = self.names.get(&*name.text) else { continue };
            match &self.declarations[at].kind {
                Kind::Input(_) => {
                    inputs.entry(at).or_insert(*span);
                }
                Kind::Derive(_) => has_derived = true,
                Kind::Alarm(_) | Kind::Event(_) | Kind::Check(_) => {}
            }
        }
        (inputs, has_derived)
    }

    fn check_count(&mut self, rule: &Name, count: usize) -> Compiled<()> {
        if count <= MAX_INPUTS {
            return Ok(());
        }
        let message = format!("`{}` reads {count} inputs: at most {MAX_INPUTS} are allowed", rule.text);
        Err(self.report(Diagnostic::new(Code::TooLarge, rule.span, message, "too many inputs")))
    }

    /// Each instance of the first input must have at most one instance of the other one beside it.
    fn check_join(&mut self, driver: usize, other: usize, span: Span) -> Compiled<()> {
        let (Some(first), Some(second)) = (self.input_of(driver), self.input_of(other)) else {
            return Err(AlreadyReported);
        };
        let [(first, pattern, place), (second, with, _)] = [first, second];
        let stars = |pattern: &str| pattern.matches('*').count();
        let (message, label, help) = if stars(with) != 0 && stars(pattern) == 0 {
            let message = format!("`{first}` is one instance, and `{second}` many");
            (message, "many instances", "declare the input with the `*` first")
        } else if stars(with) != 0 && stars(pattern) != stars(with) {
            let message = format!("the `*` of `{first}` and `{second}` do not correspond");
            let help = "write as many `*` in both, for the same texts: `\"*/pump *\"` and `\"*/feed *\"`";
            (message, "another number of `*`", help)
        } else {
            return Ok(());
        };
        let wrong = Diagnostic::new(Code::SeveralSources, span, message, label).related(place, "joined with");
        Err(self.report(wrong.help(help)))
    }

    /// Name, pattern and place of an input without errors.
    fn input_of(&self, at: usize) -> Option<(&'a str, &'a str, Span)> {
        let declarations = self.declarations;
        let declaration = declarations.get(at).filter(|_| self.inputs.contains_key(&at))?;
        let Kind::Input(input) = &declaration.kind else { return None };
        Some((&declaration.name.text, &input.pattern.text, input.pattern.span))
    }
}

/// The first names of all references.
fn collect<'e>(expression: &'e Expression, paths: &mut Vec<(&'e Name, Span)>) {
    match &expression.kind {
        ExpressionKind::Number(..) => {}
        ExpressionKind::Reference(path) => {
            paths.extend(path.first().filter(|_| path.len() > 1).map(|name| (name, expression.span)));
        }
        ExpressionKind::Negate(of) | ExpressionKind::Not(of) => collect(of, paths),
        ExpressionKind::Arithmetic(_, left, right)
        | ExpressionKind::Compare(_, left, right)
        | ExpressionKind::Logic(_, left, right) => {
            collect(left, paths);
            collect(right, paths);
        }
        ExpressionKind::Call(_, arguments, _) => {
            arguments.iter().for_each(|argument| collect(argument, paths));
        }
    }
}

impl Typing<'_, '_> {
    /// Whether a reference to this input is a value of another one than that whose samples are evaluated.
    pub(super) fn is_other(&self, at: usize) -> bool {
        self.other.is_none() && self.driver.is_some_and(|driver| driver != at)
    }

    /// The input that is all that expressions read, if it is another one.
    pub(super) fn only_other(&self, expressions: &[Expression]) -> Option<usize> {
        let mut paths = Vec::new();
        expressions.iter().for_each(|expression| collect(expression, &mut paths));
        let (inputs, _) = self.compiler.sources(&paths);
        let (&only, _) = inputs.first_key_value().filter(|_| inputs.len() == 1)?;
        self.is_other(only).then_some(only)
    }

    /// Compiles a value of another input.
    pub(super) fn feed(
        &mut self,
        other: usize,
        (alignment, max_age): (Alignment, u64),
        compile: impl FnOnce(&mut Self) -> Compiled<Typed>,
    ) -> Compiled<Typed> {
        let (input, _) = self.compiler.inputs.get(&other).cloned().ok_or(AlreadyReported)?;
        let (slots, reads) = (std::mem::take(&mut self.slots), self.reads.take());
        self.other = Some(other);
        let compiled = compile(self);
        self.other = None;
        self.reads = reads;
        let slots = std::mem::replace(&mut self.slots, slots);
        let feed = self.feeds.len();
        let (value, joined) = match compiled? {
            Typed::Number(of) => {
                let value = Value::Number(of.number.clone());
                (value, Typed::Number(super::expression::Quantity { number: Number::Joined(feed), ..of }))
            }
            Typed::Condition(of) => (Value::Condition(of), Typed::Condition(Condition::Joined(feed))),
            Typed::Enumeration(of, names) => {
                (Value::Number(of), Typed::Enumeration(Number::Joined(feed), names))
            }
        };
        self.feeds.push(Feed { input, alignment, value, slots, max_age });
        Ok(joined)
    }

    /// `hold(feed.flow, 2s)`, `linear(feed.flow, 2s)`, `nearest(feed.flow, 2s)`
    pub(super) fn aligned(
        &mut self,
        alignment: Alignment,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
    ) -> Compiled<Typed> {
        let function = &name.text;
        let max_age = match window {
            None => DEFAULT_MAX_AGE_NANOS,
            Some(Window { size: WindowSize::Time(age, None), .. }) => *age,
            Some(Window { span, .. }) => {
                let message = format!("`{function}` takes a duration");
                let wrong = Diagnostic::new(Code::BadWindow, *span, message, "not a duration");
                return Err(self.report(wrong.help(format!("write `{function}(feed.flow, 2s)`"))));
            }
        };
        let of = self.only(name, arguments)?;
        let Some(other) = self.only_other(arguments) else {
            let message =
                format!("`{function}` takes a value of one other input than the first one of the rule");
            let wrong = Diagnostic::new(Code::WrongType, of.span, message, "not of another input");
            return Err(self.report(wrong.note("a rule is evaluated at each sample of its first input")));
        };
        let value = self.feed(other, (alignment, max_age), |typing| typing.typed(of))?;
        if alignment == Alignment::Linear && !matches!(value, Typed::Number(_)) {
            let message = "`linear` takes a number";
            let wrong = Diagnostic::new(Code::WrongType, of.span, message, "nothing lies between its values");
            return Err(self.report(wrong.help("write `nearest` or `hold`")));
        }
        self.check_memory(alignment, function, of)?;
        Ok(value)
    }

    /// The value that was compiled last has no memory beside one window. A window ends at a moment, so that it needs no alignment but `hold`.
    fn check_memory(&mut self, alignment: Alignment, function: &str, of: &Expression) -> Compiled<()> {
        let is_plain =
            |feed: &Feed| feed.slots.is_empty() || (alignment == Alignment::Hold && is_window(&feed.value));
        if self.feeds.last().is_some_and(is_plain) {
            return Ok(());
        }
        let (message, help) = match alignment {
            Alignment::Hold => (
                "`hold` takes a value without memory, or one window".to_owned(),
                "compute with what `hold` returns: `2 * hold(mean(feed.flow, 5s), 20s)`",
            ),
            Alignment::Linear | Alignment::Nearest => (
                format!("`{function}` takes a value without memory"),
                "a window ends at the time of the evaluation: write `hold(mean(feed.flow, 5s), 20s)`",
            ),
        };
        let wrong = Diagnostic::new(Code::BadWindow, of.span, message, "computed from a window");
        Err(self.report(wrong.help(help)))
    }

    /// `count(feed.pressed, 10s) >= 3`, which can be known before the count is.
    pub(super) fn counted_feed(
        &mut self,
        operator: Comparison,
        left: &Number,
        right: &Number,
    ) -> Option<Condition> {
        let (feed, limit, operator) = match (left, right) {
            (Number::Joined(feed), Number::Constant(limit)) => (*feed, *limit, operator),
            (Number::Constant(limit), Number::Joined(feed)) => (*feed, *limit, reversed(operator)),
            _ => return None,
        };
        let known = self.feeds.get_mut(feed)?;
        let Value::Number(Number::Count(count)) = &known.value else { return None };
        let counted = Condition::Counted { count: count.clone(), operator, limit, is_witness: false };
        known.value = Value::Condition(counted);
        Some(Condition::Joined(feed))
    }
}

/// Whether a value is that of a window, which ends where it is asked for.
fn is_window(value: &Value) -> bool {
    matches!(value, Value::Number(Number::Window { .. } | Number::Rate { .. } | Number::Count(_)))
}
