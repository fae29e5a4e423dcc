//! A DAC with instances of two nodes, and a token for each principal.

use super::people::{Answer, Credentials, PEOPLE, Person};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{Request, Response, StatusCode, header},
};
use oasis_access::{Moment, Name, NewToken, Rule};
use oasis_alarms::{Alarms, Limits};
use oasis_api::Api;
use oasis_archive::Archive;
use oasis_dac::{Config, Dac};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_handler::Supervisor;
use oasis_http::permissions::Permissions;
use oasis_store::ArchiveConfig;
use oasis_wire::{probe_kind::ProbeKind, quantity::Nanos, schema::ProbeType, stored::StoredInstance};
use serde_json::Value;
use std::{collections::HashMap, net::SocketAddr, path::Path, sync::Arc};
use tempfile::TempDir;
use tower_service::Service;

/// The instances.
pub const INSTANCES: [(&str, &str); 3] = [("plant-7", "pump"), ("plant-7", "valve"), ("mill", "pump")];
/// The same, and some that do not exist.
pub const NAMES: [(&str, &str); 5] =
    [("plant-7", "pump"), ("plant-7", "valve"), ("mill", "pump"), ("plant-7", "none"), ("nowhere", "pump")];

pub struct World {
    pub doors: Doors,
    pub api: Api,
    /// An alarm for each instance: see [`super::alarms`].
    pub alarms: Arc<Alarms>,
    _directory: TempDir,
    router: Router,
    headers: HashMap<&'static str, Headers>,
}

/// Credentials of a principal: names of headers and values. The name of a cookie contains the port.
type Headers = Vec<(&'static str, String)>;

const PORT: u16 = 7070;

impl World {
    pub fn new() -> Self {
        Self::with(Permissions::in_memory())
    }

    /// With these accounts, and those of the principals.
    pub fn with(permissions: Permissions) -> Self {
        Self::build(permissions, |_| None)
    }

    /// With an archive, which has no samples.
    pub fn archived() -> Self {
        Self::build(Permissions::in_memory(), |folder| {
            let directory = folder.join("archive").display().to_string();
            let store = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap();
            Some(Arc::new(Archive::new(store)))
        })
    }

    fn build(permissions: Permissions, archive: impl FnOnce(&Path) -> Option<Arc<Archive>>) -> Self {
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
        // No limit of requests: the tests send thousands.
        let config = DoorsConfig {
            shards: ShardChoice::Fixed(1),
            flush_ms: 0,
            rate_limit: 0,
            rate_limit_expensive: 0,
            ..DoorsConfig::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let archive = archive(directory.path());
        let doors = Doors::with_permissions(dac.clone(), config, archive, permissions).unwrap();
        let handlers = Arc::new(Supervisor::new(dac, None, Vec::new()));
        let alarms = Arc::new(Alarms::open(directory.path(), Limits::default()).unwrap());
        let api = Api::new(doors.clone(), handlers).unwrap().with_alarms(Some(alarms.clone()));
        let headers = PEOPLE.iter().map(|person| (person.name, headers(&doors, person))).collect();
        Self { router: api.clone().router(), doors, api, alarms, _directory: directory, headers }
    }

    /// Returns the headers for who it is, at this port of the DAC, and the address that it comes from.
    pub fn identity(&self, person: &Person, port: u16) -> (Headers, SocketAddr) {
        let from: [u8; 4] = if person.shows == Credentials::Nothing { [10, 1, 2, 3] } else { [127, 0, 0, 1] };
        let mut headers = self.headers[person.name].clone();
        for (_, value) in headers.iter_mut().filter(|(name, _)| *name == "cookie") {
            *value = format!("oasis-session-{port}={value}");
        }
        (headers, (from, 9).into())
    }

    pub async fn request(&self, person: &Person, method: &str, uri: &str, body: &str) -> Response<Body> {
        let (headers, peer) = self.identity(person, PORT);
        let mut request = Request::builder().method(method).uri(uri).extension(ConnectInfo(peer));
        request = request.header(header::HOST, format!("127.0.0.1:{PORT}"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.call(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub async fn call(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().call(request).await.unwrap()
    }

    /// The document of an answer.
    pub async fn get(&self, person: &Person, uri: &str) -> Value {
        json(self.request(person, "GET", uri, "").await).await
    }
}

pub async fn json(response: Response<Body>) -> Value {
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// Returns the statement of an answer about permissions.
pub async fn verdict(response: Response<Body>) -> Answer {
    let status = response.status();
    if !status.is_client_error() {
        return Answer::Allowed;
    }
    let problem = json(response).await;
    match (status, problem["type"].as_str().unwrap_or_default()) {
        (StatusCode::UNAUTHORIZED, "/problems/bad_token" | "/problems/session_ended") => Answer::Ended,
        (StatusCode::FORBIDDEN, "/problems/csrf") => Answer::Csrf,
        (StatusCode::UNAUTHORIZED, "/problems/sign_in_required") => Answer::SignIn,
        (StatusCode::FORBIDDEN, "/problems/forbidden") => Answer::Forbidden,
        (StatusCode::NOT_FOUND, "/problems/unknown_instance") => Answer::Unknown,
        _ => Answer::Allowed,
    }
}

/// Makes what a principal shows.
fn headers(doors: &Doors, person: &Person) -> Headers {
    let bearer = |token: String| vec![("authorization", format!("Bearer {token}"))];
    match person.shows {
        Credentials::Local | Credentials::Nothing => Vec::new(),
        Credentials::Token => bearer(token(doors, person.name, own_role(doors, person), |_| {})),
        Credentials::Scoped { role, scope } => {
            bearer(token(doors, person.name, role, |new| new.scope = vec![scope.parse().unwrap()]))
        }
        Credentials::Embed { role } => bearer(token(doors, person.name, role, |new| new.embed = true)),
        Credentials::Expired { role } => {
            bearer(token(doors, person.name, role, |new| new.expires = Some(Nanos(1))))
        }
        Credentials::Revoked { role } => {
            let made = token(doors, person.name, role, |_| {});
            doors.permissions.access.change(|accounts| accounts.revoke_token(person.name)).unwrap();
            bearer(made)
        }
        Credentials::Session { role } => {
            let (cookie, csrf) = session(doors, person.name, role);
            vec![("cookie", cookie), ("x-csrf-token", csrf)]
        }
        Credentials::Cookie { role } => vec![("cookie", session(doors, person.name, role).0)],
        Credentials::SignedOut { role } => {
            let (cookie, csrf) = session(doors, person.name, role);
            assert!(doors.permissions.access.sign_out(&cookie));
            vec![("cookie", cookie), ("x-csrf-token", csrf)]
        }
    }
}

/// Makes a role with the rules of this principal, unless it is built in.
fn own_role(doors: &Doors, person: &Person) -> &'static str {
    if !["viewer", "operator", "admin"].contains(&person.name) {
        let rules: Vec<Rule> = person.rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let role: Name = person.name.parse().unwrap();
        doors.permissions.access.change(|accounts| accounts.set_role(role, rules)).unwrap();
    }
    person.name
}

fn token(doors: &Doors, name: &str, role: &str, adjust: impl FnOnce(&mut NewToken)) -> String {
    let (name, roles) = (name.parse().unwrap(), [role.parse().unwrap()].into());
    let mut new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
    adjust(&mut new);
    let made = doors.permissions.access.change(|accounts| accounts.create_token(new, Moment::now().wall));
    made.unwrap().1.reveal().to_owned()
}

/// The value of the cookie of a user who signs in, and the CSRF token.
fn session(doors: &Doors, name: &str, role: &str) -> (String, String) {
    let (user, roles): (Name, _) = (name.parse().unwrap(), [role.parse().unwrap()].into());
    let access = &doors.permissions.access;
    access.change(|accounts| accounts.add_user(user, None, roles, Moment::now().wall)).unwrap();
    let signed_in = access.start_session(name, Moment::now()).unwrap();
    (signed_in.cookie.reveal().to_owned(), signed_in.csrf_token.reveal().to_owned())
}
