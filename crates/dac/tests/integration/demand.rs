//! Rates that follow demand, without sockets and without waiting: tokio's clock is paused and advances only when all
//! tasks are idle.

use oasis_channel::{
    DacMessage, Failure, InstanceState, NodeIdentity, NodeMessage, Outcome, PROTOCOL, RegisteredInstance,
    frame::Frame,
};
use oasis_dac::{Config, Cursor, Dac, Delivery, Instance, Options, StartAt, session::NodeSession};
use oasis_wire::{
    command::Command,
    probe_kind::ProbeKind,
    quantity::{DemandRange, Hertz, Nanos},
    schema::ProbeType,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use uuid::Uuid;

/// A rate falls within this time after its last reader has left.
const PROMISE: Duration = Duration::from_secs(2);
/// Longer than any pending timer.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

fn hertz(hertz: f64) -> Hertz {
    Hertz::new(hertz).unwrap()
}

fn range(min: f64, max: f64) -> DemandRange {
    DemandRange::new(hertz(min), hertz(max)).unwrap()
}

/// A node with one instance, `beat`, that answers commands on request.
struct Peer {
    session: NodeSession,
    commands: mpsc::Receiver<DacMessage>,
}

impl Peer {
    /// Registers at 1 Hz, with or without demand from 1 to 100 Hz.
    fn connect(dac: &Arc<Dac>, run: u128, demand: Option<DemandRange>) -> Self {
        let (outbound, commands) = mpsc::channel(8);
        let mut peer = Self { session: NodeSession::new(dac.clone(), outbound), commands };
        let node = NodeIdentity {
            name: "plant".into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(run),
            host: "host".into(),
            software: "test".into(),
            pid: 1,
        };
        peer.send_message(&NodeMessage::Hello {
            protocol: PROTOCOL,
            node,
            secret: None,
            attach: None,
            drains: false,
        });
        let beat: ProbeType = serde_json::from_value(serde_json::json!(
            {"name": "Beat", "uuid": Uuid::nil(), "version": "1.0", "metrics": []}
        ))
        .unwrap();
        let instance = RegisteredInstance {
            name: "beat".into(),
            probe_type: beat.uuid,
            kind: ProbeKind::Periodic,
            demand,
            declared: None,
            state: InstanceState { hertz: Some(hertz(1.0)), enabled: true, recorder: None },
        };
        peer.send_message(&NodeMessage::Register { types: vec![beat], instances: vec![instance] });
        peer
    }

    fn send_message(&mut self, message: &NodeMessage) {
        let json = serde_json::to_vec(message).unwrap();
        self.session.handle(Frame::Control(&json), Nanos(0), &mut Vec::new()).unwrap();
    }

    /// Returns the next command, if one arrives: its number and its rate.
    async fn next_command(&mut self) -> Option<(u64, f64)> {
        match timeout(TEST_TIMEOUT, self.commands.recv()).await.ok()?? {
            DacMessage::Command { id, command: Command::Hertz { hertz }, .. } => Some((id, hertz.get())),
            other => panic!("{other:?}"),
        }
    }

    /// Executes the next command. Returns the rate and how long it took to arrive.
    async fn execute_next(&mut self) -> Option<(f64, Duration)> {
        let start = Instant::now();
        let (id, rate) = self.next_command().await?;
        let state = InstanceState { hertz: Some(hertz(rate)), enabled: true, recorder: None };
        self.send_message(&NodeMessage::Result { id, outcome: Outcome::Done(state) });
        Some((rate, start.elapsed()))
    }
}

fn beat(dac: &Dac) -> Arc<Instance> {
    dac.registry.find("plant", "beat").unwrap()
}

fn read(dac: &Dac, delivery: Delivery) -> Cursor {
    let options = Options { delivery, ..Options::default() };
    Cursor::open(dac, &beat(dac), StartAt::Now, options, &Arc::default()).unwrap().0
}

async fn wish(dac: &Dac, wish: Command) -> Result<InstanceState, oasis_dac::CommandError> {
    dac.commands.execute(&dac.registry, ("plant", "beat"), wish, "test", Nanos(0)).await
}

#[tokio::test(start_paused = true)]
async fn a_rate_follows_its_readers() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    let slow = read(&dac, Delivery::MaxHz(hertz(20.0)));
    assert_eq!(node.execute_next().await, Some((20.0, Duration::ZERO)));
    let every = read(&dac, Delivery::Every);
    assert_eq!(node.execute_next().await, Some((100.0, Duration::ZERO)));
    drop(every);
    let (rate, after) = node.execute_next().await.unwrap();
    assert!(rate == 20.0 && after < PROMISE, "{rate} Hz after {after:?}");
    drop(slow);
    let (rate, after) = node.execute_next().await.unwrap();
    assert!(rate == 1.0 && after < PROMISE, "{rate} Hz after {after:?}");
    assert_eq!(node.next_command().await, None);
    let journal = dac.commands.journal();
    assert!(journal.iter().all(|entry| entry.who == "demand" && entry.outcome == "done"), "{journal:?}");
}

#[tokio::test(start_paused = true)]
async fn reloading_a_page_changes_no_rate() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    let page = read(&dac, Delivery::Every);
    node.execute_next().await.unwrap();
    drop(page);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let _page = read(&dac, Delivery::Every);
    assert_eq!(node.next_command().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_node_without_demand_receives_no_command() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, None);
    let _page = read(&dac, Delivery::Every);
    assert_eq!((node.next_command().await, beat(&dac).demand.state()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_reconnects_receives_the_rate_that_readers_ask_for_now() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    node.session.close(Nanos(0));
    let page = read(&dac, Delivery::Every);
    assert_eq!(node.next_command().await, None);
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    assert_eq!(node.execute_next().await, Some((100.0, Duration::ZERO)));
    node.session.close(Nanos(0));
    // A new run of its process begins with its configured rate.
    let mut node = Peer::connect(&dac, 2, Some(range(1.0, 50.0)));
    assert_eq!(node.execute_next().await, Some((50.0, Duration::ZERO)));
    drop(page);
    assert_eq!(node.execute_next().await.unwrap().0, 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_command_is_repeated_after_a_timeout_but_not_after_a_refusal() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    let _page = read(&dac, Delivery::Every);
    let start = Instant::now();
    node.next_command().await.unwrap();
    let (id, rate) = node.next_command().await.unwrap();
    assert!(rate == 100.0 && start.elapsed() >= Duration::from_secs(5), "{:?}", start.elapsed());
    node.send_message(&NodeMessage::Result {
        id,
        outcome: Outcome::Failed(Failure::new("not_periodic", "no")),
    });
    assert_eq!(node.next_command().await, None);
}

#[tokio::test(start_paused = true)]
async fn setting_a_rate_ends_demand_until_it_is_enabled_again() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    let page = read(&dac, Delivery::Every);
    node.execute_next().await.unwrap();
    let (set, obeyed) = tokio::join!(wish(&dac, Command::Hertz { hertz: hertz(7.0) }), node.execute_next());
    assert_eq!((set.unwrap().hertz, obeyed.unwrap().0), (Some(hertz(7.0)), 7.0));
    drop(page);
    assert_eq!((node.next_command().await, beat(&dac).demand.state()), (None, None));
    wish(&dac, Command::Demand(range(2.0, 50.0))).await.unwrap();
    assert_eq!(node.execute_next().await.unwrap().0, 2.0);
    wish(&dac, Command::DemandOff).await.unwrap();
    let _page = read(&dac, Delivery::Every);
    assert_eq!(node.next_command().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_could_not_be_set_leaves_demand_as_it_was() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    node.session.close(Nanos(0));
    assert_eq!(wish(&dac, Command::Hertz { hertz: hertz(7.0) }).await.unwrap_err().code(), "node_offline");
    assert_eq!(beat(&dac).demand.state().unwrap().range, range(1.0, 100.0));
}

#[tokio::test(start_paused = true)]
async fn no_command_is_sent_before_a_node_knows_its_topics() {
    let dac = Dac::new(Config::default());
    let mut old = Peer::connect(&dac, 1, Some(range(1.0, 100.0)));
    old.session.close(Nanos(0));
    let (outbound, mut commands) = mpsc::channel(8);
    let mut session = NodeSession::new(dac.clone(), outbound);
    let node = NodeIdentity {
        name: "plant".into(),
        uuid: Uuid::nil(),
        run: Uuid::from_u128(1),
        host: "host".into(),
        software: "test".into(),
        pid: 1,
    };
    let hello = serde_json::to_vec(&NodeMessage::Hello {
        protocol: PROTOCOL,
        node,
        secret: None,
        attach: None,
        drains: false,
    })
    .unwrap();
    session.handle(Frame::Control(&hello), Nanos(0), &mut Vec::new()).unwrap();
    let _page = read(&dac, Delivery::Every);
    assert!(timeout(TEST_TIMEOUT, commands.recv()).await.is_err());
}
