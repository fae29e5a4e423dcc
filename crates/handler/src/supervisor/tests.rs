use super::*;
use crate::Failure;
use serde_json::{Value, json};
use std::sync::{
    atomic::{AtomicBool, AtomicU64, Ordering},
    mpsc::Sender,
};

/// The behavior of a run.
type Outcome = fn(&Context) -> Result<(), Failure>;

/// Reports each run, then runs its outcome.
struct ScriptedHandler {
    name: &'static str,
    started: Mutex<Sender<&'static str>>,
    outcome: Outcome,
}

/// Milliseconds that the deaf handler may take to stop.
static STOP_TIMEOUT_MS: AtomicU64 = AtomicU64::new(1);

impl Handler for ScriptedHandler {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let _ = self.started.lock().unwrap().send(self.name);
        (self.outcome)(&context)
    }

    fn state(&self) -> Value {
        json!({"is": self.name})
    }

    fn stop_deadline(&self) -> Duration {
        let milliseconds = if self.name == "deaf" { STOP_TIMEOUT_MS.load(Ordering::Relaxed) } else { 60_000 };
        Duration::from_millis(milliseconds)
    }
}

fn until_stopped(context: &Context) -> Result<(), Failure> {
    while !context.stopping.wait_for(Duration::from_secs(60)) {}
    Ok(())
}

fn supervisor(handlers: &[(&'static str, Outcome)]) -> (Supervisor, Receiver<&'static str>) {
    let (sender, started) = mpsc::channel();
    let handler = |&(name, outcome): &(&'static str, _)| -> Arc<dyn Handler> {
        Arc::new(ScriptedHandler { name, started: Mutex::new(sender.clone()), outcome })
    };
    let dac = Dac::new(oasis_dac::Config::default());
    let mut supervisor = Supervisor::new(dac, None, handlers.iter().map(handler).collect());
    let short = Duration::from_millis(1);
    supervisor.backoff = Backoff { first: short, most: short, recovered: Duration::from_secs(3_600) };
    (supervisor, started)
}

#[test]
fn a_handler_that_fails_or_panics_starts_again_and_harms_no_other() {
    let (supervisor, started) = supervisor(&[
        ("failing", |_| Err(Failure("no database".into()))),
        ("panicking", |_| panic!("out of cheese")),
        ("steady", until_stopped),
    ]);
    supervisor.start_all();
    let (mut failing, mut panicking) = (0, 0);
    while failing < 3 || panicking < 3 {
        match started.recv().unwrap() {
            "failing" => failing += 1,
            "panicking" => panicking += 1,
            _ => {}
        }
    }
    let list = supervisor.list();
    assert!(list[0].restarts >= 2 && list[1].restarts >= 2, "{list:?}");
    assert_eq!(list[0].detail.as_deref(), Some("no database"));
    assert_eq!(list[1].detail.as_deref(), Some("panicked: out of cheese"));
    assert_eq!((list[2].condition, list[2].restarts), (Condition::Running, 0));
    assert_eq!(list[2].state, json!({"is": "steady"}));
    supervisor.stop_all();
    assert!(supervisor.list().iter().all(|status| status.condition == Condition::Stopped));
}

#[test]
fn a_handler_is_stopped_and_started_while_others_run() {
    let (supervisor, started) = supervisor(&[("one", until_stopped), ("other", until_stopped)]);
    supervisor.start_all();
    started.recv().unwrap();
    started.recv().unwrap();
    supervisor.stop("one").unwrap();
    supervisor.stop("one").unwrap();
    let conditions = || supervisor.list().into_iter().map(|status| status.condition).collect::<Vec<_>>();
    assert_eq!(conditions(), [Condition::Stopped, Condition::Running]);
    supervisor.start("one").unwrap();
    assert_eq!(started.recv().unwrap(), "one");
    supervisor.start("one").unwrap();
    assert_eq!(conditions(), [Condition::Running, Condition::Running]);
    supervisor.stop_all();
    assert!(started.try_recv().is_err(), "a start of what runs starts nothing");
}

#[test]
fn a_handler_that_backs_off_stops_at_once() {
    let (mut supervisor, started) = supervisor(&[("failing", |_| Err(Failure("no".into())))]);
    supervisor.backoff.first = Duration::from_secs(3_600);
    supervisor.start_all();
    started.recv().unwrap();
    supervisor.stop("failing").unwrap();
    let status = supervisor.status("failing").unwrap();
    assert_eq!((status.condition, status.detail.as_deref()), (Condition::Stopped, Some("no")));
}

#[test]
fn a_handler_that_is_stopped_at_once_has_run() {
    for _ in 0..100 {
        let (supervisor, started) = supervisor(&[("storing", until_stopped)]);
        supervisor.start("storing").unwrap();
        supervisor.stop("storing").unwrap();
        assert_eq!(started.try_recv(), Ok("storing"));
    }
}

#[test]
fn a_failure_while_it_stops_is_kept_and_starts_nothing() {
    fn fails_at_the_end(context: &Context) -> Result<(), Failure> {
        while !context.stopping.wait_for(Duration::from_secs(60)) {}
        Err(Failure("the disk is full".into()))
    }
    let (supervisor, started) = supervisor(&[("storing", fails_at_the_end)]);
    supervisor.start_all();
    started.recv().unwrap();
    supervisor.stop("storing").unwrap();
    let status = supervisor.status("storing").unwrap();
    assert_eq!((status.condition, status.detail.as_deref()), (Condition::Stopped, Some("the disk is full")));
    assert_eq!(status.restarts, 0);
}

#[test]
fn a_handler_that_does_not_stop_is_reported_and_cannot_start_twice() {
    static IS_DEAF: AtomicBool = AtomicBool::new(true);
    fn deaf(_: &Context) -> Result<(), Failure> {
        while IS_DEAF.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        Ok(())
    }
    let (supervisor, started) = supervisor(&[("deaf", deaf)]);
    supervisor.start_all();
    started.recv().unwrap();
    assert!(matches!(supervisor.stop("deaf"), Err(HandlerError::Slow { name: "deaf", .. })));
    assert_eq!(supervisor.status("deaf").unwrap().condition, Condition::Stopping);
    assert!(matches!(supervisor.start("deaf"), Err(HandlerError::Slow { .. })));
    IS_DEAF.store(false, Ordering::Release);
    STOP_TIMEOUT_MS.store(60_000, Ordering::Relaxed);
    supervisor.stop("deaf").unwrap();
    supervisor.start("deaf").unwrap();
    supervisor.stop("deaf").unwrap();
}

#[test]
fn an_unknown_name_is_refused_with_the_names_that_exist() {
    let (supervisor, _) = supervisor(&[("one", until_stopped)]);
    let error = supervisor.stop("two").unwrap_err().to_string();
    assert_eq!(error, "unknown handler \"two\": configured are one");
}
