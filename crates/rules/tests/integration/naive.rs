//! Rules evaluated a sample at a time, from the whole past, as simply as possible: the oracle of the evaluator over columns.

use crate::random::Row;
use oasis_rules::{
    Event, EventKind, Program, RESTART, Standing,
    program::{
        Aggregate, Alarm, Arithmetic, Body, Comparison, Condition, Count, Number, OnUnknown, Raise, Rule,
        Slot, Source, SustainedCondition, Value, WindowSize,
    },
};

/// All events of one instance, in order.
pub fn events(program: &Program, rows: &[Row]) -> Vec<Event> {
    let mut rows = rows.to_vec();
    for at in 1..rows.len() {
        if rows[at].time < rows[at - 1].time {
            rows[at].missing = RESTART;
        }
    }
    let mut found: Vec<(usize, usize, Event)> = Vec::new();
    for (number, rule) in program.rules.iter().enumerate() {
        let past = Past { rule, rows: rows_of(program, rule.source, &rows) };
        let of_rule = match &rule.body {
            Body::Alarm(alarm) => past.alarm(alarm),
            Body::Event(event) => match &event.then {
                None => past
                    .edges(&event.when)
                    .into_iter()
                    .map(|(at, is_known)| (at, past.matched(&event.when, at, is_known)))
                    .collect(),
                Some((then, within)) => past.obligations(&event.when, &event.when, then, (0, *within), false),
            },
            Body::Check(check) => {
                past.obligations(&check.after, &check.always, &check.always, (check.from, check.to), true)
            }
            Body::Derive(_) => Vec::new(),
        };
        found.extend(
            of_rule
                .into_iter()
                .map(|(at, event)| (past.rows[at].origin, number, Event { rule: number, ..event })),
        );
    }
    found.sort_by_key(|(origin, rule, _)| (*origin, *rule));
    found.into_iter().map(|(.., event)| event).collect()
}

fn rows_of(program: &Program, source: Source, rows: &[Row]) -> Vec<Row> {
    let Source::Derived(number) = source else { return rows.to_vec() };
    let rule = &program.rules[number];
    let Body::Derive(derive) = &rule.body else { return Vec::new() };
    let past = Past { rule, rows: rows_of(program, rule.source, rows) };
    let period = |at: usize| past.rows[at].time.div_ceil(derive.every);
    let mut derived: Vec<Row> = Vec::new();
    let mut missing = RESTART;
    for at in 1..past.rows.len() {
        let is_restart = past.rows[at].missing == RESTART;
        if period(at) == period(at - 1) && !is_restart {
            continue;
        }
        // The last sample of the period may be one that is missing.
        let is_last = past.rows[at].missing == 0;
        let values = derive.fields.iter().map(|(_, value)| match value {
            _ if !is_last => f64::NAN,
            Value::Number(number) => past.number(number, at - 1),
            Value::Condition(condition) => {
                past.condition(condition, at - 1).map_or(f64::NAN, |is_true| f64::from(u8::from(is_true)))
            }
        });
        derived.push(Row {
            time: period(at - 1) * derive.every,
            sequence: derived.len() as u64,
            missing,
            values: values.collect(),
            origin: past.rows[at].origin,
        });
        missing = if is_restart { RESTART } else { period(at) - period(at - 1) - 1 };
    }
    derived
}

struct Past<'a> {
    rule: &'a Rule,
    rows: Vec<Row>,
}

impl Past<'_> {
    fn size(&self, slot: usize) -> WindowSize {
        let Slot::Window { size, .. } = self.rule.slots[slot] else { panic!("slot {slot} is no window") };
        size
    }

    /// The samples of a window, oldest first; none if a part of it is missing.
    fn window(&self, size: WindowSize, at: usize) -> Option<Vec<usize>> {
        match size {
            WindowSize::Last(count) => {
                let first = (at + 1).checked_sub(count as usize)?;
                (first + 1..=at).all(|row| self.rows[row].missing == 0).then(|| (first..=at).collect())
            }
            WindowSize::Time(extent, _) => {
                let rows = self.within(extent, at);
                rows.iter().all(|&row| self.rows[row].missing == 0).then_some(rows)
            }
        }
    }

    /// The samples that are younger than this, since the last restart.
    fn within(&self, extent: u64, at: usize) -> Vec<usize> {
        let mut rows = Vec::new();
        for row in (0..=at).rev() {
            if self.rows[row].time + extent <= self.rows[at].time {
                break;
            }
            rows.insert(0, row);
            if self.rows[row].missing == RESTART {
                break;
            }
        }
        rows
    }

    fn number(&self, number: &Number, at: usize) -> f64 {
        let value = match number {
            Number::Column(column) => self.rows[at].values[*column],
            Number::Joined(_) => panic!("of one input"),
            Number::Constant(value) => *value,
            Number::Scale { of, factor, offset } => self.number(of, at) * factor + offset,
            Number::Abs(of) => self.number(of, at).abs(),
            Number::Sqrt(of) => self.number(of, at).sqrt(),
            Number::Arithmetic(operator, left, right) => {
                let (left, right) = (self.number(left, at), self.number(right, at));
                match operator {
                    Arithmetic::Add => left + right,
                    Arithmetic::Subtract => left - right,
                    Arithmetic::Multiply => left * right,
                    Arithmetic::Divide => left / right,
                }
            }
            Number::Window { aggregate, of, slot } => self.aggregate(*aggregate, of, *slot, at),
            Number::Rate { of, is_counter, slot } => self.rate(of, *is_counter, *slot, at),
            Number::Count(count) => match self.tally(count, at) {
                (least, most) if least == most => least as f64,
                _ => f64::NAN,
            },
        };
        if value.is_finite() { value } else { f64::NAN }
    }

    fn aggregate(&self, aggregate: Aggregate, of: &Number, slot: usize, at: usize) -> f64 {
        let Some(rows) = self.window(self.size(slot), at) else { return f64::NAN };
        let values: Vec<f64> = rows.iter().map(|row| self.number(of, *row)).collect();
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        match aggregate {
            Aggregate::Mean => exact_sum(&values) / values.len() as f64,
            Aggregate::Sum => exact_sum(&values),
            Aggregate::Min => values.into_iter().min_by(f64::total_cmp).unwrap(),
            Aggregate::Max => values.into_iter().max_by(f64::total_cmp).unwrap(),
        }
    }

    fn rate(&self, of: &Number, is_counter: bool, slot: usize, at: usize) -> f64 {
        let base = match self.size(slot) {
            WindowSize::Last(count) => (at + 1).checked_sub(count as usize),
            WindowSize::Time(extent, _) => {
                (0..=at).rev().find(|&row| self.rows[row].time + extent <= self.rows[at].time)
            }
        };
        let Some(base) = base else { return f64::NAN };
        let values: Vec<f64> = (base..=at).map(|row| self.number(of, row)).collect();
        let is_whole = (base + 1..=at).all(|row| self.rows[row].missing == 0);
        let falls = is_counter && values.windows(2).any(|pair| pair[1] < pair[0]);
        if !is_whole || falls || values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let seconds = (self.rows[at].time - self.rows[base].time) as f64 / 1e9;
        (values[values.len() - 1] - values[0]) / seconds
    }

    fn tally(&self, count: &Count, at: usize) -> (u64, u64) {
        let (rows, slots) = match self.size(count.slot) {
            WindowSize::Last(slots) => ((0..=at).collect(), u64::from(slots)),
            WindowSize::Time(extent, _) => (self.within(extent, at), u64::MAX),
        };
        let (mut left, mut least, mut most) = (slots, 0_u64, 0_u64);
        for row in rows.into_iter().rev() {
            if left == 0 {
                break;
            }
            let value = self.condition(&count.of, row);
            least += u64::from(value == Some(true));
            most = most.saturating_add(u64::from(value != Some(false)));
            left -= 1;
            let missing = self.rows[row].missing.min(left);
            most = most.saturating_add(missing);
            left -= missing;
            if self.rows[row].missing == RESTART {
                break;
            }
        }
        (least, most)
    }

    fn condition(&self, condition: &Condition, at: usize) -> Option<bool> {
        match condition {
            Condition::Column(column) => {
                Some(self.rows[at].values[*column]).filter(|value| !value.is_nan()).map(|value| value != 0.0)
            }
            Condition::Joined(_) => panic!("of one input"),
            Condition::Compare { operator, left, right, .. } => {
                let (left, right) = (self.number(left, at), self.number(right, at));
                (!left.is_nan() && !right.is_nan()).then(|| holds(*operator, left, right))
            }
            Condition::Counted { count, operator, limit, .. } => {
                let (least, most) = self.tally(count, at);
                // Beyond the number of samples, and beyond the limit, more counts make no difference.
                let most = most.min(least + 200);
                let mut possible = (least..=most).map(|count| holds(*operator, count as f64, *limit));
                let first = possible.next();
                if possible.all(|other| Some(other) == first) { first } else { None }
            }
            Condition::Not(of) => self.condition(of, at).map(|value| !value),
            Condition::And(left, right) => both(self.condition(left, at), self.condition(right, at)),
            Condition::Or(left, right) => both(
                self.condition(left, at).map(|value| !value),
                self.condition(right, at).map(|value| !value),
            )
            .map(|value| !value),
            Condition::Rising(of, _) => both(self.before(of, at).map(|value| !value), self.condition(of, at)),
            Condition::Falling(of, _) => {
                both(self.before(of, at), self.condition(of, at).map(|value| !value))
            }
        }
    }

    fn before(&self, of: &Condition, at: usize) -> Option<bool> {
        if at == 0 || self.rows[at].missing > 0 { None } else { self.condition(of, at - 1) }
    }

    /// The numbers of the first comparison.
    fn witness(&self, condition: &Condition, at: usize) -> Option<(Option<f64>, Option<f64>)> {
        let known = |value: f64| Some(value).filter(|value| !value.is_nan());
        match condition {
            Condition::Column(_) | Condition::Joined(_) => None,
            Condition::Compare { left, right, .. } => {
                Some((known(self.number(left, at)), known(self.number(right, at))))
            }
            Condition::Counted { count, limit, .. } => {
                Some((known(self.number(&Number::Count(count.clone()), at)), Some(*limit)))
            }
            Condition::Not(of) | Condition::Rising(of, _) | Condition::Falling(of, _) => self.witness(of, at),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.witness(left, at).or_else(|| self.witness(right, at))
            }
        }
    }

    fn event(&self, kind: EventKind, at: usize, shows: Option<&Condition>) -> Event {
        let (value, limit) = shows.and_then(|shows| self.witness(shows, at)).unwrap_or_default();
        let Row { time, sequence, .. } = self.rows[at];
        Event {
            rule: 0,
            kind,
            standing: None,
            is_known: kind != EventKind::Unknown,
            value,
            limit,
            sequence: Some(sequence),
            time,
            dac_time: 0,
            since: None,
            missing: None,
        }
    }

    /// The samples at which a condition becomes true, and whether it is known that it did so there.
    fn edges(&self, condition: &Condition) -> Vec<(usize, bool)> {
        let values: Vec<_> = (0..self.rows.len()).map(|at| self.condition(condition, at)).collect();
        let becomes_true = (0..values.len()).filter_map(|at| {
            let before = values[..at].iter().rposition(|value| value.is_some())?;
            let is_edge = values[at] == Some(true) && values[before] == Some(false);
            let is_known = before + 1 == at && self.rows[at].missing == 0;
            is_edge.then_some((at, is_known))
        });
        becomes_true.collect()
    }

    fn matched(&self, when: &Condition, at: usize, is_known: bool) -> Event {
        Event { is_known, ..self.event(EventKind::Matched, at, Some(when)) }
    }

    fn obligations(
        &self,
        trigger: &Condition,
        shows: &Condition,
        condition: &Condition,
        (from, to): (u64, u64),
        is_always: bool,
    ) -> Vec<(usize, Event)> {
        let mut found = Vec::new();
        for (begin, is_known) in self.edges(trigger) {
            let start = self.rows[begin].time;
            if let Some((at, kind)) = self.verdict(condition, begin, (start + from, start + to), is_always) {
                let shows = Some(shows).filter(|_| kind != EventKind::Unknown);
                let event = self.event(kind, at, shows);
                found.push((
                    at,
                    begin,
                    Event { is_known: event.is_known && is_known, since: Some(start), ..event },
                ));
            }
        }
        found.sort_by_key(|(at, begin, _)| (*at, *begin));
        found.into_iter().map(|(at, _, event)| (at, event)).collect()
    }

    /// When it is decided whether a condition holds in an interval, and how.
    fn verdict(
        &self,
        condition: &Condition,
        begin: usize,
        (from, to): (u64, u64),
        is_always: bool,
    ) -> Option<(usize, EventKind)> {
        let (mut is_uncertain, mut was_true) = (false, false);
        for at in begin..self.rows.len() {
            let Row { time, missing, .. } = self.rows[at];
            if at > begin && missing == RESTART {
                return Some((at, EventKind::Unknown));
            }
            let earliest = if is_always { from } else { self.rows[begin].time };
            is_uncertain |= at > begin && missing > 0 && self.rows[at - 1].time <= to && time >= earliest;
            if time > to {
                return Some((
                    at,
                    match (is_uncertain || (is_always && !was_true), is_always) {
                        (true, _) => EventKind::Unknown,
                        (false, true) => EventKind::Satisfied,
                        (false, false) => EventKind::Violated,
                    },
                ));
            }
            if is_always && time < from {
                continue;
            }
            match (self.condition(condition, at), is_always) {
                (Some(true), false) => return Some((at, EventKind::Matched)),
                (Some(false), true) => return Some((at, EventKind::Violated)),
                (value, _) => {
                    is_uncertain |= value.is_none();
                    was_true |= value == Some(true);
                }
            }
        }
        None
    }

    fn alarm(&self, alarm: &Alarm) -> Vec<(usize, Event)> {
        let Raise::Condition(raise) = &alarm.raise else { return Vec::new() };
        let not_raise =
            SustainedCondition { condition: Condition::Not(Box::new(raise.condition.clone())), duration: 0 };
        let clear = alarm.clear.as_ref().unwrap_or(&not_raise);
        let shows_clear = alarm.clear.as_ref().map_or(&raise.condition, |clear| &clear.condition);
        let (mut standing, mut first, mut was_known) = (Standing::Normal, 0, None);
        let mut found = Vec::new();
        for at in 0..self.rows.len() {
            let is_active = standing == Standing::Active;
            let held = if is_active { clear } else { raise };
            let missing = self.rows[at].missing;
            if missing > 0 && was_known == Some(true) {
                let missing = Some(missing).filter(|missing| *missing != RESTART);
                found.push((
                    at,
                    Event {
                        missing,
                        standing: Some(standing),
                        ..self.event(EventKind::Unknown, at - 1, None)
                    },
                ));
                was_known = Some(false);
            }
            let is_known = self.condition(&held.condition, at).is_some();
            match (was_known, is_known) {
                (Some(true), false) => found.push((
                    at,
                    Event { standing: Some(standing), ..self.event(EventKind::Unknown, at, None) },
                )),
                (Some(false), true) => found.push((
                    at,
                    Event {
                        standing: Some(standing),
                        ..self.event(EventKind::Known, at, Some(&raise.condition))
                    },
                )),
                _ => {}
            }
            if was_known.is_some() || is_known {
                was_known = Some(is_known);
            }
            let unknown = match alarm.on_unknown {
                OnUnknown::Keep => None,
                OnUnknown::Raise => Some(!is_active),
                OnUnknown::Clear => Some(is_active),
            };
            let Some(since) = self.since(held, unknown, first, at) else { continue };
            if self.rows[at].time - since < held.duration {
                continue;
            }
            let (kind, shows) = if is_active {
                (EventKind::Cleared, shows_clear)
            } else {
                (EventKind::Raised, &raise.condition)
            };
            standing = match (is_active, alarm.latch) {
                (false, _) => Standing::Active,
                (true, true) => Standing::Latched,
                (true, false) => Standing::Normal,
            };
            first = at + 1;
            found.push((
                at,
                Event {
                    standing: Some(standing),
                    since: Some(since),
                    is_known,
                    ..self.event(kind, at, Some(shows))
                },
            ));
        }
        found
    }

    /// Since when a condition has been true without a break, from the sample `first` on.
    fn since(
        &self,
        held: &SustainedCondition,
        unknown: Option<bool>,
        first: usize,
        at: usize,
    ) -> Option<u64> {
        let counts = |row: usize| self.condition(&held.condition, row).or(unknown) == Some(true);
        let mut since = None;
        for row in (first..=at).rev() {
            if !counts(row) {
                break;
            }
            since = Some(self.rows[row].time);
            let missing = self.rows[row].missing;
            if missing == RESTART || (missing > 0 && unknown != Some(true)) {
                break;
            }
        }
        since
    }
}

/// The nearest number to the sum: Shewchuk's partial sums, of which none overlaps another, as in Python's `math.fsum`.
fn exact_sum(values: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for value in values {
        let mut value = *value;
        let mut left = Vec::new();
        for partial in partials {
            let (large, small) =
                if value.abs() < partial.abs() { (partial, value) } else { (value, partial) };
            value = large + small;
            let error = small - (value - large);
            if error != 0.0 {
                left.push(error);
            }
        }
        left.push(value);
        partials = left;
    }
    // From the greatest on, until one is rounded.
    let (mut sum, mut error) = (0.0, 0.0);
    while let Some(partial) = partials.pop() {
        let before = sum;
        sum = before + partial;
        error = partial - (sum - before);
        if error != 0.0 {
            break;
        }
    }
    // A half is rounded to even: what is after it says otherwise.
    if partials.last().is_some_and(|after| (*after < 0.0) == (error < 0.0)) && error != 0.0 {
        let (doubled, before) = (error * 2.0, sum);
        let other = before + doubled;
        if other - before == doubled {
            sum = other;
        }
    }
    // Zero has no sign.
    sum + 0.0
}

fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn holds(operator: Comparison, left: f64, right: f64) -> bool {
    match operator {
        Comparison::Less => left < right,
        Comparison::LessEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterEqual => left >= right,
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
    }
}
