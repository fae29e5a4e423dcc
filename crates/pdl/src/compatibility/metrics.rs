//! Metrics of a probe, members of a struct: matched by name. One in the same place with the same type was renamed.

use super::{Teller, What, types::Types};
use crate::model::{Behaviour, Metric, Number};
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
            let message = format!("{} is gone", called(metric));
            self.teller.tell(What::MetricRemoved, message, Some(metric.place), None);
        }
        for metric in new {
            match by_name.get(metric.name.as_str()) {
                Some(known) => self.metric(known, metric, &called(metric)),
                None => {
                    let message = format!("{} is new", called(metric));
                    self.teller.tell(What::MetricAdded, message, None, Some(metric.place));
                }
            }
        }
        let before = old.iter().map(name).filter(|name| left.contains(name));
        let after = new.iter().filter(|metric| by_name.contains_key(metric.name.as_str()));
        let moved = iter::zip(before, after).find(|(before, after)| *before != after.name);
        if let Some((_, metric)) = moved {
            let old = by_name.get(metric.name.as_str()).map(|known| known.place);
            let message = format!("the order is another one from {} on", called(metric));
            self.teller.tell(What::OrderChanged, message, old, Some(metric.place));
        }
    }

    fn metric(&mut self, old: &'a Metric, new: &'a Metric, called: &str) {
        let places = [old.place, new.place];
        if old.name != new.name {
            let message = format!("{called} was called `{}`", old.name);
            self.teller.tell(What::MetricRenamed, message, Some(old.place), Some(new.place));
        }
        self.kind(old, new, called);
        attributes(&mut self.teller, old, new, called);
        self.thresholds(old, new, called);
        self.teller.tell_documentation(called, [&old.doc, &new.doc], places);
    }

    fn thresholds(&mut self, old: &'a Metric, new: &'a Metric, called: &str) {
        let [before, after] = [&old.limits, &new.limits];
        for (thing, was, is) in [("warn", &before.warn, &after.warn), ("alarm", &before.alarm, &after.alarm)]
        {
            // By name: a changed number of an enumerator is reported once, for the enum.
            let values_differ = self.names(0, &old.kind, &was.values) != self.names(1, &new.kind, &is.values);
            if values_differ || differs(was.below, is.below) || differs(was.above, is.above) {
                let message = format!("`{thing}` of {called} changed");
                self.teller.tell(What::LimitsChanged, message, Some(old.place), Some(new.place));
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

fn attributes(teller: &mut Teller, old: &Metric, new: &Metric, called: &str) {
    let places = [old.place, new.place];
    let of = |thing: &str| format!("{thing} of {called}");
    teller.tell_if_changed(
        What::UnitChanged,
        &of("unit"),
        [old.unit.as_deref(), new.unit.as_deref()],
        places,
    );
    teller.tell_if_changed(
        What::KindChanged,
        &of("kind"),
        [kind(old.behaviour), kind(new.behaviour)],
        places,
    );
    teller.tell_if_changed(
        What::LabelChanged,
        &of("label"),
        [old.label.as_deref(), new.label.as_deref()],
        places,
    );
    let (before, after) = (&old.limits, &new.limits);
    for (what, [was, is]) in [("`min`", [before.min, after.min]), ("`max`", [before.max, after.max])] {
        if differs(was, is) {
            teller.tell(
                What::RangeChanged,
                format!("{} changed", of(what)),
                Some(old.place),
                Some(new.place),
            );
        }
    }
}

fn kind(behaviour: Option<Behaviour>) -> Option<&'static str> {
    let known = Behaviour::ALL.into_iter().find(|(_, known)| Some(*known) == behaviour);
    known.map(|(name, _)| name)
}

/// `150` and `1.5e2` are the same limit.
fn differs(old: Option<Number>, new: Option<Number>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.is_less_than(new) || new.is_less_than(old),
        (old, new) => old.is_some() != new.is_some(),
    }
}
