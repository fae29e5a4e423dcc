//! The computation of a rule, as a short name: a state of it can be restored only into the same rule.

use crate::program::{
    Alarm, Alignment, Body, Check, Column, Condition, Count, Derive, Event, Feed, Number, Program, Purpose,
    Raise, Slot, Source, Value,
};
use sha2::{Digest, Sha256};

impl Program {
    /// A hash of what a rule computes, of the columns that it reads and of the derived instances before it. Its message, its destinations, its commands and the
    /// rules beside it do not count.
    pub fn fingerprint(&self, rule: usize) -> Option<[u8; 16]> {
        let found = self.rules.get(rule)?;
        let mut body = found.body.clone();
        let mut used = Vec::new();
        renumber(&mut body, &mut |column| number(&mut used, column));
        let source = match found.source {
            Source::Input(input) => {
                let input = self.inputs.get(input)?;
                let columns: Vec<Option<&Column>> =
                    used.iter().map(|column| input.columns.get(*column)).collect();
                format!("{} {columns:?}", input.probe_type)
            }
            // A derived instance comes before its readers, so that this ends.
            Source::Derived(before) if before < rule => format!("{:?} {used:?}", self.fingerprint(before)?),
            Source::Derived(_) => return None,
        };
        let feeds: Vec<String> =
            found.feeds.iter().map(|feed| self.feed_text(found.input, feed)).collect::<Option<_>>()?;
        let feeds = feeds.join(" ");
        let text = format!("{source} [{}] {}{feeds}", memories(&found.slots), computed(body));
        Sha256::digest(text.as_bytes()).first_chunk().copied()
    }

    /// Returns the computation of a feed. The patterns decide which instances are joined.
    fn feed_text(&self, driver: usize, feed: &Feed) -> Option<String> {
        let mut value = feed.value.clone();
        let mut used = Vec::new();
        value_columns(&mut value, &mut |column| number(&mut used, column));
        let [driver, input] = [self.inputs.get(driver)?, self.inputs.get(feed.input)?];
        let columns: Vec<Option<&Column>> = used.iter().map(|column| input.columns.get(*column)).collect();
        let patterns = [&driver.pattern, &input.pattern];
        let (slots, max_age) = (memories(&feed.slots), feed.max_age);
        let alignment = match feed.alignment {
            // As in states of before there were others.
            Alignment::Hold => String::new(),
            other => format!(" {other:?}"),
        };
        Some(format!(
            " {patterns:?} {} {columns:?} {value:?} [{slots}] {max_age}{alignment}",
            input.probe_type
        ))
    }
}

/// Returns the slots of a state. The body says what a window is for, so that this text is the same as in earlier
/// states.
fn memories(slots: &[Slot]) -> String {
    let memory = |slot: &Slot| match slot {
        Slot::Window { size, capacity, purpose } => {
            let keeps_base = *purpose == Purpose::Rate;
            format!("Window {{ size: {size:?}, capacity: {capacity}, keeps_base: {keeps_base} }}")
        }
        Slot::Previous => "Previous".into(),
    };
    slots.iter().map(memory).collect::<Vec<_>>().join(", ")
}

/// The number of a column in the order of use: other rules of the input read other ones.
fn number(used: &mut Vec<usize>, column: &mut usize) {
    let known = used.iter().position(|known| known == column);
    *column = known.unwrap_or_else(|| {
        used.push(*column);
        used.len() - 1
    });
}

/// Returns the parts of a body that decide about states and times.
fn computed(body: Body) -> String {
    match body {
        Body::Alarm(Alarm { raise, clear, latch, on_unknown, .. }) => {
            format!("alarm {raise:?} {clear:?} {latch} {on_unknown:?}")
        }
        Body::Event(Event { when, then, .. }) => format!("event {when:?} {then:?}"),
        Body::Derive(derive) => format!("{derive:?}"),
        Body::Check(check) => format!("{check:?}"),
    }
}

type Renumber<'a> = &'a mut dyn FnMut(&mut usize);

fn renumber(body: &mut Body, each: Renumber<'_>) {
    match body {
        Body::Alarm(Alarm { raise, clear, .. }) => {
            if let Raise::Condition(held) = raise {
                condition(&mut held.condition, each);
            }
            if let Some(held) = clear {
                condition(&mut held.condition, each);
            }
        }
        Body::Event(Event { when, then, .. }) => {
            condition(when, each);
            if let Some((then, _)) = then {
                condition(then, each);
            }
        }
        Body::Derive(Derive { fields, .. }) => {
            for (_, value) in fields {
                value_columns(value, each);
            }
        }
        Body::Check(Check { after, always, .. }) => {
            condition(after, each);
            condition(always, each);
        }
    }
}

fn value_columns(value: &mut Value, each: Renumber<'_>) {
    match value {
        Value::Number(of) => quantity(of, each),
        Value::Condition(of) => condition(of, each),
    }
}

fn condition(of: &mut Condition, each: Renumber<'_>) {
    match of {
        Condition::Column(column) => each(column),
        Condition::Joined(_) => {}
        Condition::Compare { left, right, .. } => {
            quantity(left, each);
            quantity(right, each);
        }
        Condition::Counted { count: Count { of, .. }, .. }
        | Condition::Not(of)
        | Condition::Rising(of, _)
        | Condition::Falling(of, _) => condition(of, each),
        Condition::And(left, right) | Condition::Or(left, right) => {
            condition(left, each);
            condition(right, each);
        }
    }
}

fn quantity(of: &mut Number, each: Renumber<'_>) {
    match of {
        Number::Column(column) => each(column),
        Number::Constant(_) | Number::Joined(_) => {}
        Number::Scale { of, .. }
        | Number::Abs(of)
        | Number::Sqrt(of)
        | Number::Window { of, .. }
        | Number::Rate { of, .. } => quantity(of, each),
        Number::Arithmetic(_, left, right) => {
            quantity(left, each);
            quantity(right, each);
        }
        Number::Count(Count { of, .. }) => condition(of, each),
    }
}
