//! Alarms in a folder of their own, and a DAC whose handler delivers their messages.

use super::{eventually, now};
use oasis_alarms::{
    Alarms, At, DestinationFigures, EventIdentity, EventKey, JournalFilter, JournalKind, Limits, Round,
    RuleEvent, RuleFacts,
};
use oasis_dac::{Config, Dac};
use oasis_handler::Supervisor;
use oasis_notify::{NotifyConfig, NotifyHandler};
use oasis_rules::{EventKind, Standing, program::Severity};
use oasis_wire::quantity::Nanos;
use std::{path::Path, sync::Arc};

/// The name of the only rule.
pub const RULE: &str = "Hot";

/// A DAC with alarms, without rules that raise them.
pub struct Plant {
    pub alarms: Arc<Alarms>,
    pub handler: Arc<NotifyHandler>,
    pub supervisor: Supervisor,
}

impl Plant {
    /// Opens the alarms and delivers their messages to these destinations.
    pub fn start(folder: &Path, config: &str) -> Self {
        let config: NotifyConfig = toml::from_str(config).unwrap();
        let destinations = config.destinations().unwrap();
        let alarms = Arc::new(Alarms::open(folder, Limits::default()).unwrap());
        let handler = Arc::new(NotifyHandler::new(destinations, alarms.clone(), "hall-1").unwrap());
        alarms.set_rules(&[facts(None)]).unwrap();
        let supervisor = Supervisor::new(Dac::new(Config::default()), None, vec![handler.clone()]);
        supervisor.start_all();
        Self { alarms, handler, supervisor }
    }

    /// From now on the rule notifies these destinations.
    pub fn notify(&self, names: &[&str]) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.alarms.set_rules(&[facts(Some(names))]).unwrap();
    }

    /// Raises the alarm of an instance.
    pub fn raise(&self, instance: &str) {
        self.event(instance, EventKind::Raised, Standing::Active, Severity::High);
    }

    /// Raises the alarm of an instance, which is critical.
    pub fn raise_critical(&self, instance: &str) {
        self.event(instance, EventKind::Raised, Standing::Active, Severity::Critical);
    }

    /// Clears it.
    pub fn clear(&self, instance: &str) {
        self.event(instance, EventKind::Cleared, Standing::Normal, Severity::High);
    }

    fn event(&self, instance: &str, kind: EventKind, standing: Standing, severity: Severity) {
        let now = now();
        let (rule, node) = (RULE, "plant");
        let identity =
            EventIdentity { rule, node, instance, run: None, at: At::Sequence(now), kind, index: 0 };
        let event = RuleEvent {
            standing: Some(standing),
            severity: Some(severity),
            is_known: true,
            time: now,
            dac_time: now,
            ..RuleEvent::new(EventKey::new(identity), rule, (node, instance), kind)
        };
        self.alarms.commit(Round { now: Nanos(now), events: vec![event], checkpoints: vec![] }).unwrap();
    }

    /// The counts of a destination.
    pub fn figures(&self, destination: &str) -> DestinationFigures {
        self.alarms.outbox_figures().destinations[destination].clone()
    }

    /// Waits until no message waits.
    pub fn drain(&self, destination: &str) {
        eventually("all messages are settled", || (self.figures(destination).waiting == 0).then_some(()));
    }

    /// Instances in the journal's entries of this kind, newest first.
    pub fn journal(&self, kind: JournalKind) -> Vec<String> {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let filter = JournalFilter { kind: Some(kind), after, ..JournalFilter::default() };
            let page = self.alarms.journal(&filter).unwrap();
            all.extend(page.entries.into_iter().map(|entry| entry.instance));
            match page.next {
                Some(next) => after = Some(next),
                None => return all,
            }
        }
    }
}

impl Drop for Plant {
    fn drop(&mut self) {
        self.supervisor.stop_all();
    }
}

fn facts(notify: Option<Vec<String>>) -> RuleFacts {
    let message = Some("{instance} is hot".into());
    RuleFacts { name: RULE.into(), severity: Severity::High, latch: false, message, notify }
}
