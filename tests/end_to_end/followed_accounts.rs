//! One set of accounts for several DACs: what one keeps counts at all others, and what it revokes counts nowhere.

use crate::harness::{Oasis, TEST_TIMEOUT, eventually, eventually_shown, get, oasis};
use oasis_tls::{Authority, ClientFiles, Lifetime};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};
use tempfile::TempDir;
use ureq::{Agent, http::Request};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A DAC that keeps accounts, and what its followers need.
struct Site {
    folder: TempDir,
    leader: Oasis,
    token_file: PathBuf,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let access = folder.path().join("leader");
        let leader = Oasis::dac(&["--access", text(&access)]);
        Self::of(folder, leader)
    }

    fn of(folder: TempDir, leader: Oasis) -> Self {
        let token_file = folder.path().join("follower.token");
        let site = Self { folder, leader, token_file };
        site.said(&[
            "token",
            "create",
            "hall-2",
            "--role",
            "follower",
            "--token-file",
            text(&site.token_file),
        ]);
        site
    }

    /// A command on the host of the leader.
    fn run(&self, arguments: &[&str]) -> Output {
        oasis().args(arguments).env("OASIS_ACCESS", self.folder.path().join("leader")).output().unwrap()
    }

    fn said(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn token(&self, name: &str, role: &str) -> String {
        self.said(&["token", "create", name, "--role", role]).trim().to_owned()
    }

    /// Settings of a follower, with its folder of accounts.
    fn settings(&self, name: &str, source: &str, more: &str) -> PathBuf {
        let file = self.folder.path().join(format!("{name}.toml"));
        let settings = format!(
            "[access]\ndirectory = {:?}\nfollow = [{source:?}]\nfollow_token_file = {:?}\n{more}",
            self.folder.path().join(name),
            self.token_file
        );
        fs::write(&file, settings).unwrap();
        file
    }

    fn follower(&self, name: &str) -> Oasis {
        let settings = self.settings(name, self.leader.http(), "");
        Oasis::dac(&["--config", text(&settings)])
    }
}

/// Status and text of an answer.
fn request(dac: &Oasis, token: &str, method: &str, path: &str, body: &Value) -> (u16, String) {
    let agent: Agent =
        Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let request = Request::builder().method(method).uri(format!("{}{path}", dac.http()));
    let request =
        if token.is_empty() { request } else { request.header("authorization", format!("Bearer {token}")) };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut answer = agent.run(request.body(body).unwrap()).unwrap();
    (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
}

fn status(dac: &Oasis, token: &str) -> u16 {
    request(dac, token, "GET", "/api/v1/nodes", &Value::Null).0
}

fn until_status(dac: &Oasis, token: &str, wanted: u16) {
    eventually_shown("the status of a token", || match status(dac, token) {
        found if found == wanted => Ok(()),
        found => Err(json!(found)),
    });
}

/// Returns the status of accounts in health, and the reason or warning.
fn health(dac: &Oasis) -> (String, String) {
    let health = get(dac, "/api/v1/health");
    let lists = [&health["reasons"], &health["warnings"]].map(|list| list.as_array().unwrap().clone());
    let about = lists.concat().into_iter().find(|entry| entry["part"] == "accounts");
    let reason = about.map(|entry| entry["reason"].as_str().unwrap().to_owned()).unwrap_or_default();
    (health["status"].as_str().unwrap().to_owned(), reason)
}

fn until_health(dac: &Oasis, status: &str, wanted: &str) {
    eventually_shown("the health of the accounts", || {
        let (found, reason) = health(dac);
        let is_so =
            found == status && if wanted.is_empty() { reason.is_empty() } else { reason.contains(wanted) };
        if is_so { Ok(()) } else { Err(json!([found, reason])) }
    });
}

#[test]
fn a_token_of_one_dac_works_at_all_until_it_is_revoked() {
    let site = Site::new();
    let operator = site.token("operator", "operator");
    let follower = site.follower("hall-2");
    until_status(&follower, &operator, 200);
    until_health(&follower, "ok", "");
    let last = site.follower("hall-3");
    until_status(&last, &operator, 200);

    let later = site.token("later", "viewer");
    until_status(&last, &later, 200);
    site.said(&["token", "revoke", "operator"]);
    for dac in [&site.leader, &follower, &last] {
        until_status(dac, &operator, 401);
        assert_eq!(status(dac, &later), 200);
    }
    // A stream that is open loses its rights too.
    let url = follower.url();
    let mut reader = crate::harness::Native::connect_with(&url, Some(&later));
    site.said(&["token", "revoke", "later"]);
    assert_eq!(reader.closed().0, 4401);
}

#[test]
fn accounts_are_changed_at_their_source_alone() {
    let site = Site::new();
    let admin = site.token("boss", "admin");
    let follower = site.follower("hall-2");
    until_status(&follower, &admin, 200);
    let user = json!({"name": "ada", "password": "correct horse battery", "roles": ["viewer"]});
    for (method, path, body) in [
        ("POST", "/api/v1/users", &user),
        ("DELETE", "/api/v1/tokens/boss", &Value::Null),
        ("PUT", "/api/v1/roles/fitter", &json!({"rules": ["read a/*"]})),
    ] {
        let (status, problem) = request(&follower, &admin, method, path, body);
        assert!(status == 409 && problem.contains("accounts_copied"), "{method} {path}: {status} {problem}");
        assert!(problem.contains(&format!("change them at {}", site.leader.http())), "{problem}");
    }
    let command = oasis()
        .args(["user", "set-roles", "local", "--access", text(&site.folder.path().join("hall-2"))])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&command.stderr).into_owned();
    assert!(!command.status.success() && error.contains(site.leader.http()), "{error}");
    // At the source it works, and counts here: people sign in with their passwords.
    assert_eq!(request(&site.leader, &admin, "POST", "/api/v1/users", &user).0, 204);
    let sign_in = json!({"name": "ada", "password": "correct horse battery"});
    eventually_shown("a sign-in", || match request(&follower, "", "POST", "/api/v1/session", &sign_in) {
        (200, _) => Ok(()),
        other => Err(json!(other)),
    });
}

#[test]
fn only_a_token_that_may_follow_copies_accounts() {
    let site = Site::new();
    let [operator, admin] = ["operator", "admin"].map(|role| site.token(role, role));
    let follower = fs::read_to_string(&site.token_file).unwrap().trim().to_owned();
    until_status(&site.leader, &admin, 200);
    let copy = |token: &str| request(&site.leader, token, "GET", "/api/v1/accounts/copy", &Value::Null);
    // This host may do everything but that: no user of it needs hashes of passwords.
    let (status, problem) = copy("");
    assert!(status == 403 && problem.contains("only a token"), "{status} {problem}");
    assert_eq!(copy(&operator).0, 403);
    assert_eq!(copy(&admin).0, 200);
    let (status, answer) = copy(&follower);
    assert_eq!(status, 200, "{answer}");
    assert!(!answer.contains(&follower) && !answer.contains(&admin), "no token is sent");
    // And it may do nothing else.
    for path in ["/api/v1/nodes", "/api/v1/users", "/api/v1/tokens", "/api/v1/audit-log"] {
        assert_eq!(request(&site.leader, &follower, "GET", path, &Value::Null).0, 403, "{path}");
    }
    let log = site.said(&["audit-log", "show", "--action", "accounts:copy"]);
    assert!(log.contains("program:hall-2") && log.contains("program:admin"), "{log}");
    for after in ["x", "1:2:3", &format!("{}:1", "0".repeat(32))] {
        let path = format!("/api/v1/accounts/copy?after={after}");
        assert_eq!(request(&site.leader, &follower, "GET", &path, &Value::Null).0, 400, "{after}");
    }
}

#[test]
fn a_follower_without_its_source_goes_on_also_after_a_restart_and_says_so() {
    let site = Site::new();
    let viewer = site.token("viewer", "viewer");
    let follower = site.follower("hall-2");
    until_status(&follower, &viewer, 200);
    let address = site.leader.listen().to_owned();
    let Site { folder, leader, token_file } = site;
    leader.kill();
    until_health(&follower, "ok", "was last confirmed at 2");
    assert_eq!(status(&follower, &viewer), 200);

    let settings = folder.path().join("hall-2.toml");
    follower.kill();
    let follower = Oasis::dac(&["--config", text(&settings)]);
    assert_eq!(status(&follower, &viewer), 200, "the copy on the disk counts");

    let access = folder.path().join("leader");
    let leader = Oasis::dac_at(&address, "127.0.0.1:0", &["--access", text(&access)]);
    until_health(&follower, "ok", "");
    let site = Site { folder, leader, token_file };
    site.said(&["token", "revoke", "viewer"]);
    until_status(&follower, &viewer, 401);
}

#[test]
fn a_copy_that_others_can_read_and_a_source_that_cannot_be_are_refused_at_the_start() {
    let site = Site::new();
    let viewer = site.token("viewer", "viewer");
    let follower = site.follower("hall-2");
    until_status(&follower, &viewer, 200);
    follower.kill();
    let settings = site.settings("hall-2", site.leader.http(), "");
    let refused = |settings: &Path, more: &[&str]| {
        let mut command = oasis();
        command.args(["dac", "--channel-listen", "127.0.0.1:0", "--config", text(settings)]).args(more);
        let done = command.output().unwrap();
        assert!(!done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let file = site.folder.path().join("hall-2/access.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let open = refused(&settings, &["--listen", "127.0.0.1:0"]);
    assert!(open.contains("others can read") && open.contains("chmod 600"), "{open}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();

    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = site.settings("self", &format!("http://127.0.0.1:{port}"), "");
    let itself = refused(&own, &["--listen", &format!("127.0.0.1:{port}")]);
    assert!(itself.contains("follows itself"), "{itself}");
    let plain = site.settings("plain", "http://192.0.2.1:7070", "");
    assert!(refused(&plain, &["--listen", "127.0.0.1:0"]).contains("without TLS"));
    let over = site.settings("leader", site.leader.http(), "");
    assert!(refused(&over, &["--listen", "127.0.0.1:0"]).contains("no copy"));
}

#[test]
fn dacs_that_follow_a_copy_or_each_other_say_so() {
    let site = Site::new();
    let ports = [0; 2].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, two] = ports.map(|listener| listener.local_addr().unwrap().to_string());
    // Both know the token, from a copy of an earlier time.
    let copy = site.follower("one");
    until_health(&copy, "ok", "");
    copy.kill();
    let two_files = site.folder.path().join("two");
    fs::create_dir(&two_files).unwrap();
    for file in ["access.toml", "nodes.toml", "copy.toml", "access.lock"] {
        let (from, to) = (site.folder.path().join("one").join(file), two_files.join(file));
        fs::copy(from, &to).unwrap();
    }
    fs::set_permissions(&two_files, fs::Permissions::from_mode(0o700)).unwrap();
    let [of_one, of_two] = [("one", &two), ("two", &one)]
        .map(|(name, other)| site.settings(name, &format!("http://{other}"), ""));
    let one = Oasis::dac_at(&one, "127.0.0.1:0", &["--config", text(&of_one)]);
    let two = Oasis::dac_at(&two, "127.0.0.1:0", &["--config", text(&of_two)]);
    for dac in [&one, &two] {
        until_health(dac, "ok", "name the DAC that keeps them");
    }
}

#[test]
fn the_audit_logs_of_several_dacs_are_one() {
    let site = Site::new();
    let admin = site.token("boss", "admin");
    let follower = site.follower("hall-2");
    until_status(&follower, &admin, 200);
    for (dac, name) in [(&site.leader, "first"), (&follower, "second"), (&site.leader, "third")] {
        let path = format!("/api/v1/layouts/{name}");
        let (status, answer) = request(dac, &admin, "PUT", &path, &json!({}));
        assert!(status < 500, "{status} {answer}");
    }
    let show = |more: &[&str]| {
        let mut command = oasis();
        command.args(["audit-log", "show", "--url", site.leader.http(), "--url", follower.http()]).args(more);
        command.env("OASIS_TOKEN", &admin).output().unwrap()
    };
    let done = show(&["--format", "json", "--action", "layout:save"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let records: Vec<Value> = String::from_utf8(done.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let times: Vec<_> = records.iter().map(|record| record["time"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut seen: Vec<_> = records
        .iter()
        .map(|record| (record["target"].as_str().unwrap(), record["dac"].as_str().unwrap()))
        .collect();
    seen.dedup();
    let wanted = [("first", site.leader.http()), ("second", follower.http()), ("third", site.leader.http())];
    assert_eq!(seen, wanted);
    let lines = String::from_utf8(show(&["-n", "2"]).stdout).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    // A DAC that does not answer is named, and the others are shown.
    let lost = show(&["--url", "http://127.0.0.1:9", "--action", "layout:save"]);
    let (out, error) =
        (String::from_utf8(lost.stdout).unwrap(), String::from_utf8_lossy(&lost.stderr).into_owned());
    assert!(!lost.status.success() && error.contains("a DAC did not answer"), "{error}");
    assert!(out.contains("http://127.0.0.1:9: no answer") && out.contains("third"), "{out}");
}

/// Two DACs with certificates of one CA. The first one enrolls nodes.
struct EncryptedSite {
    site: Site,
    follower: Oasis,
    ca: PathBuf,
}

impl EncryptedSite {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ca_folder = folder.path().join("ca");
        let authority = Authority::create(&ca_folder).unwrap();
        let server = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(30)).unwrap();
        let ca = authority.certificate();
        let tls = ["--tls-certificate", text(&server.certificate), "--tls-key", text(&server.key)];
        let access = folder.path().join("leader");
        let flags = [&["--access", text(&access), "--ca-dir", text(&ca_folder)][..], &tls].concat();
        let leader = Oasis::dac(&flags);
        let site = Site::of(folder, leader);
        let settings = site.settings("hall-2", site.leader.http(), &format!("follow_ca = {ca:?}\n"));
        let flags = [&["--config", text(&settings), "--node-ca", text(&ca)][..], &tls].concat();
        let follower = Oasis::dac(&flags);
        Self { site, follower, ca }
    }

    /// Returns the answer of a DAC to this host.
    fn get(&self, dac: &Oasis, path: &str) -> Value {
        let files = ClientFiles { ca: Some(self.ca.clone()), ..ClientFiles::default() };
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let session = ClientConnection::new(files.load().unwrap(), name).unwrap();
        let socket = TcpStream::connect(dac.http().trim_start_matches("https://")).unwrap();
        socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let mut stream = StreamOwned::new(session, socket);
        // Without chunks.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {answer}")).1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error} in {answer}"))
    }

    fn enroll(&self, at: &Oasis, name: &str) -> Output {
        self.node_token(name);
        self.enroll_with_token(at, name)
    }

    fn token_file(&self, name: &str) -> PathBuf {
        self.site.folder.path().join(format!("{name}.token"))
    }

    fn node_token(&self, name: &str) {
        self.site.said(&["node", "token", name, "--token-file", text(&self.token_file(name))]);
    }

    fn enroll_with_token(&self, at: &Oasis, name: &str) -> Output {
        let token = self.token_file(name);
        let state = self.site.folder.path().join(name);
        self.site.run(&[
            "node",
            "enroll",
            "--url",
            at.http(),
            "--ca",
            text(&self.ca),
            "--name",
            name,
            "--token-file",
            text(&token),
            "--state",
            text(&state),
        ])
    }
}

#[test]
fn a_node_that_one_dac_has_enrolled_is_accepted_and_revoked_everywhere() {
    let here = EncryptedSite::new();
    let done = here.enroll(&here.site.leader, "plant-7");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let log = here.site.folder.path().join("plant-7.log");
    let state = here.site.folder.path().join("plant-7");
    let mut command = oasis();
    command.env("OASIS_LOG", "info");
    let _node = Oasis::node_started_by(
        command,
        fs::File::create(&log).unwrap(),
        &["--state", text(&state), "--dac", here.follower.channel(), "--probe", "heartbeat@20"],
    );
    let node = || here.get(&here.follower, "/api/v1/nodes")["nodes"][0].clone();
    eventually_shown("the node at the follower", || {
        let node = node();
        if node["state"] == "online" { Ok(()) } else { Err(node) }
    });
    here.site.said(&["node", "revoke", "plant-7"]);
    eventually_shown("the end of the node's connection", || {
        let node = node();
        if node["state"] == "offline" { Ok(()) } else { Err(node) }
    });
    eventually("the reason in the node's log", || {
        fs::read_to_string(&log).unwrap().contains("certificate was revoked").then_some(())
    });
    let ledger = here.get(&here.follower, "/api/v1/ledger");
    assert!(ledger["channel"]["refused"]["certificate_revoked"].as_u64() > Some(0), "{ledger}");
}

#[test]
fn a_follower_enrolls_no_node_and_says_where() {
    let here = EncryptedSite::new();
    here.node_token("n1");
    // Once the follower has the token of the node too.
    let refused = eventually("the refusal of an enrollment", || {
        let done = here.enroll_with_token(&here.follower, "n1");
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        error.contains("enroll the node at").then_some(error)
    });
    assert!(refused.contains(here.site.leader.http()), "{refused}");
}
