//! Settings that are kept: sent to each new run of a node, shown with their sources, and taken back.

use oasis_channel::{
    DacMessage, Declared, Failure, InstanceState, NodeIdentity, NodeMessage, Outcome, PROTOCOL,
    RegisteredInstance, frame::Frame,
};
use oasis_dac::{
    Author, CommandError, Config, Dac, NamedRequest,
    session::NodeSession,
    settings::{KeptCondition, SettingState, SettingValue},
};
use oasis_wire::{
    command::{Command, SettingName},
    probe_kind::ProbeKind,
    quantity::{Hertz, Nanos},
    schema::ProbeType,
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

const TARGET: (&str, &str) = ("plant", "oven");

/// A node with an oven on change, at 1 Hz, whose program has declared a deadband of 0.5 for its temperature.
struct Peer {
    session: NodeSession,
    commands: mpsc::Receiver<DacMessage>,
    state: InstanceState,
}

impl Peer {
    fn connect(dac: &Arc<Dac>, run: u128) -> Self {
        Self::reporting(dac, run, true)
    }

    /// One of an earlier version does not report what its program has declared.
    fn reporting(dac: &Arc<Dac>, run: u128, reports: bool) -> Self {
        let (outbound, commands) = mpsc::channel(8);
        let hertz = Hertz::new(1.0).ok();
        let state = InstanceState { hertz, enabled: true, recorder: None };
        let mut peer = Self { session: NodeSession::new(dac.clone(), outbound), commands, state };
        let node = NodeIdentity {
            name: TARGET.0.into(),
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
        let oven: ProbeType =
            serde_json::from_value(serde_json::json!({"name": "Oven", "uuid": Uuid::nil(), "version": "1.0",
            "metrics": [{"name": "temperature", "type": "real64", "unit": "K"}]}))
            .unwrap();
        let deadbands = BTreeMap::from([("temperature".to_owned(), 0.5)]);
        let instance = RegisteredInstance {
            name: TARGET.1.into(),
            probe_type: oven.uuid,
            kind: ProbeKind::OnChange,
            demand: None,
            declared: reports.then_some(Declared { hertz, enabled: true, deadbands }),
            state,
        };
        peer.send_message(&NodeMessage::Register { types: vec![oven], instances: vec![instance] });
        peer
    }

    fn send_message(&mut self, message: &NodeMessage) {
        let json = serde_json::to_vec(message).unwrap();
        self.session.handle(Frame::Control(&json), Nanos(0), &mut Vec::new()).unwrap();
    }

    /// Executes the next command, or refuses it. Returns it.
    async fn answer(&mut self, refusal: Option<Failure>) -> Command {
        let Some(DacMessage::Command { id, command, .. }) = self.commands.recv().await else {
            panic!("no command")
        };
        match &command {
            Command::Hertz { hertz } => self.state.hertz = Some(*hertz),
            Command::Enable => self.state.enabled = true,
            Command::Disable => self.state.enabled = false,
            _ => {}
        }
        let outcome = refusal.map_or(Outcome::Done(self.state), Outcome::Failed);
        self.send_message(&NodeMessage::Result { id, outcome });
        command
    }

    async fn execute_next(&mut self) -> Command {
        self.answer(None).await
    }

    fn leave(mut self) {
        self.session.close(Nanos(0));
    }
}

async fn give(
    dac: &Dac,
    node: &mut Peer,
    request: Command,
    keep: bool,
) -> Result<InstanceState, CommandError> {
    let request = NamedRequest { keep, ..request.into() };
    let author = Author { who: "person:ada http 127.0.0.1:1", name: "person:ada" };
    let execute = dac.commands.execute(&dac.registry, TARGET, request, author, Nanos(7));
    tokio::join!(execute, node.execute_next()).0
}

fn hertz(hertz: f64) -> Command {
    Command::Hertz { hertz: Hertz::new(hertz).unwrap() }
}

fn deadband(deadband: f64) -> Command {
    Command::Deadband { metric: "temperature".into(), deadband: Some(deadband) }
}

fn states(dac: &Dac) -> Vec<SettingState> {
    let oven = dac.registry.find(TARGET.0, TARGET.1).unwrap();
    dac.registry.shown(&oven).settings
}

/// Waits until the states are such.
async fn until(dac: &Dac, are: impl Fn(&[SettingState]) -> bool) -> Vec<SettingState> {
    let mut changes = dac.registry.watch();
    loop {
        let now = states(dac);
        if are(&now) {
            return now;
        }
        changes.changed().await.unwrap();
    }
}

fn conditions(states: &[SettingState]) -> Vec<Option<KeptCondition>> {
    states.iter().map(|state| state.kept.as_ref().map(|kept| kept.state)).collect()
}

#[tokio::test]
async fn a_new_run_gets_what_is_kept_and_a_reset_returns_to_the_program() {
    let dac = Dac::new(Config::default());
    let mut first = Peer::connect(&dac, 1);
    assert_eq!(states(&dac), []);
    give(&dac, &mut first, hertz(5.0), true).await.unwrap();
    give(&dac, &mut first, deadband(2.0), true).await.unwrap();
    give(&dac, &mut first, Command::Disable, false).await.unwrap();
    let shown = states(&dac);
    assert_eq!(conditions(&shown), [Some(KeptCondition::Applied), None, Some(KeptCondition::Applied)]);
    let kept = shown[0].kept.as_ref().unwrap();
    assert_eq!((&*kept.by, kept.at), ("person:ada", Nanos(7)), "without door and address");
    assert_eq!(shown[1].program, Some(SettingValue::Enabled(true)));
    assert_eq!(shown[2].program, Some(SettingValue::Deadband(Some(0.5))));

    first.leave();
    let mut second = Peer::connect(&dac, 2);
    assert_eq!(conditions(&states(&dac)), [Some(KeptCondition::Waiting), Some(KeptCondition::Waiting)]);
    let got = [second.execute_next().await, second.execute_next().await];
    assert_eq!(got[0], Command::Hertz { hertz: Hertz::new(5.0).unwrap() });
    assert_eq!(got[1], Command::Deadband { metric: "temperature".into(), deadband: Some(2.0) });
    until(&dac, |states| conditions(states) == [Some(KeptCondition::Applied); 2]).await;

    let name = SettingName::Deadband("temperature".into());
    give(&dac, &mut second, Command::Reset { setting: Some(name) }, false).await.unwrap();
    assert_eq!(conditions(&states(&dac)), [Some(KeptCondition::Applied)], "only the rate is kept now");
    let state = give(&dac, &mut second, Command::Reset { setting: None }, false).await.unwrap();
    assert_eq!(state.hertz.map(Hertz::get), Some(1.0));
    assert_eq!(states(&dac), []);
    assert!(dac.settings.all().is_empty());
}

#[tokio::test]
async fn a_setting_that_the_node_refuses_is_shown_and_tried_again_with_its_next_run() {
    let dac = Dac::new(Config::default());
    let mut first = Peer::connect(&dac, 1);
    give(&dac, &mut first, hertz(5.0), true).await.unwrap();
    first.leave();
    let mut second = Peer::connect(&dac, 2);
    second.answer(Some(Failure::new("no_rate", "this program has no rates"))).await;
    let shown = until(&dac, |states| conditions(states) == [Some(KeptCondition::Refused)]).await;
    assert_eq!(shown[0].kept.as_ref().unwrap().problem.as_deref(), Some("this program has no rates"));
    second.leave();
    let mut third = Peer::connect(&dac, 3);
    third.execute_next().await;
    until(&dac, |states| conditions(states) == [Some(KeptCondition::Applied)]).await;
}

#[tokio::test]
async fn a_node_that_does_not_report_its_program_begins_each_run_with_it() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::reporting(&dac, 1, false);
    give(&dac, &mut node, hertz(5.0), true).await.unwrap();
    give(&dac, &mut node, deadband(2.0), true).await.unwrap();
    let shown = states(&dac);
    let rate = Some(SettingValue::Hertz(Hertz::new(1.0).unwrap()));
    assert_eq!((shown[0].program, shown[1].program), (rate, None), "nobody knows its deadbands");
    give(&dac, &mut node, Command::Reset { setting: None }, false).await.unwrap();
    assert_eq!(states(&dac), []);
}

#[tokio::test]
async fn a_command_that_sets_nothing_or_fails_is_not_kept() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1);
    let request = NamedRequest { keep: true, ..Command::SampleNow.into() };
    let refused = dac.commands.execute(&dac.registry, TARGET, request, "test", Nanos(0)).await;
    assert!(matches!(refused, Err(CommandError::Refused(failure)) if failure.code == "not_a_setting"));
    let request = NamedRequest { keep: true, ..hertz(5.0).into() };
    let execute = dac.commands.execute(&dac.registry, TARGET, request.clone(), "test", Nanos(0));
    let (refused, _) = tokio::join!(execute, node.answer(Some(Failure::new("no", "no"))));
    assert!(matches!(refused, Err(CommandError::Refused(_))));
    node.leave();
    let offline = dac.commands.execute(&dac.registry, TARGET, request, "test", Nanos(0)).await;
    assert!(matches!(offline, Err(CommandError::NodeOffline(_))));
    assert!(dac.settings.all().is_empty());
}

#[tokio::test]
async fn what_is_kept_of_a_node_that_is_away_can_be_reset_and_forgotten() {
    let dac = Dac::new(Config::default());
    let mut node = Peer::connect(&dac, 1);
    give(&dac, &mut node, hertz(5.0), true).await.unwrap();
    node.leave();
    let reset = Command::Reset { setting: None };
    dac.commands.execute(&dac.registry, TARGET, reset.clone(), "test", Nanos(0)).await.unwrap();
    assert!(dac.settings.all().is_empty());
    dac.registry.forget(TARGET.0, None).unwrap();
    let unknown = dac.commands.execute(&dac.registry, TARGET, reset, "test", Nanos(0)).await;
    assert!(matches!(unknown, Err(CommandError::UnknownInstance { .. })));
}
