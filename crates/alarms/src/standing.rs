//! The alarms that a destination has been told of and that still stand.

use crate::{AlarmView, Alarms};

impl Alarms {
    /// Alarms that stand, are not silenced, and whose rule notifies this destination: for places that forget what is not repeated.
    pub fn standing_for(&self, destination: &str) -> Vec<AlarmView> {
        let memory = self.memory();
        let is_notified = |rule: &str| match memory.rules.get(rule).and_then(|rule| rule.notify.as_ref()) {
            Some(names) => names.iter().any(|name| name == destination),
            None => true,
        };
        let told = memory.alarms.values().filter(|alarm| alarm.state.is_told);
        let told = told.filter(|alarm| is_notified(&alarm.view.key.rule));
        told.map(|alarm| alarm.shown(memory.now())).collect()
    }
}
