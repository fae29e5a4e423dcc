//! Alarms that one sample both raises and clears: with such samples their state changes each time.

use super::expression::Typing;
use crate::{
    ast::{self, Comparison, Name},
    code::{Code, Diagnostic},
    message::readable,
    program::{Alarm, Condition, Number, Raise, Source},
};
use oasis_wire::schema::{MetricType, ProbeType};

impl Typing<'_, '_> {
    /// Warns if both conditions compare one metric with constants, and some value makes both true.
    pub(super) fn warn_of_overlap(&mut self, name: &Name, alarm: &ast::Alarm, body: &Alarm) {
        let (Raise::Condition(raise), Some(clear)) = (&body.raise, &body.clear) else { return };
        let (Some(raised), Some(cleared)) = (&alarm.raise, &alarm.clear) else { return };
        let mut compared = ColumnComparisons::default();
        if !compared.reads(&raise.condition) || !compared.reads(&clear.condition) {
            return;
        }
        let Some(column) = compared.column else { return };
        let (is_whole, unit) = self.about(column);
        let is_both = |value: &f64| {
            holds(&raise.condition, *value) == Some(true) && holds(&clear.condition, *value) == Some(true)
        };
        let Some(value) = compared.candidates(is_whole).into_iter().find(is_both) else { return };
        let value = readable(value, unit.as_deref());
        let message = format!("`{}` is raised and cleared by the same values, such as {value}", name.text);
        let label = "clears it, although the condition to raise it holds";
        let wrong = Diagnostic::new(Code::ConditionsOverlap, cleared.condition.span, message, label);
        let wrong = wrong
            .related(raised.condition.span, "raises it")
            .note("with such values its state changes at each sample")
            .help("let the conditions exclude each other: `raise x < 1000; clear x > 2000;`");
        self.compiler.warnings.push(wrong);
    }

    /// Whether a column has whole numbers only, and its unit.
    fn about(&self, column: usize) -> (bool, Option<String>) {
        let Some((reads, _)) = self.reads else { return (false, None) };
        let Source::Input(input) = reads.source else { return (false, None) };
        let column = self.compiler.program.inputs.get(input).and_then(|input| input.columns.get(column));
        let probe_type = self.compiler.inputs.values().find(|(number, _)| *number == input);
        let (Some(column), Some((_, probe_type))) = (column, probe_type) else { return (false, None) };
        (is_whole(probe_type, &column.path), column.unit.clone())
    }
}

fn is_whole(probe_type: &ProbeType, path: &[String]) -> bool {
    let mut members = &*probe_type.metrics;
    for name in path {
        match members.iter().find(|metric| metric.name == *name).map(|metric| &metric.kind) {
            Some(MetricType::Struct(of)) => members = &of.members,
            Some(MetricType::Real32 | MetricType::Real64) | None => return false,
            Some(_) => return true,
        }
    }
    false
}

/// Comparisons of one column with constants.
#[derive(Debug, Default)]
struct ColumnComparisons {
    column: Option<usize>,
    /// The constants, converted to what the column has.
    constants: Vec<f64>,
}

impl ColumnComparisons {
    /// Adds a condition. Returns whether it consists of comparisons of that column with constants.
    fn reads(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Compare { left, right, .. } => match (constant(left), constant(right)) {
                (None, Some(limit)) => self.compares(left, limit),
                (Some(limit), None) => self.compares(right, limit),
                _ => false,
            },
            Condition::Not(of) => self.reads(of),
            Condition::And(left, right) | Condition::Or(left, right) => self.reads(left) && self.reads(right),
            Condition::Column(_)
            | Condition::Joined(_)
            | Condition::Counted { .. }
            | Condition::Rising(..)
            | Condition::Falling(..) => false,
        }
    }

    fn compares(&mut self, number: &Number, limit: f64) -> bool {
        let (column, limit) = match number {
            Number::Column(column) => (*column, limit),
            Number::Scale { of, factor, offset } => match **of {
                Number::Column(column) => (column, (limit - offset) / factor),
                _ => return false,
            },
            _ => return false,
        };
        self.constants.push(limit);
        *self.column.get_or_insert(column) == column
    }

    /// Values of each interval between the constants, and the constants.
    fn candidates(mut self, is_whole: bool) -> Vec<f64> {
        self.constants.retain(|constant| constant.is_finite());
        self.constants.sort_by(f64::total_cmp);
        let (Some(first), Some(last)) = (self.constants.first(), self.constants.last()) else {
            return Vec::new();
        };
        let beyond = [first - first.abs().max(1.0), last + last.abs().max(1.0)];
        let between = self.constants.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0);
        // Typical values of an overlap come before its ends.
        let all = between.chain(beyond).chain(self.constants.iter().copied());
        match is_whole {
            false => all.collect(),
            true => all
                .flat_map(|value| [value.floor(), value.ceil(), value.floor() - 1.0, value.ceil() + 1.0])
                .collect(),
        }
    }
}

fn constant(number: &Number) -> Option<f64> {
    if let Number::Constant(value) = number { Some(*value) } else { None }
}

/// Whether a condition holds with a value of its only column; none if it is of another kind.
fn holds(condition: &Condition, column: f64) -> Option<bool> {
    Some(match condition {
        Condition::Compare { operator, left, right, .. } => {
            let (left, right) = (value(left, column)?, value(right, column)?);
            match operator {
                Comparison::Less => left < right,
                Comparison::LessEqual => left <= right,
                Comparison::Greater => left > right,
                Comparison::GreaterEqual => left >= right,
                Comparison::Equal => left == right,
                Comparison::NotEqual => left != right,
            }
        }
        Condition::Not(of) => !holds(of, column)?,
        Condition::And(one, other) => holds(one, column)? && holds(other, column)?,
        Condition::Or(one, other) => holds(one, column)? || holds(other, column)?,
        Condition::Column(_)
        | Condition::Joined(_)
        | Condition::Counted { .. }
        | Condition::Rising(..)
        | Condition::Falling(..) => return None,
    })
}

fn value(number: &Number, column: f64) -> Option<f64> {
    match number {
        Number::Constant(value) => Some(*value),
        Number::Column(_) => Some(column),
        Number::Scale { of, factor, offset } => Some(value(of, column)? * factor + offset),
        _ => None,
    }
}
