//! Alarms, events, derived instances and checks.

use super::{
    AlreadyReported, Compiled, Compiler, Derived,
    expression::{Typed, Typing},
};
use crate::{
    ast::{self, Expression, ExpressionKind, Name},
    code::{Code, Diagnostic},
    program::{
        Alarm, Body, Check, Condition, Derive, Event, OnUnknown, Raise, Rule, Severity, SustainedCondition,
        Value,
    },
    unit::Unit,
};

impl<'a> Compiler<'a> {
    pub(super) fn alarm(&mut self, name: &Name, alarm: &ast::Alarm) -> Compiled<()> {
        let Some(raise) = &alarm.raise else { return Err(AlreadyReported) };
        let held = [Some(raise), alarm.clear.as_ref()].into_iter().flatten();
        let mut typing = self.typing(name, held.map(|held| &held.condition))?;
        let raise = typing.raise(raise)?;
        if matches!(raise, Raise::Silent(_)) {
            typing.nothing_else(name, alarm)?;
        }
        let clear = alarm.clear.as_ref().map(|held| typing.held(held)).transpose()?;
        let body = Alarm {
            raise,
            clear,
            severity: alarm.severity.unwrap_or(Severity::Medium),
            latch: alarm.latch,
            on_unknown: alarm.on_unknown.unwrap_or(OnUnknown::Keep),
            message: alarm.message.clone(),
            notify: alarm.notify.clone(),
            actions: typing.actions(name, &alarm.actions)?,
        };
        typing.warn_of_overlap(name, alarm, &body);
        typing.finish(name, Body::Alarm(body)).map(drop)
    }

    pub(super) fn event(&mut self, name: &Name, event: &ast::Event) -> Compiled<()> {
        let then = event.then.as_ref().map(|(then, _)| then);
        let mut typing = self.typing(name, [&event.when].into_iter().chain(then))?;
        let when = typing.witnessed(&event.when)?;
        let then = match &event.then {
            Some((then, within)) => Some((typing.condition(then)?, *within)),
            None => None,
        };
        let actions = typing.actions(name, &event.actions)?;
        typing.finish(name, Body::Event(Event { when, then, actions })).map(drop)
    }

    pub(super) fn check(&mut self, name: &Name, check: &ast::Check) -> Compiled<()> {
        let mut typing = self.typing(name, [&check.after, &check.always])?;
        let after = typing.condition(&check.after)?;
        let always = typing.witnessed(&check.always)?;
        let body = Check { after, from: check.from, to: check.to, always };
        typing.finish(name, Body::Check(body)).map(drop)
    }

    pub(super) fn derive(&mut self, name: &Name, derive: &ast::Derive) -> Compiled<Derived> {
        let mut typing = self.typing(name, derive.fields.iter().map(|(_, value)| value))?;
        let (mut fields, mut types) = (Vec::new(), Vec::new());
        for (field, expression) in &derive.fields {
            let (value, unit) = match typing.typed(expression)? {
                Typed::Number(quantity) => (Value::Number(quantity.number), Some(quantity.unit)),
                Typed::Condition(condition) => (Value::Condition(condition), None),
                Typed::Enumeration(..) => {
                    let message = "a field is a number or a condition";
                    let wrong =
                        Diagnostic::new(Code::WrongType, expression.span, message, "a value of an enum");
                    return Err(typing.report(wrong.help("compare it: `x == NAME`")));
                }
            };
            fields.push((field.text.clone(), value));
            types.push((field.text.clone(), unit));
        }
        let unit = |(_, unit): &(String, Option<Unit>)| {
            unit.as_ref().and_then(|unit| unit.text().map(str::to_owned))
        };
        let units = types.iter().map(unit).collect();
        let body = Body::Derive(Derive { every: derive.every, fields, units });
        let (rule, input) = typing.finish(name, body)?;
        Ok(Derived { rule, input, every: derive.every, fields: types })
    }
}

impl Typing<'_, '_> {
    fn raise(&mut self, held: &ast::SustainedCondition) -> Compiled<Raise> {
        let condition = &held.condition;
        let ExpressionKind::Call(function, arguments, window) = &condition.kind else {
            return self.held(held).map(Raise::Condition);
        };
        if function.text != "silent" {
            return self.held(held).map(Raise::Condition);
        }
        let ([Expression { kind: ExpressionKind::Reference(path), span }], None) = (&**arguments, window)
        else {
            return Err(self.misplaced_silent(condition.span));
        };
        let known = match &**path {
            [name] => self.compiler.names.get(&*name.text).copied(),
            _ => None,
        };
        let input = known.filter(|&at| matches!(self.compiler.declarations[at].kind, ast::Kind::Input(_)));
        let Some(input) = input else {
            let wrong = Diagnostic::new(Code::WrongType, *span, "`silent` takes an input", "not an input");
            return Err(self.report(wrong));
        };
        self.read_input(input, *span)?;
        if held.duration == 0 {
            return Err(self.misplaced_silent(condition.span));
        }
        Ok(Raise::Silent(held.duration))
    }

    /// The next sample ends a silence, and silence is never unknown.
    fn nothing_else(&mut self, name: &Name, alarm: &ast::Alarm) -> Compiled<()> {
        if alarm.clear.is_none() && alarm.on_unknown.is_none() {
            return Ok(());
        }
        let message = "an alarm on `silent` has neither `clear` nor `on_unknown`";
        let wrong = Diagnostic::new(Code::MisplacedSilent, name.span, message, "in this alarm");
        Err(self.report(wrong.help("remove them: the next sample clears the alarm")))
    }

    fn held(&mut self, held: &ast::SustainedCondition) -> Compiled<SustainedCondition> {
        Ok(SustainedCondition { condition: self.witnessed(&held.condition)?, duration: held.duration })
    }

    /// A condition whose first comparison events show.
    fn witnessed(&mut self, expression: &Expression) -> Compiled<Condition> {
        let mut condition = self.condition(expression)?;
        mark(&mut condition);
        Ok(condition)
    }

    /// Adds the rule. Returns its number and that of its input.
    fn finish(self, name: &Name, body: Body) -> Compiled<(usize, usize)> {
        let Some((reads, _)) = self.reads else {
            let message = format!("`{}` reads no samples", name.text);
            let wrong = Diagnostic::new(Code::NoSource, name.span, message, "no input in this rule");
            return Err(self.compiler.report(wrong.help("use a metric of an input: `pump.temperature`")));
        };
        let rules = &mut self.compiler.program.rules;
        rules.push(Rule {
            name: name.text.clone(),
            place: name.span,
            source: reads.source,
            input: reads.input,
            slots: self.slots,
            feeds: self.feeds,
            body,
        });
        Ok((rules.len() - 1, reads.input))
    }
}

/// Marks the first comparison. Returns whether there is one.
fn mark(condition: &mut Condition) -> bool {
    match condition {
        Condition::Column(_) | Condition::Joined(_) => false,
        Condition::Compare { is_witness, .. } | Condition::Counted { is_witness, .. } => {
            *is_witness = true;
            true
        }
        Condition::Not(of) | Condition::Rising(of, _) | Condition::Falling(of, _) => mark(of),
        Condition::And(left, right) | Condition::Or(left, right) => mark(left) || mark(right),
    }
}
