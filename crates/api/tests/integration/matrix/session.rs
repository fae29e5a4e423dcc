//! Sign-in, the session's cookie and its CSRF token, and what the audit log keeps.

use super::world::{World, json};
use axum::{
    body::Body,
    extract::ConnectInfo,
    http::{HeaderMap, Method, Request, Response, StatusCode, header},
};
use oasis_access::{
    Access, AccessConfig, AuditLimits, AuditLog, HashCost, Moment, NewToken, Record, StoredPassword,
    read_records,
};
use oasis_http::permissions::Permissions;
use serde_json::{Value, json};
use std::{net::SocketAddr, ops::ControlFlow};

const PASSWORD: &str = "correct horse battery";
const HOST: &str = "dac.example:7070";

/// A world in which `ada` is an operator and `eve` a viewer, with an audit log.
pub struct Signed {
    pub world: World,
    folder: tempfile::TempDir,
}

impl Signed {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(&folder.path().join("access"), &AccessConfig::default()).unwrap();
        let cost = HashCost { memory_kib: 8, passes: 1 };
        for (name, role) in [("ada", "operator"), ("eve", "viewer")] {
            let password = StoredPassword::new(name, PASSWORD, cost).unwrap();
            let role = role.parse().unwrap();
            let add = |accounts: &mut oasis_access::Document| {
                accounts.add_user(name.parse().unwrap(), Some(password), [role].into(), Moment::now().wall)
            };
            access.change(add).unwrap();
        }
        let audit = AuditLog::open(&folder.path().join("audit"), AuditLimits::default()).unwrap();
        Self { world: World::with(Permissions::open(access, Some(audit)).unwrap()), folder }
    }

    /// Sends a request from another host.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Response<Body> {
        let peer = ConnectInfo(SocketAddr::from(([10, 1, 2, 3], 9)));
        let mut request =
            Request::builder().method(method).uri(path).extension(peer).header(header::HOST, HOST);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.world.call(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub async fn sign_in(&self, name: &str) -> (String, String) {
        let body = json!({"name": name, "password": PASSWORD});
        let answer = self.send(Method::POST, "/api/v1/session", &[], body).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let cookie = cookie_of(answer.headers()).to_owned();
        assert!(cookie.starts_with("oasis-session-7070="), "{cookie}");
        let session = json(answer).await;
        (cookie, session["csrf_token"].as_str().unwrap().to_owned())
    }

    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let keep = |record| {
            records.push(record);
            ControlFlow::Continue(())
        };
        read_records(&self.folder.path().join("audit"), keep).unwrap();
        records
    }
}

/// The pair of a cookie that is set.
fn cookie_of(headers: &HeaderMap) -> &str {
    let cookie = headers[header::SET_COOKIE].to_str().unwrap();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    cookie.split(';').next().unwrap()
}

pub async fn code(answer: Response<Body>) -> (u16, String) {
    let status = answer.status().as_u16();
    (status, json(answer).await["type"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_person_signs_in_acts_and_signs_out() {
    let signed = Signed::new();
    let (cookie, csrf) = signed.sign_in("ada").await;
    let with_cookie = [("cookie", cookie.as_str())];
    let with_both = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    let who = json(signed.send(Method::GET, "/api/v1/session", &with_cookie, Value::Null).await).await;
    assert_eq!(
        (&who["kind"], &who["name"], &who["roles"]),
        (&json!("person"), &json!("ada"), &json!(["operator"]))
    );
    assert!(who["verbs"].as_array().unwrap().contains(&json!("command:hertz")), "{who}");

    let command = json!({"node": "plant-7", "instance": "pump", "command": "demand", "min": 1, "max": 2});
    let send = async |headers: &[(&str, &str)]| {
        code(signed.send(Method::POST, "/api/v1/commands", headers, command.clone()).await).await
    };
    assert_eq!(send(&[]).await, (401, "/problems/sign_in_required".into()));
    assert_eq!(send(&with_cookie).await, (403, "/problems/csrf".into()));
    assert_eq!(send(&[with_cookie[0], ("x-csrf-token", "x")]).await, (403, "/problems/csrf".into()));
    assert_eq!(send(&with_both).await, (200, String::new()));
    // A page that was loaded again gets another token, and only that one counts.
    let renewed = signed.send(Method::POST, "/api/v1/session/csrf", &with_cookie, Value::Null).await;
    let renewed = json(renewed).await["csrf_token"].as_str().unwrap().to_owned();
    assert_eq!(send(&with_both).await, (403, "/problems/csrf".into()));
    let with_both = [with_cookie[0], ("x-csrf-token", renewed.as_str())];
    assert_eq!(send(&with_both).await, (200, String::new()));

    let left = signed.send(Method::DELETE, "/api/v1/session", &with_both, Value::Null).await;
    assert_eq!(left.status(), StatusCode::NO_CONTENT);
    // The cookie is worth nothing now, and the answer removes it.
    let after = signed.send(Method::GET, "/api/v1/nodes", &with_cookie, Value::Null).await;
    assert!(after.headers()[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(code(after).await, (401, "/problems/session_ended".into()));
}

#[tokio::test]
async fn another_sign_in_ends_the_session_before() {
    let signed = Signed::new();
    let (before, _) = signed.sign_in("ada").await;
    let credentials = json!({"name": "ada", "password": PASSWORD});
    let headers = [("cookie", before.as_str())];
    let answer = signed.send(Method::POST, "/api/v1/session", &headers, credentials).await;
    let after = cookie_of(answer.headers()).to_owned();
    let read = async |cookie: &str| {
        code(signed.send(Method::GET, "/api/v1/nodes", &[("cookie", cookie)], Value::Null).await).await
    };
    assert_eq!(read(&before).await, (401, "/problems/session_ended".into()));
    assert_eq!(read(&after).await.0, 200);
}

#[tokio::test]
async fn what_was_done_and_refused_is_in_the_audit_log() {
    let signed = Signed::new();
    let wrong = json!({"name": "ada", "password": "wrong"});
    let refused = code(signed.send(Method::POST, "/api/v1/session", &[], wrong).await).await;
    assert_eq!(refused, (401, "/problems/wrong_password".into()));
    let (ada, csrf) = signed.sign_in("ada").await;
    let ada = [("cookie", ada.as_str()), ("x-csrf-token", csrf.as_str())];
    let hertz = json!({"node": "plant-7", "instance": "pump", "command": "hertz", "hertz": 5});
    signed.send(Method::POST, "/api/v1/commands", &ada, hertz.clone()).await;
    signed.send(Method::PUT, "/api/v1/layouts/night", &ada, json!({"panels": []})).await;
    let valve = vec!["command plant-7/valve".parse().unwrap()];
    let name: oasis_access::Name = "valve".parse().unwrap();
    let roles = ["viewer".parse().unwrap(), name.clone()].into();
    let program = signed.world.doors.permissions.access.change(|accounts| {
        accounts.set_role(name.clone(), valve)?;
        let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
        accounts.create_token(new, Moment::now().wall)
    });
    let program = format!("Bearer {}", program.unwrap().1.reveal());
    signed.send(Method::POST, "/api/v1/commands", &[("authorization", &program)], hertz).await;
    let told: Vec<_> = signed
        .records()
        .into_iter()
        .map(|record| (record.principal, record.action, record.target, record.result, record.of.is_some()))
        .collect();
    let expected = [
        ("stranger", "sign-in", "", "user name or password is wrong", false),
        ("person:ada", "sign-in", "", "done", false),
        ("person:ada", "command:hertz", "plant-7/pump", "begun", false),
        ("person:ada", "command:hertz", "plant-7/pump", "failed: node \"plant-7\" is not connected", true),
        ("person:ada", "layout:save", "night", "begun", false),
        ("person:ada", "layout:save", "night", "done", true),
        ("program:valve", "command:hertz", "plant-7/pump", "forbidden", false),
    ];
    let expected = expected.map(|(who, what, on, result, is_end)| {
        (who.to_owned(), what.to_owned(), on.to_owned(), result.to_owned(), is_end)
    });
    assert_eq!(told, expected);
}
