//! Matches old and new probes: first by UUID, then by name.

use super::{Change, ChangeKind, Changes, types::Types};
use crate::model::{Model, Probe};
use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

pub fn compare(old: &Model, new: &Model) -> Vec<Change> {
    let before: Vec<&Probe> = sending(old).collect();
    let by_uuid: HashMap<_, &Probe> = before.iter().map(|&probe| (probe.uuid, probe)).collect();
    // Old probes whose UUID no new probe has; a new probe may have the same name.
    let still: HashSet<_> = sending(new).map(|probe| probe.uuid).collect();
    let mut lost: HashMap<&str, &Probe> = before
        .iter()
        .filter(|probe| !still.contains(&probe.uuid))
        .map(|&probe| (probe.name.as_str(), probe))
        .collect();
    let mut changes = Vec::new();
    for probe in sending(new) {
        match by_uuid.get(&probe.uuid) {
            Some(known) => changes.extend(same(old, new, known, probe)),
            None => changes.push(other(lost.remove(probe.name.as_str()), probe)),
        }
    }
    let removed = before.iter().filter(|probe| lost.contains_key(probe.name.as_str()));
    changes.extend(removed.map(|probe| gone(probe, new)));
    changes
}

/// Abstract probes send no samples: they matter as bases only.
fn sending(model: &Model) -> impl Iterator<Item = &Probe> {
    model.probes.iter().filter(|probe| !probe.is_abstract)
}

fn single(
    probe: &Probe,
    kind: ChangeKind,
    message: &str,
    old: Option<&Probe>,
    new: Option<&Probe>,
) -> Change {
    let place = |probe: Option<&Probe>| probe.map(|probe| probe.place.0);
    Change {
        kind,
        class: kind.class(false),
        probe: probe.name.clone(),
        message: message.into(),
        old: place(old),
        new: place(new),
    }
}

/// A UUID that the old files do not have.
fn other(namesake: Option<&Probe>, probe: &Probe) -> Change {
    match namesake {
        Some(_) => single(probe, ChangeKind::UuidChanged, "UUID changed", namesake, Some(probe)),
        None => single(probe, ChangeKind::ProbeAdded, "probe added", None, Some(probe)),
    }
}

fn gone(probe: &Probe, new: &Model) -> Change {
    let left = new.probes.iter().find(|left| left.is_abstract && left.name == probe.name);
    let message = if left.is_some() { "probe became abstract: it sends no samples" } else { "probe removed" };
    single(probe, ChangeKind::ProbeRemoved, message, Some(probe), left)
}

fn same(old_model: &Model, new_model: &Model, old: &Probe, new: &Probe) -> Vec<Change> {
    let order = numbers(&new.version).cmp(&numbers(&old.version));
    let is_raised = order == Ordering::Greater;
    let mut changes = Changes { probe: new.name.clone(), is_raised, list: Vec::new() };
    let places = (Some(old.place), Some(new.place));
    let mut push = |kind, message: String| changes.push(kind, message, places.0, places.1);
    match order {
        Ordering::Greater => {
            push(ChangeKind::VersionRaised, format!("version raised from {} to {}", old.version, new.version))
        }
        Ordering::Less => push(
            ChangeKind::VersionLowered,
            format!("version lowered from {} to {}", old.version, new.version),
        ),
        Ordering::Equal => {}
    }
    if old.name != new.name {
        push(ChangeKind::ProbeRenamed, format!("probe renamed from `{}`", old.name));
    }
    if old.demand != new.demand {
        push(ChangeKind::RateChanged, "`rate` changed".into());
    }
    changes.push_documentation("the probe", [&old.doc, &new.doc], [old.place, new.place]);
    let mut types = Types::new(old_model, new_model, changes);
    types.metrics(&old.metrics, &new.metrics, "metric", "");
    types.used()
}

/// Splits a version so that `1.10` sorts after `1.9`, with any number of digits.
fn numbers(version: &str) -> Vec<(usize, &str)> {
    let parts = version.split('.').map(|part| part.trim_start_matches('0'));
    parts.map(|digits| (digits.len(), digits)).collect()
}
