//! Which probe is which: by UUID, whatever its name, then by name.

use super::{Change, Teller, What, types::Types};
use crate::model::{Model, Probe};
use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

pub fn compare(old: &Model, new: &Model) -> Vec<Change> {
    let before: Vec<&Probe> = sending(old).collect();
    let by_uuid: HashMap<_, &Probe> = before.iter().map(|&probe| (probe.uuid, probe)).collect();
    // Probes whose UUID is gone; a probe of the same name has another.
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

fn single(probe: &Probe, what: What, message: &str, old: Option<&Probe>, new: Option<&Probe>) -> Change {
    let place = |probe: Option<&Probe>| probe.map(|probe| probe.place.0);
    Change {
        what,
        class: what.class(false),
        probe: probe.name.clone(),
        message: message.into(),
        old: place(old),
        new: place(new),
    }
}

/// A UUID that the old files do not have.
fn other(namesake: Option<&Probe>, probe: &Probe) -> Change {
    match namesake {
        Some(_) => single(probe, What::UuidChanged, "has another UUID", namesake, Some(probe)),
        None => single(probe, What::ProbeAdded, "is new", None, Some(probe)),
    }
}

fn gone(probe: &Probe, new: &Model) -> Change {
    let left = new.probes.iter().find(|left| left.is_abstract && left.name == probe.name);
    let message = if left.is_some() { "is abstract now and sends no samples" } else { "is gone" };
    single(probe, What::ProbeRemoved, message, Some(probe), left)
}

fn same(old_model: &Model, new_model: &Model, old: &Probe, new: &Probe) -> Vec<Change> {
    let order = numbers(&new.version).cmp(&numbers(&old.version));
    let is_raised = order == Ordering::Greater;
    let mut teller = Teller { probe: new.name.clone(), is_raised, changes: Vec::new() };
    let places = (Some(old.place), Some(new.place));
    let mut tell = |what, message: String| teller.tell(what, message, places.0, places.1);
    match order {
        Ordering::Greater => {
            tell(What::VersionRaised, format!("version {} follows {}", new.version, old.version))
        }
        Ordering::Less => {
            tell(What::VersionLowered, format!("version went from {} down to {}", old.version, new.version))
        }
        Ordering::Equal => {}
    }
    if old.name != new.name {
        tell(What::ProbeRenamed, format!("was called `{}`", old.name));
    }
    if old.demand != new.demand {
        tell(What::RateChanged, "`rate` changed".into());
    }
    teller.tell_documentation("the probe", [&old.doc, &new.doc], [old.place, new.place]);
    let mut types = Types::new(old_model, new_model, teller);
    types.metrics(&old.metrics, &new.metrics, "metric", "");
    types.used()
}

/// `1.10` is above `1.9`, however many digits there are.
fn numbers(version: &str) -> Vec<(usize, &str)> {
    let parts = version.split('.').map(|part| part.trim_start_matches('0'));
    parts.map(|digits| (digits.len(), digits)).collect()
}
