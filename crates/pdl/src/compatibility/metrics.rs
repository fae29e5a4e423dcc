//! Metrics of a probe, members of a struct: matched by name. One in the same place with the same type was renamed.

use super::{ChangeKind, Changes, types::Types};
use crate::model::{Behavior, Metric, Number};
use std::{
    collections::{HashMap, HashSet},
    iter,
};

impl<'a> Types<'a> {
    /// Compares two lists. `noun` names their items, `scope` goes before the names.
    pub fn metrics(&mut self, old: &'a [Metric], new: &'a [Metric], noun: &str, scope: &str) {
        let renamed = renamed(old, new);
        let name = |metric: &'a Metric| *renamed.get(metric.name.as_str()).unwrap_or(&metric.name.as_str());
        let by_name: HashMap<&str, &Metric> = old.iter().map(|metric| (name(metric), metric)).collect();
        let left: HashSet<&str> = new.iter().map(|metric| metric.name.as_str()).collect();
        let called = |metric: &Metric| format!("{noun} `{scope}{}`", metric.name);
        for metric in old.iter().filter(|metric| !left.contains(name(metric))) {
            let message = format!("{} removed", called(metric));
            self.changes.push(ChangeKind::MetricRemoved, message, Some(metric.place), None);
        }
        for metric in new {
            match by_name.get(metric.name.as_str()) {
                Some(known) => self.metric(known, metric, &called(metric)),
                None => {
                    let message = format!("{} added", called(metric));
                    self.changes.push(ChangeKind::MetricAdded, message, None, Some(metric.place));
                }
            }
        }
        let before = old.iter().map(name).filter(|name| left.contains(name));
        let after = new.iter().filter(|metric| by_name.contains_key(metric.name.as_str()));
        let moved = iter::zip(before, after).find(|(before, after)| *before != after.name);
        if let Some((_, metric)) = moved {
            let old = by_name.get(metric.name.as_str()).map(|known| known.place);
            let message = format!("order changed, starting with {}", called(metric));
            self.changes.push(ChangeKind::OrderChanged, message, old, Some(metric.place));
        }
    }

    fn metric(&mut self, old: &'a Metric, new: &'a Metric, called: &str) {
        let places = [old.place, new.place];
        if old.name != new.name {
            let message = format!("{called} renamed from `{}`", old.name);
            self.changes.push(ChangeKind::MetricRenamed, message, Some(old.place), Some(new.place));
        }
        self.kind(old, new, called);
        attributes(&mut self.changes, old, new, called);
        self.thresholds(old, new, called);
        self.changes.push_documentation(called, [&old.doc, &new.doc], places);
    }

    fn thresholds(&mut self, old: &'a Metric, new: &'a Metric, called: &str) {
        let [before, after] = [&old.limits, &new.limits];
        for (thing, was, is) in [("warn", &before.warn, &after.warn), ("alarm", &before.alarm, &after.alarm)]
        {
            // By name: a changed number of an enumerator is reported once, for the enum.
            let values_differ = self.names(0, &old.kind, &was.values) != self.names(1, &new.kind, &is.values);
            if values_differ || differs(was.below, is.below) || differs(was.above, is.above) {
                let message = format!("`{thing}` of {called} changed");
                self.changes.push(ChangeKind::LimitsChanged, message, Some(old.place), Some(new.place));
            }
        }
    }
}

/// Old names to new ones.
fn renamed<'a>(old: &'a [Metric], new: &'a [Metric]) -> HashMap<&'a str, &'a str> {
    let names = |metrics: &'a [Metric]| metrics.iter().map(|metric| metric.name.as_str()).collect();
    let (before, after): (HashSet<&str>, HashSet<&str>) = (names(old), names(new));
    let pairs = iter::zip(old, new).filter(|(old, new)| {
        old.kind == new.kind && !after.contains(old.name.as_str()) && !before.contains(new.name.as_str())
    });
    pairs.map(|(old, new)| (old.name.as_str(), new.name.as_str())).collect()
}

fn attributes(changes: &mut Changes, old: &Metric, new: &Metric, called: &str) {
    let places = [old.place, new.place];
    let of = |thing: &str| format!("{thing} of {called}");
    changes.push_text(
        ChangeKind::UnitChanged,
        &of("unit"),
        [old.unit.as_deref(), new.unit.as_deref()],
        places,
    );
    changes.push_text(ChangeKind::KindChanged, &of("kind"), [kind(old.behavior), kind(new.behavior)], places);
    changes.push_text(
        ChangeKind::LabelChanged,
        &of("label"),
        [old.label.as_deref(), new.label.as_deref()],
        places,
    );
    let (before, after) = (&old.limits, &new.limits);
    for (bound, [was, is]) in [("`min`", [before.min, after.min]), ("`max`", [before.max, after.max])] {
        if differs(was, is) {
            changes.push(
                ChangeKind::RangeChanged,
                format!("{} changed", of(bound)),
                Some(old.place),
                Some(new.place),
            );
        }
    }
}

fn kind(behavior: Option<Behavior>) -> Option<&'static str> {
    let known = Behavior::ALL.into_iter().find(|(_, known)| Some(*known) == behavior);
    known.map(|(name, _)| name)
}

/// `150` and `1.5e2` are the same limit.
fn differs(old: Option<Number>, new: Option<Number>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.is_less_than(new) || new.is_less_than(old),
        (old, new) => old.is_some() != new.is_some(),
    }
}
