use super::*;
use crate::{destination::Destination, setting::Limits};
use oasis_alarms::{At, EventIdentity, EventKey, Round, RuleEvent, RuleFacts};
use oasis_rules::{EventKind, Standing, program::Severity};
use std::sync::Mutex;

/// Time that the destination takes for a message.
const ANSWER: Duration = Duration::from_millis(50);
/// 2026-05-04T12:00:00Z
const NOON: u64 = 1_777_896_000_000_000_000;

/// A clock that tests advance.
#[derive(Clone)]
struct SimulatedClock {
    start: Instant,
    elapsed: Arc<Mutex<Duration>>,
}

impl SimulatedClock {
    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }

    fn pass(&self, time: Duration) {
        *self.elapsed.lock().unwrap() += time;
    }
}

impl Clock for SimulatedClock {
    fn wall(&self) -> Nanos {
        Nanos(NOON + self.elapsed().as_nanos() as u64)
    }

    fn steady(&self) -> Instant {
        self.start + self.elapsed()
    }
}

/// A place that notes what it accepts, and when.
struct Pager {
    clock: SimulatedClock,
    accepted: Arc<Mutex<Vec<(Duration, Notification)>>>,
}

impl Destination for Pager {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        self.clock.pass(ANSWER);
        let at = self.clock.elapsed();
        self.accepted.lock().unwrap().extend(notifications.iter().map(|one| (at, one.clone())));
        Ok(())
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::One
    }
}

fn change(instance: &str, severity: Severity, is_raised: bool, at: Nanos) -> RuleEvent {
    let (rule, node) = ("Hot", "plant");
    let (kind, standing) = match is_raised {
        true => (EventKind::Raised, Standing::Active),
        false => (EventKind::Cleared, Standing::Normal),
    };
    let identity = EventIdentity { rule, node, instance, run: None, at: At::Sequence(at.0), kind, index: 0 };
    let event = RuleEvent::new(EventKey::new(identity), rule, (node, instance), kind);
    RuleEvent { standing: Some(standing), severity: Some(severity), time: at.0, dac_time: at.0, ..event }
}

#[test]
fn after_an_hour_of_flapping_at_10_hz_a_critical_alarm_waits_for_the_limit_only() {
    let clock = SimulatedClock { start: Instant::now(), elapsed: Arc::default() };
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let limits = Limits { per_minute: 30, give_up_after: Duration::from_secs(86_400) };
    let destination = Arc::new(Pager { clock: clock.clone(), accepted: accepted.clone() });
    let configured = Configured { name: "pager".into(), kind: "webhook", limits, destination };
    let alarms = Arc::new(Alarms::in_memory(oasis_alarms::Limits::default()).unwrap());
    alarms.set_destinations(&["pager".into()]).unwrap();
    let facts =
        RuleFacts { name: "Hot".into(), severity: Severity::Low, latch: false, message: None, notify: None };
    alarms.set_rules(&[facts]).unwrap();
    let progress = Progress::default();
    let mut courier = Courier::new(&configured, &progress, &alarms, "hall-1", &clock);
    let mut commit = |events: Vec<RuleEvent>| {
        alarms.commit(Round { now: clock.wall(), events, checkpoints: vec![] }).unwrap();
        courier.work(|| false);
        let figures = alarms.outbox_figures().destinations.remove("pager").unwrap();
        assert!(figures.waiting <= 4 && figures.bytes < 8_192, "{figures:?}");
    };
    let mut toggles = 0_u64;
    // Batches of half a second.
    let mut batch = || {
        let start = clock.wall().0;
        let changes = (0..5).map(|number| {
            toggles += 1;
            change("pump", Severity::High, toggles % 2 == 1, Nanos(start + number * 100_000_000))
        });
        changes.collect::<Vec<_>>()
    };
    while clock.elapsed() < Duration::from_secs(3_600) {
        commit(batch());
        clock.pass(Duration::from_millis(500));
    }
    let raised = clock.elapsed();
    commit(vec![change("reactor", Severity::Critical, true, clock.wall())]);
    let is_critical = |(_, one): &&(Duration, Notification)| one.alarm.severity == Severity::Critical;
    let mut steps = 0;
    let arrival = loop {
        if let Some((at, _)) = accepted.lock().unwrap().iter().find(is_critical) {
            break *at;
        }
        clock.pass(Duration::from_millis(100));
        steps += 1;
        commit(if steps % 5 == 0 { batch() } else { Vec::new() });
    };
    let interval = Duration::from_secs(2);
    assert!(arrival - raised <= interval + Duration::from_secs(2), "{:?}", arrival - raised);

    let accepted = accepted.lock().unwrap();
    let changes = alarms.outbox_figures().destinations["pager"].clone();
    assert_eq!(
        accepted.len() as u64 + changes.coalesced + changes.waiting,
        toggles + 1,
        "each state is accounted for"
    );
    assert!((1_800..=1_840).contains(&accepted.len()), "{}", accepted.len());
    // A message of a destination that lags is the newest state.
    let oldest = accepted.iter().map(|(_, one)| one.age).max().unwrap();
    assert!(oldest <= Duration::from_secs(4), "{oldest:?}");
    let of_pump = accepted.iter().skip(100).filter(|(_, one)| one.alarm.key.instance == "pump");
    assert!(of_pump.clone().all(|(_, one)| one.coalesced >= 10), "it stands for those that it replaces");
}
