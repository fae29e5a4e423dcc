//! Sign-in without an account: links and the token of a host, and tickets of WebSockets.

use crate::harness::{Oasis, eventually, oasis, open};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;
use tungstenite::{Error, client::IntoClientRequest, http::StatusCode};
use ureq::{Agent, http::Request};

const ORIGIN: &str = "https://ops.example.org";

/// A DAC that is closed to its host, and its folder.
struct Closed {
    folder: TempDir,
    dac: Oasis,
}

impl Closed {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("oasis.toml");
        fs::write(&config, format!("[doors]\nallowed_origins = [{ORIGIN:?}]\n")).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = oasis();
        // Secrets of a request would be seen here.
        command.env("OASIS_LOG", "trace");
        let access = folder.path().join("access");
        let arguments =
            ["--config", text(&config), "--access", text(&access), "--local", "token", "--own-node", "dac"];
        let dac = Oasis::dac_started_by(command, log, &arguments);
        Self { folder, dac }
    }

    fn access(&self) -> PathBuf {
        self.folder.path().join("access")
    }

    fn token_file(&self) -> PathBuf {
        let port = self.dac.listen().rsplit_once(':').unwrap().1;
        self.access().join(format!("host-{port}.token"))
    }

    /// Runs a command of a user who finds this folder of accounts.
    fn command(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command: Command = oasis();
        command.args(arguments).env("OASIS_URL", self.dac.http()).env("OASIS_ACCESS", folder);
        command.output().unwrap()
    }

    /// Returns the output of a command of the DAC's user.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.command(&self.access(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Status, cookie and document of an answer.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, String, Value) {
        self.send("POST", path, headers, &body.to_string())
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, Value) {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.dac.http()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let mut answer = agent.run(request.body(body.to_owned()).unwrap()).unwrap();
        let cookie = answer.headers().get("set-cookie").map(|cookie| cookie.to_str().unwrap().to_owned());
        let document = answer.body_mut().read_to_string().unwrap();
        (
            answer.status().as_u16(),
            cookie.unwrap_or_default(),
            serde_json::from_str(&document).unwrap_or_default(),
        )
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.said(&["audit-log", "show", "--format", "json"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the records of an action: principal and result.
    fn recorded(&self, action: &str) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let records = self.records().into_iter().filter(|record| record["action"] == action);
        records.map(|record| (text(&record["principal"]), text(&record["result"]))).collect()
    }

    /// The status with which a WebSocket opens.
    fn open(&self, ticket: &str, origin: Option<&str>, protocol: Option<&str>) -> StatusCode {
        let url = format!("{}?ticket={ticket}", self.dac.url());
        let mut request = url.into_client_request().unwrap();
        for (name, value) in [("Origin", origin), ("Sec-WebSocket-Protocol", protocol)] {
            if let Some(value) = value {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
        }
        let stream = std::net::TcpStream::connect(self.dac.listen()).unwrap();
        match tungstenite::client(request, stream) {
            Ok((_, answer)) => answer.status(),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => answer.status(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn code(link: &str) -> Value {
    json!({"code": link.trim().split_once("/#sign-in=").unwrap().1})
}

#[test]
fn a_closed_host_is_open_to_the_user_of_the_dac() {
    let closed = Closed::start();
    let instances = |headers: &[(&str, &str)]| closed.send("GET", "/api/v1/instances", headers, "").0;
    assert_eq!(instances(&[]), 401);
    // Commands of the same user need no flag; others cannot read the token.
    let file = closed.token_file();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    eventually("its own node", || closed.said(&["list"]).contains("dac/shards").then_some(()));
    closed.said(&["tail", "dac/shards", "--count", "1"]);
    closed.said(&["shards", "1"]);
    let elsewhere = tempfile::tempdir().unwrap();
    for command in [&["list"][..], &["tail", "--count", "1"], &["sign-in-link"]] {
        let refused = closed.command(elsewhere.path(), command);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success()
                && (said.contains("asks for a token")
                    || said.contains("401")
                    || said.contains("--local token")),
            "{command:?}: {said}"
        );
    }
    let token = fs::read_to_string(&file).unwrap();
    // No other principal makes links.
    assert_eq!(closed.post("/api/v1/sign-in-links", &[], &Value::Null).0, 403);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = closed.command(&closed.access(), &["list"]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("others can read"));
    let log = fs::read_to_string(closed.folder.path().join("log")).unwrap();
    assert!(!log.contains(token.trim()), "the token is in the log");
}

#[test]
fn a_link_signs_in_once() {
    let closed = Closed::start();
    let printed = closed.dac.sign_in_link().to_owned();
    let asked = closed.said(&["sign-in-link"]);
    for link in [printed.as_str(), asked.as_str()] {
        assert!(link.starts_with(&format!("{}/#sign-in=", closed.dac.http())), "{link}");
        let (status, cookie, session) = closed.post("/api/v1/session/link", &[], &code(link));
        assert_eq!((status, &session["kind"]), (200, &json!("local")), "{session}");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap();
        let csrf = session["csrf_token"].as_str().unwrap();
        let change = |headers: &[(&str, &str)]| {
            closed.send("PUT", "/api/v1/shards", headers, r#"{"shards": 1}"#).2["type"] == "/problems/csrf"
        };
        assert!(change(&[("cookie", cookie)]) && !change(&[("cookie", cookie), ("x-csrf-token", csrf)]));
        let (status, _, problem) = closed.post("/api/v1/session/link", &[], &code(link));
        assert_eq!((status, &problem["type"]), (401, &json!("/problems/bad_link")), "{problem}");
    }
    // Pages of other sites cannot make a browser sign in.
    let foreign = [("origin", "https://evil.example")];
    assert_eq!(closed.post("/api/v1/session/link", &foreign, &code(&closed.said(&["sign-in-link"]))).0, 403);
    let recorded = closed.recorded("sign-in:link");
    let done = ("local".to_owned(), "done".to_owned());
    assert_eq!(recorded.iter().filter(|record| **record == done).count(), 2, "{recorded:?}");
    assert_eq!(recorded.iter().filter(|record| record.0 == "stranger").count(), 2, "{recorded:?}");
}

#[test]
fn a_ticket_opens_one_websocket_of_its_origin() {
    let closed = Closed::start();
    let kiosk = closed.said(&["token", "create", "kiosk", "--role", "viewer", "--embed"]);
    let authorization = format!("Bearer {}", kiosk.trim());
    let ticket = |headers: &[(&str, &str)]| {
        let (status, _, answer) = closed.post("/api/v1/tickets", headers, &Value::Null);
        answer["ticket"].as_str().map(str::to_owned).ok_or((status, answer))
    };
    let authorized = ("authorization", authorization.as_str());
    assert_eq!(ticket(&[]).unwrap_err().0, 401);
    let program = eventually("the new token", || ticket(&[authorized]).ok());
    // A page of another site has the token of a page that is embedded: it gets no ticket.
    let refused = ticket(&[authorized, ("origin", "https://evil.example")]).unwrap_err();
    assert_eq!((refused.0, &refused.1["type"]), (403, &json!("/problems/origin")));
    let page = || ticket(&[authorized, ("origin", ORIGIN)]).unwrap();
    let native = Some("oasis.v1");
    assert_eq!(closed.open(&program, None, native), 101);
    assert_eq!(closed.open(&program, None, native), 401);
    let embedded = page();
    assert_eq!(closed.open(&embedded, Some(ORIGIN), native), 101);
    // Dead after use, in the hands of another page, and for a program.
    assert_eq!(closed.open(&embedded, Some(ORIGIN), native), 401);
    assert_eq!(closed.open(&page(), Some("https://evil.example"), native), 401);
    assert_eq!(closed.open(&page(), None, native), 401);
    // The protocol of 2012 asks for its own permission, which `viewer` has not.
    assert_eq!(closed.open(&page(), Some(ORIGIN), None), 403);
    closed.said(&["role", "set", "old", "--allow", "eisa", "--allow", "read"]);
    let old = closed.said(&["token", "create", "old", "--role", "old"]);
    let old = format!("Bearer {}", old.trim());
    let old_ticket = eventually("the new token", || ticket(&[("authorization", &old)]).ok());
    assert_eq!(closed.open(&old_ticket, None, None), 101);
    let recorded = closed.recorded("ticket");
    assert_eq!(recorded.len(), 4, "{recorded:?}");
    assert!(
        recorded.iter().all(|(who, result)| who == "stranger" && result.starts_with("the ticket was used"))
    );
    let log = fs::read_to_string(closed.folder.path().join("log")).unwrap();
    for secret in [&program, &embedded, &kiosk.trim().to_owned()] {
        assert!(!log.contains(secret.as_str()), "a secret is in the log");
    }
}

#[test]
fn an_open_host_needs_no_token_and_keeps_none() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access");
    let closed = Oasis::dac(&["--access", text(&access), "--local", "token"]);
    let (listen, channel) = (closed.listen().to_owned(), closed.channel().to_owned());
    closed.stop();
    let tokens = || {
        fs::read_dir(&access)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".token"))
    };
    assert_eq!(tokens().count(), 1);
    let opened = Oasis::dac_at(&listen, &channel, &["--access", text(&access)]);
    assert_eq!(tokens().count(), 0);
    drop(open(&opened.url(), Some("oasis.v1")));
}
