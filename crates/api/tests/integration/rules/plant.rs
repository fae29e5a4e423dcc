//! A DAC with an archive, an engine's state, two nodes with a pump each, and principals.

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{Request, header},
};
use oasis_access::{Moment, NewToken, Rule};
use oasis_api::Api;
use oasis_archive::Archive;
use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Config, Dac, now, session::NodeSession};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_handler::Supervisor;
use oasis_http::permissions::Permissions;
use oasis_rules::RulesState;
use oasis_store::ArchiveConfig;
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    schema::ProbeType,
    value::RowWriter,
};
use serde_json::Value;
use std::{net::SocketAddr, sync::Arc};
use tempfile::TempDir;
use tower_service::Service;
use uuid::Uuid;

/// Nanoseconds from one sample to the next.
pub const STEP: u64 = 1_000_000_000;

pub fn pump() -> ProbeType {
    let json = r#"{"name": "Plant::Pump", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "temperature", "type": "real64", "unit": "Cel"}]}"#;
    serde_json::from_str(json).unwrap()
}

pub struct Plant {
    pub folder: TempDir,
    pub state: Arc<RulesState>,
    doors: Doors,
    router: Router,
    archive: Arc<Archive>,
    sessions: Vec<NodeSession>,
    _handlers: Arc<Supervisor>,
}

impl Plant {
    /// Starts a plant whose nodes `a` and `b` have sent five samples each: 91, 92, ... degrees. The first three are
    /// stored.
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("samples").display().to_string();
        let config = ArchiveConfig {
            directory,
            min_free_bytes: 0,
            plausible_past_days: 0,
            ..ArchiveConfig::default()
        };
        let archive = Arc::new(Archive::new(oasis_store::open(config).unwrap()));
        let dac = Dac::new(Config::default());
        let handlers = Arc::new(Supervisor::new(dac.clone(), None, vec![archive.clone()]));
        handlers.start("archive").unwrap();
        let config = DoorsConfig {
            shards: ShardChoice::Fixed(1),
            rate_limit: 0,
            rate_limit_expensive: 0,
            ..DoorsConfig::default()
        };
        let doors =
            Doors::with_permissions(dac.clone(), config, Some(archive.clone()), Permissions::in_memory())
                .unwrap();
        let state = Arc::new(RulesState::new(Some(folder.path().join("files")), true));
        let api = Api::new(doors.clone(), handlers.clone()).unwrap().with_rules(Some(state.clone()));
        let sessions = ["a", "b"].map(|name| connect(&dac, name)).into();
        let mut plant =
            Self { folder, state, doors, router: api.router(), archive, sessions, _handlers: handlers };
        plant.send(1, 3);
        plant.archive.flush().await.unwrap();
        plant.send(4, 2);
        plant
    }

    /// Both nodes send these samples.
    pub fn send(&mut self, first: u64, count: u64) {
        for (session, topic) in self.sessions.iter_mut().zip(0..) {
            let topic = self.doors.dac.registry.instances()[topic].topic.0;
            session.handle(Frame::Batch(&batch(topic, first, count)), now(), &mut Vec::new()).unwrap();
        }
    }

    /// A token of a principal with these rules.
    pub fn token(&self, name: &str, rules: &[&str]) -> String {
        let access = &self.doors.permissions.access;
        let rules: Vec<Rule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        access.change(|accounts| accounts.set_role(name.parse().unwrap(), rules)).unwrap();
        let (name, roles) = (name.parse().unwrap(), [name.parse().unwrap()].into());
        let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
        let made = access.change(|accounts| accounts.create_token(new, Moment::now().wall));
        made.unwrap().1.reveal().to_owned()
    }

    /// Status and document of an answer; without a token of the administrator of this host.
    pub async fn request(&self, token: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let peer: SocketAddr = ([127, 0, 0, 1], 9).into();
        let mut request = Request::builder().method(method).uri(path).extension(ConnectInfo(peer));
        request = request.header(header::HOST, "127.0.0.1:7070");
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let response = self.router.clone().call(request.body(Body::from(body)).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 64 << 20).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

fn connect(dac: &Arc<Dac>, name: &str) -> NodeSession {
    let mut session = NodeSession::new(dac.clone(), tokio::sync::mpsc::channel(1).0);
    let run = Uuid::from_u128(u128::from(name.as_bytes()[0]));
    let (host, software) = ("h".into(), "test".into());
    let node = NodeIdentity { name: name.into(), uuid: Uuid::nil(), run, host, software, pid: 1 };
    let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false };
    let instance = RegisteredInstance {
        demand: None,
        declared: None,
        name: "pump".into(),
        probe_type: pump().uuid,
        kind: ProbeKind::Pushed,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    for message in [hello, NodeMessage::Register { types: vec![pump()], instances: vec![instance] }] {
        let json = serde_json::to_vec(&message).unwrap();
        session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
    }
    session
}

fn batch(topic: u32, first: u64, count: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(&pump()).unwrap();
    for number in first..first + count {
        let mut row = Vec::new();
        RowWriter::new(&mut row).f64(90.0 + (number % 7) as f64);
        encoder.push(number * STEP, &row).unwrap();
    }
    let mut batch = Vec::new();
    encoder.finish(Fields { topic, first_sequence: first, node_time: 7, ..Fields::default() }, &mut batch);
    batch
}
