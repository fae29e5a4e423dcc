//! A DAC with instances of two nodes, and a token for each principal.

use crate::people::{Answer, PEOPLE, Person};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{Request, Response, StatusCode, header},
};
use oasis_access::{Moment, Name, NewToken, Rule};
use oasis_api::Api;
use oasis_channel::ProbeKind;
use oasis_dac::{Config, Dac, StoredInstance};
use oasis_doors::{Doors, DoorsConfig, ShardChoice, permissions::Permissions};
use oasis_handler::Supervisor;
use oasis_wire::schema::ProbeType;
use serde_json::Value;
use std::{collections::HashMap, net::SocketAddr, sync::Arc};
use tower_service::Service;

/// The instances.
pub const INSTANCES: [(&str, &str); 3] = [("plant-7", "pump"), ("plant-7", "valve"), ("mill", "pump")];
/// The same, and some that do not exist.
pub const NAMES: [(&str, &str); 5] =
    [("plant-7", "pump"), ("plant-7", "valve"), ("mill", "pump"), ("plant-7", "none"), ("nowhere", "pump")];

pub struct World {
    pub doors: Doors,
    pub api: Api,
    router: Router,
    tokens: HashMap<&'static str, String>,
}

impl World {
    pub fn new() -> Self {
        Self::with(Permissions::in_memory())
    }

    /// With these accounts, and those of the principals.
    pub fn with(permissions: Permissions) -> Self {
        let dac = Dac::new(Config::default());
        let schema = r#"{"name": "X", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
        let probe_type: Arc<ProbeType> = Arc::new(serde_json::from_str(schema).unwrap());
        let stored = |(node, instance): (&str, &str)| StoredInstance {
            node: node.into(),
            instance: instance.into(),
            probe_type: probe_type.clone(),
            kind: ProbeKind::Periodic,
            run: Default::default(),
            runs: Vec::new(),
            last_time: 0,
        };
        dac.registry.restore(&[], INSTANCES.map(stored).into());
        let config = DoorsConfig { shards: ShardChoice::Fixed(1), flush_ms: 0, ..DoorsConfig::default() };
        let doors = Doors::with_permissions(dac.clone(), config, None, permissions).unwrap();
        let handlers = Arc::new(Supervisor::new(dac, None, Vec::new()));
        let api = Api::new(doors.clone(), handlers).unwrap();
        let tokens = PEOPLE.iter().filter(|person| !["local", "stranger"].contains(&person.name));
        let tokens = tokens.map(|person| (person.name, token(&doors, person))).collect();
        Self { router: api.clone().router(), doors, api, tokens }
    }

    /// Returns a header for who it is, and the address that it comes from.
    pub fn identity(&self, person: &Person) -> (Option<String>, SocketAddr) {
        let here = ([127, 0, 0, 1], 9).into();
        match person.name {
            "local" => (None, here),
            "stranger" => (None, ([10, 1, 2, 3], 9).into()),
            name => (Some(format!("Bearer {}", self.tokens[name])), here),
        }
    }

    pub async fn ask(&self, person: &Person, method: &str, uri: &str, body: &str) -> Response<Body> {
        let (authorization, peer) = self.identity(person);
        let mut request = Request::builder().method(method).uri(uri).extension(ConnectInfo(peer));
        request = request.header(header::HOST, "127.0.0.1:7070");
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        self.call(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub async fn call(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().call(request).await.unwrap()
    }

    /// The document of an answer.
    pub async fn get(&self, person: &Person, uri: &str) -> Value {
        json(self.ask(person, "GET", uri, "").await).await
    }
}

pub async fn json(response: Response<Body>) -> Value {
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// What an answer says of permissions.
pub async fn verdict(response: Response<Body>) -> Answer {
    let status = response.status();
    if !status.is_client_error() {
        return Answer::Allowed;
    }
    let problem = json(response).await;
    match (status, problem["type"].as_str().unwrap_or_default()) {
        (StatusCode::UNAUTHORIZED, "/problems/sign_in_required") => Answer::SignIn,
        (StatusCode::FORBIDDEN, "/problems/forbidden") => Answer::Forbidden,
        (StatusCode::NOT_FOUND, "/problems/unknown_instance") => Answer::Unknown,
        _ => Answer::Allowed,
    }
}

/// A token of a role with the rules of this principal; those with a built-in role have that.
fn token(doors: &Doors, person: &Person) -> String {
    let name: Name = person.name.parse().unwrap();
    let rules: Vec<Rule> = person.rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let is_custom = !["viewer", "operator", "admin"].contains(&person.name) && !rules.is_empty();
    let roles = if rules.is_empty() { Default::default() } else { [name.clone()].into() };
    let made = doors.permissions.access.change(|accounts| {
        if is_custom {
            accounts.set_role(name.clone(), rules)?;
        }
        let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
        accounts.create_token(new, Moment::now().wall)
    });
    made.unwrap().1.reveal().to_owned()
}
