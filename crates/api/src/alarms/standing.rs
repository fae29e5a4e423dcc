//! Number of standing alarms of each instance, for fleets.

use oasis_alarms::{AlarmView, Alarms, Filter, RelayedAlarms};
use oasis_doors::{AlarmsByInstance, StandingAlarms};
use oasis_rules::{Standing, program::Severity};
use std::sync::Arc;

/// The alarms of this DAC, and of those that it relays.
#[derive(Debug)]
pub struct AllStanding {
    pub own: Option<Arc<Alarms>>,
    pub relayed: Option<Arc<RelayedAlarms>>,
}

impl StandingAlarms for AllStanding {
    fn revision(&self) -> u64 {
        let own = self.own.as_ref().map_or(0, |alarms| *alarms.watch().borrow());
        let relayed = self.relayed.as_ref().map_or(0, |alarms| *alarms.watch().borrow());
        // Both only grow, so that their sum changes with either.
        own.wrapping_add(relayed)
    }

    fn counts(&self) -> AlarmsByInstance {
        let filter = Filter { is_standing: true, ..Filter::default() };
        let mut counts = AlarmsByInstance::new();
        if let Some(alarms) = &self.own {
            alarms.list(&filter).alarms.iter().for_each(|alarm| count(alarm, &mut counts));
        }
        if let Some(alarms) = &self.relayed {
            alarms.list(&filter, |_| true).0.iter().for_each(|alarm| count(&alarm.view, &mut counts));
        }
        counts
    }
}

/// Counts an alarm that is not silenced.
fn count(alarm: &AlarmView, counts: &mut AlarmsByInstance) {
    if alarm.state == Standing::Normal || alarm.is_silenced() {
        return;
    }
    let of_node = counts.entry(alarm.key.node.clone()).or_default();
    let of_instance = of_node.entry(alarm.key.instance.clone()).or_default();
    let place = match alarm.severity {
        Severity::Low => 0,
        Severity::Medium => 1,
        Severity::High => 2,
        Severity::Critical => 3,
    };
    of_instance[place] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_alarms::AlarmKey;

    #[test]
    fn alarms_are_counted_by_instance_and_severity_but_for_silenced_ones() {
        let key =
            |rule: &str| AlarmKey { rule: rule.into(), node: "plant-7".into(), instance: "pump".into() };
        let active = |rule| AlarmView { state: Standing::Active, ..AlarmView::new(key(rule)) };
        let mut counts = AlarmsByInstance::new();
        for alarm in [
            active("hot"),
            AlarmView { severity: Severity::Critical, state: Standing::Latched, ..active("dry") },
            AlarmView { suppressed: true, ..active("loud") },
            AlarmView::new(key("normal")),
        ] {
            count(&alarm, &mut counts);
        }
        assert_eq!(counts["plant-7"]["pump"], [0, 1, 0, 1]);
    }
}
