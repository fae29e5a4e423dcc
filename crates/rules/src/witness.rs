//! The comparison whose two numbers events show.

use crate::{
    evaluate::EventKind,
    program::{Body, Condition, Raise, Rule},
};

impl Rule {
    /// The unit of value and limit in events of this kind; none of plain numbers.
    pub fn unit(&self, kind: EventKind) -> Option<&str> {
        let condition = match &self.body {
            Body::Alarm(alarm) => match (&alarm.raise, &alarm.clear) {
                (_, Some(clear)) if kind == EventKind::Cleared => &clear.condition,
                (Raise::Condition(raise), _) => &raise.condition,
                (Raise::Silent(_), _) => return None,
            },
            Body::Event(event) => &event.when,
            Body::Check(check) => &check.always,
            Body::Derive(_) => return None,
        };
        condition.shown_unit().flatten()
    }
}

impl Condition {
    /// The unit of the comparison that events show, if it is in here.
    fn shown_unit(&self) -> Option<Option<&str>> {
        match self {
            Self::Compare { is_witness: true, unit, .. } => Some(unit.as_deref()),
            Self::Counted { is_witness: true, .. } => Some(None),
            Self::Column(_) | Self::Joined(_) | Self::Compare { .. } | Self::Counted { .. } => None,
            Self::Not(of) | Self::Rising(of, _) | Self::Falling(of, _) => of.shown_unit(),
            Self::And(left, right) | Self::Or(left, right) => {
                left.shown_unit().or_else(|| right.shown_unit())
            }
        }
    }
}
