//! Commands of rules to probes: bounded in number, and never in a circle.

use oasis_alarms::RuleEvent;
use oasis_dac::{Dac, now};
use oasis_rules::program::{self, ActionSpec, Target};
use oasis_wire::{
    command::Command,
    pattern,
    quantity::{DemandRange, Hertz},
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

/// The time in which a rule's commands are counted.
const LIMIT_PERIOD: Duration = Duration::from_secs(60);
/// A rule that something happens to so soon after its command to the same instance has probably caused it.
const LOOP_WINDOW: Duration = Duration::from_secs(10);
/// Most instances that one action commands.
const MAX_TARGETS: usize = 1_000;
/// Most commands that wait to be sent.
const MAX_QUEUED_COMMANDS: usize = 1_024;
/// Most commands that are remembered, to find circles.
const MAX_REMEMBERED: usize = 10_000;

/// A command to an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub rule: String,
    pub node: String,
    pub instance: String,
    pub request: Command,
}

/// Commands that were sent or refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Given to the command bus.
    pub sent: u64,
    /// Refused: the rule has sent enough in this minute.
    pub too_many: u64,
    /// Refused: a command of the rule to the instance has probably caused what happened.
    pub circles: u64,
    /// Not sent, because too many wait.
    pub dropped: u64,
}

/// Decides which commands are sent.
#[derive(Debug)]
pub struct Limiter {
    per_minute: usize,
    /// When each rule sent its last commands.
    sent: BTreeMap<String, VecDeque<Instant>>,
    /// Recent commands of rules: rule, node and instance.
    recent: VecDeque<(Instant, (String, String, String))>,
    pub counts: Counts,
}

impl Limiter {
    /// Creates a limiter of a rule's commands in a minute.
    pub fn new(per_minute: u32) -> Self {
        let per_minute = per_minute as usize;
        Self { per_minute, sent: BTreeMap::new(), recent: VecDeque::new(), counts: Counts::default() }
    }

    /// The commands of a rule after an event. `instances` are all instances that there are: node and name.
    pub fn orders<'a>(
        &mut self,
        event: &RuleEvent,
        actions: &[ActionSpec],
        instances: impl Fn() -> Vec<(&'a str, &'a str)>,
        time: Instant,
    ) -> Vec<Order> {
        let mut orders = Vec::new();
        for action in actions.iter().filter(|action| action.on == event.kind) {
            let targets: Vec<(String, String)> = match &action.target {
                Target::Source => vec![(event.node.clone(), event.instance.clone())],
                Target::Pattern(wanted) => instances()
                    .into_iter()
                    .filter(|(node, instance)| pattern::matches(wanted, &format!("{node}/{instance}")))
                    .take(MAX_TARGETS)
                    .map(|(node, instance)| (node.to_owned(), instance.to_owned()))
                    .collect(),
            };
            for (node, instance) in targets {
                let request = request(action.command);
                let order = Order { rule: event.rule.clone(), node, instance, request };
                if self.permits(event, &order, time) {
                    orders.push(order);
                }
            }
        }
        orders
    }

    fn permits(&mut self, event: &RuleEvent, order: &Order, time: Instant) -> bool {
        while self.recent.front().is_some_and(|(sent, _)| time.duration_since(*sent) >= LOOP_WINDOW) {
            self.recent.pop_front();
        }
        let commanded = |(_, (rule, node, instance)): &(Instant, (String, String, String))| {
            *rule == event.rule && *node == event.node && *instance == event.instance
        };
        // A command that was sent for this very event, at this moment, did not cause it.
        if self.recent.iter().any(|recent| recent.0 < time && commanded(recent)) {
            self.counts.circles += 1;
            return false;
        }
        let sent = self.sent.entry(order.rule.clone()).or_default();
        while sent.front().is_some_and(|sent| time.duration_since(*sent) >= LIMIT_PERIOD) {
            sent.pop_front();
        }
        if sent.len() >= self.per_minute {
            self.counts.too_many += 1;
            return false;
        }
        sent.push_back(time);
        if self.recent.len() == MAX_REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((time, (order.rule.clone(), order.node.clone(), order.instance.clone())));
        true
    }

    /// Forgets rules that are gone.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.sent.retain(|rule, _| is_there(rule));
    }
}

fn request(command: program::Command) -> Command {
    match command {
        program::Command::Hertz(hertz) => Command::Hertz { hertz },
        program::Command::Enable => Command::Enable,
        program::Command::Disable => Command::Disable,
        program::Command::SampleNow => Command::SampleNow,
        program::Command::Trigger => Command::Trigger,
        program::Command::Demand => demand(),
        program::Command::DemandOff => Command::DemandOff,
    }
}

/// Between these bounds readers decide.
fn demand() -> Command {
    DemandRange::new(Hertz::ONE, Hertz::FASTEST).map_or(Command::DemandOff, Command::Demand)
}

/// Sends commands on a thread of its own: a node may take seconds to answer. The thread ends when this is dropped.
#[derive(Debug)]
pub struct Sender(SyncSender<Order>);

impl Sender {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn start(dac: Arc<Dac>) -> std::io::Result<Self> {
        let (sender, orders) = sync_channel(MAX_QUEUED_COMMANDS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new()
            .name("rules-commands".into())
            .spawn(move || send_all(&dac, &runtime, &orders))?;
        Ok(Self(sender))
    }

    /// Sends a command soon. Returns false if too many wait.
    pub fn send(&self, order: Order) -> bool {
        self.0.try_send(order).is_ok()
    }
}

fn send_all(dac: &Dac, runtime: &tokio::runtime::Runtime, orders: &Receiver<Order>) {
    while let Ok(Order { rule, node, instance, request }) = orders.recv() {
        let who = format!("rule {rule}");
        let target = (&*node, &*instance);
        let sent = runtime.block_on(dac.commands.execute(&dac.registry, target, request, &*who, now()));
        match sent {
            Ok(_) => tracing::info!(%rule, %node, %instance, "a rule has commanded a probe"),
            Err(error) => tracing::warn!(%rule, %node, %instance, %error, "the command of a rule failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_alarms::{At, EventIdentity, EventKey};
    use oasis_rules::EventKind;

    fn event(instance: &str) -> RuleEvent {
        let (rule, node, kind) = ("Hot", "plant", EventKind::Raised);
        let at = At::Sequence(1);
        let key = EventKey::new(EventIdentity { rule, node, instance, run: None, at, kind, index: 0 });
        RuleEvent::new(key, rule, (node, instance), kind)
    }

    fn action(on: EventKind, target: Target) -> ActionSpec {
        ActionSpec { on, command: program::Command::Trigger, target }
    }

    const ALL: [(&str, &str); 3] = [("plant", "pump"), ("plant", "recorder"), ("other", "recorder")];

    fn names(limiter: &mut Limiter, instance: &str, actions: &[ActionSpec], time: Instant) -> Vec<String> {
        let orders = limiter.orders(&event(instance), actions, || ALL.to_vec(), time);
        orders.into_iter().map(|order| format!("{}/{}", order.node, order.instance)).collect()
    }

    #[test]
    fn an_action_commands_what_its_target_names() {
        let (mut limiter, time) = (Limiter::new(10), Instant::now());
        let recorders = [action(EventKind::Raised, Target::Pattern("*/recorder".into()))];
        assert_eq!(names(&mut limiter, "pump", &recorders, time), ["plant/recorder", "other/recorder"]);
        let source = [action(EventKind::Raised, Target::Source), action(EventKind::Cleared, Target::Source)];
        assert_eq!(names(&mut limiter, "pump", &source, time), ["plant/pump"]);
    }

    #[test]
    fn a_rule_sends_so_many_commands_in_a_minute() {
        let (mut limiter, time) = (Limiter::new(2), Instant::now());
        let recorders = [action(EventKind::Raised, Target::Pattern("*/recorder".into()))];
        assert_eq!(names(&mut limiter, "pump", &recorders, time).len(), 2);
        assert_eq!(names(&mut limiter, "pump", &recorders, time + LIMIT_PERIOD / 2).len(), 0);
        assert_eq!(limiter.counts.too_many, 2);
        assert_eq!(names(&mut limiter, "pump", &recorders, time + LIMIT_PERIOD).len(), 2);
        assert!(names(&mut Limiter::new(0), "pump", &recorders, time).is_empty(), "none at all");
    }

    #[test]
    fn a_command_that_causes_what_it_answers_is_not_repeated() {
        let (mut limiter, time) = (Limiter::new(100), Instant::now());
        let source = [action(EventKind::Raised, Target::Source)];
        assert_eq!(names(&mut limiter, "pump", &source, time).len(), 1);
        assert_eq!(names(&mut limiter, "pump", &source, time + LOOP_WINDOW / 2).len(), 0);
        assert_eq!(
            names(&mut limiter, "recorder", &source, time + LOOP_WINDOW / 2).len(),
            1,
            "another instance"
        );
        assert_eq!(limiter.counts.circles, 1);
        assert_eq!(names(&mut limiter, "pump", &source, time + LOOP_WINDOW).len(), 1);
    }
}
