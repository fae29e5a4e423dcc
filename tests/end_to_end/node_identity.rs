//! Nodes have an identity: they are enrolled, their names are bound to their keys, and attempts of rogues are refused, reported, and disturb no one.

use crate::harness::{Oasis, TEST_TIMEOUT, eventually, eventually_shown, oasis};
use oasis_channel::{
    Connector, DacMessage, NodeMessage, PROTOCOL, Receiver, ResumeSecret, Sender, tls::TlsConnector,
};
use oasis_tls::{Authority, ClientFiles, Issued, Lifetime};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use serde_json::Value;
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;
use uuid::Uuid;

/// A DAC that enrolls nodes.
struct Site {
    folder: TempDir,
    authority: Authority,
    dac: Oasis,
}

impl Site {
    fn new() -> Self {
        Self::with(&["--ca-dir"])
    }

    /// With the folder of the CA after these flags.
    fn with(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca");
        let authority = Authority::create(&ca).unwrap();
        let server = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(30)).unwrap();
        let access = folder.path().join("access");
        let mut all = vec!["--access", text(&access), "--tls-certificate", text(&server.certificate)];
        all.extend(["--tls-key", text(&server.key)]);
        if !flags.is_empty() {
            all.extend(flags);
            all.push(text(&ca));
        }
        let dac = Oasis::dac(&all);
        Self { folder, authority, dac }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ca(&self) -> PathBuf {
        self.authority.certificate()
    }

    /// A command on the DAC's host.
    fn run(&self, arguments: &[&str]) -> Output {
        oasis().args(arguments).env("OASIS_ACCESS", self.path("access")).output().unwrap()
    }

    /// Returns the output of a command.
    fn said(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// A file with a new token for nodes that match.
    fn token(&self, node: &str) -> PathBuf {
        let file = self.path(&format!("token-{}", Uuid::new_v4()));
        self.said(&["node", "token", node, "--token-file", text(&file)]);
        assert_eq!(mode(&file), 0o600);
        file
    }

    fn enroll(&self, name: &str, token: &Path, state: &str) -> Output {
        self.enroll_at(&["--token-file", text(token), "--name", name, "--state", text(&self.path(state))])
    }

    fn enroll_at(&self, flags: &[&str]) -> Output {
        let ca = self.ca();
        self.run(&[&["node", "enroll", "--url", self.dac.http(), "--ca", text(&ca)], flags].concat())
    }

    fn enrolled(&self, name: &str) {
        let done = self.enroll(name, &self.token(name), name);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// The node that was enrolled by this name, with its log in a file.
    fn node(&self, name: &str, more: &[&str]) -> (Oasis, PathBuf) {
        let (state, log) = (self.path(name), self.path(&format!("{name}-{}.log", Uuid::new_v4())));
        let flags = ["--state", text(&state), "--probe", "processor@100"];
        let mut command = oasis();
        command.env("OASIS_LOG", "info");
        let flags = [&flags[..], more].concat();
        (Oasis::node_started_by(command, fs::File::create(&log).unwrap(), &flags), log)
    }

    /// A node with files of its own.
    fn node_with(&self, files: &Issued, name: &str, more: &[&str]) -> (Oasis, PathBuf) {
        let (ca, log) = (self.ca(), self.path(&format!("{}.log", Uuid::new_v4())));
        let flags = ["--name", name, "--dac", self.dac.channel(), "--ca", text(&ca), "--probe", "memory"];
        let files = ["--certificate", text(&files.certificate), "--key", text(&files.key)];
        let mut command = oasis();
        command.env("OASIS_LOG", "info");
        let flags = [&flags[..], &files, more].concat();
        (Oasis::node_started_by(command, fs::File::create(&log).unwrap(), &flags), log)
    }

    fn get(&self, path: &str) -> Value {
        let files = ClientFiles { ca: Some(self.ca()), ..ClientFiles::default() };
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let session = ClientConnection::new(files.load().unwrap(), name).unwrap();
        let socket = TcpStream::connect(self.dac.http().trim_start_matches("https://")).unwrap();
        socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let mut stream = StreamOwned::new(session, socket);
        // Without chunks.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {answer}")).1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error} in {answer}"))
    }

    /// The ledger of a node's processor, once it matches.
    fn ledger(&self, node: &str, what: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
        eventually_shown(what, || {
            let list = self.get(&format!("/api/v1/instances?node={node}&instance=processor"));
            let Some(id) = list["instances"][0]["id"].as_u64() else { return Err(list) };
            let ledger = self.get(&format!("/api/v1/instances/{id}"))["ledger"].clone();
            if is_enough(&ledger) { Ok(ledger) } else { Err(ledger) }
        })
    }

    /// Waits for more samples of a node, and checks that none is missing.
    fn continues(&self, node: &str) {
        let before = self.ledger(node, "its ledger", |_| true)["received"].as_u64().unwrap();
        let last = self.ledger(node, "samples", |ledger| ledger["received"].as_u64() > Some(before + 50));
        assert_eq!((&last["missing"], &last["unexplained"]), (&0.into(), &0.into()), "{last:#}");
    }

    /// Waits until the audit log has a refusal of a node with this code. Returns it.
    fn audited(&self, code: &str) -> Value {
        eventually(&format!("{code} in the audit log"), || {
            let lines = self.said(&["audit-log", "show", "--action", "node:refused", "--format", "json"]);
            let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            records.into_iter().find(|record| record["arguments"]["code"] == code)
        })
    }

    /// Returns the number of nodes that were refused with this code.
    fn refused(&self, code: &str) -> u64 {
        self.get("/api/v1/ledger")["channel"]["refused"][code].as_u64().unwrap_or(0)
    }

    fn is_online(&self, node: &str) -> bool {
        let nodes = self.get("/api/v1/nodes");
        let nodes = nodes["nodes"].as_array().unwrap().iter();
        nodes.into_iter().any(|entry| entry["name"] == node && entry["state"] == "online")
    }

    fn warnings(&self) -> String {
        self.get("/api/v1/health")["warnings"].to_string()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn error(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for these words in a log.
fn logs(log: &Path, words: &str) {
    eventually(words, || fs::read_to_string(log).unwrap().contains(words).then_some(()));
}

#[test]
fn a_node_enrolls_once_with_a_token_and_needs_no_flags_afterwards() {
    let site = Site::new();
    let token = site.token("plant-*");
    let refused = error(&site.enroll("mill", &token, "mill"));
    assert!(refused.contains("may not enroll node \"mill\""), "{refused}");
    let refused = error(&site.enroll("plant-7!", &token, "odd"));
    assert!(
        refused.contains("use letters"),
        "no certificate has this name, and the token is left: {refused}"
    );
    let done = site.enroll("plant-7", &token, "plant-7");
    assert!(done.status.success(), "{}", error(&done));
    assert_eq!(mode(&site.path("plant-7/node.key")), 0o600);
    let refused = error(&site.enroll("plant-8", &token, "plant-8"));
    assert!(refused.contains("has been used") && refused.contains("oasis node token plant-8"), "{refused}");

    // Without its certificate it would start as another node, at another DAC.
    let refused = error(&site.run(&["node", "--state", text(&site.path("plant-7")), "--name", "plant-8"]));
    assert!(refused.contains("this host is enrolled as \"plant-7\""), "{refused}");

    let (node, log) = site.node("plant-7", &[]);
    logs(&log, "connected to the DAC");
    site.continues("plant-7");

    // The name belongs to the key: another host cannot enroll it, the same one can again.
    let refused = error(&site.enroll("plant-7", &site.token("plant-7"), "another"));
    assert!(refused.contains("oasis node revoke"), "{refused}");
    let again = site.enroll("plant-7", &site.token("plant-7"), "plant-7");
    assert!(again.status.success(), "renewed with the same key: {}", String::from_utf8_lossy(&again.stderr));
    site.continues("plant-7");
    assert!(node.stop().success());

    let list = eventually("when it was seen", || {
        let list = site.said(&["node", "list", "--format", "json"]);
        list.contains("\"last_seen\":\"2").then_some(list)
    });
    let newest: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!((&newest["node"], &newest["state"]), (&"plant-7".into(), &"active".into()), "{list}");
    assert_eq!(newest["by"], "program:enroll-plant-7");
    let records = site.said(&["audit-log", "show", "--action", "node:enroll"]);
    assert!(records.contains("plant-7") && records.contains(": done"), "{records}");
    assert!(site.said(&["token", "list", "--format", "json"]).lines().count() < 2, "used ones are gone");
}

#[test]
fn a_dac_without_a_ca_says_how_nodes_are_enrolled() {
    let site = Site::with(&[]);
    let refused = error(&site.enroll("plant", &site.token("plant"), "plant"));
    assert!(refused.contains("--ca-dir"), "{refused}");
    let (ca, token) = (site.ca(), site.token("plant"));
    let url = site.dac.http().replace("https", "http");
    let flags = ["--url", url.as_str(), "--ca", text(&ca), "--token-file", text(&token)];
    let refused = error(&site.run(&[&["node", "enroll", "--name", "x"], &flags[..]].concat()));
    assert!(refused.contains("https://"), "no token without TLS: {refused}");
}

#[test]
fn an_enrollment_without_a_token_or_at_the_wrong_port_is_told_what_to_name() {
    let site = Site::new();
    let (ca, state) = (site.ca(), site.path("plant"));
    let enroll = |url: &str| {
        let flags = ["--url", url, "--ca", text(&ca), "--name", "plant", "--state", text(&state)];
        error(&site.run(&[&["node", "enroll"], &flags[..]].concat()))
    };
    let refused = enroll(&site.dac.channel().replace("tls:", "https:"));
    assert!(refused.contains("port of the page") || refused.contains("the port of its page"), "{refused}");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = enroll(&format!("https://{closed}"));
    assert!(refused.contains("is this the port of its page"), "{refused}");
    site.said(&["user", "set-roles", "local"]);
    eventually("users of this host need a token", || {
        let refused = site.enroll_at(&["--name", "plant", "--state", text(&state)]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        said.contains("make one on the DAC's host (oasis node token plant").then_some(())
    });
}

#[test]
fn only_a_known_name_is_revoked_without_insisting() {
    let site = Site::new();
    site.enrolled("plant-7");
    let refused = error(&site.run(&["node", "revoke", "plnt-7"]));
    assert!(
        refused.contains("nothing was revoked") && refused.contains("did you mean plant-7?"),
        "{refused}"
    );
    assert!(!site.said(&["node", "list"]).contains("revoked"));
    // A certificate that was issued elsewhere, and that no node has shown yet.
    let issued = site.authority.issue_node("mill", Lifetime::of_node(30)).unwrap();
    assert!(error(&site.run(&["node", "revoke", "mill"])).contains("--unknown"));
    assert!(
        site.said(&["node", "revoke", "mill", "--unknown"])
            .contains("no certificate of it was enrolled here")
    );
    let (_mill, log) = site.node_with(&issued, "mill", &[]);
    logs(&log, "certificate was revoked");
}

#[test]
fn a_revoked_node_is_closed_and_refused_and_the_others_lose_nothing() {
    let site = Site::new();
    site.enrolled("plant");
    site.enrolled("mill");
    let (_mill, _) = site.node("mill", &[]);
    let (_plant, log) = site.node("plant", &[]);
    site.continues("mill");
    site.continues("plant");
    site.said(&["node", "revoke", "plant"]);
    // The node connects again and again, and is refused each time.
    eventually("the revoked node is away", || (!site.is_online("plant")).then_some(()));
    logs(&log, "certificate was revoked");
    eventually("it was refused again", || (site.refused("certificate_revoked") > 1).then_some(()));
    let record = site.audited("certificate_revoked");
    assert_eq!((&record["principal"], &record["target"]), (&"node:plant".into(), &"plant".into()));
    assert!(!site.is_online("plant"));
    site.continues("mill");
    let list = site.said(&["node", "list"]);
    assert!(list.contains("revoked") && list.contains("active"), "{list}");

    // The node can be enrolled again; its old certificate stays revoked.
    fs::remove_dir_all(site.path("plant")).unwrap();
    site.enrolled("plant");
    eventually("the running node has the new certificate", || site.is_online("plant").then_some(()));
}

#[test]
fn certificates_of_the_command_line_are_revoked_by_name() {
    let site = Site::new();
    let issued = site.authority.issue_node("plant", Lifetime::of_node(30)).unwrap();
    let (_node, log) = site.node_with(&issued, "plant", &[]);
    logs(&log, "connected to the DAC");
    eventually("it was seen", || site.said(&["node", "list"]).contains("plant").then_some(()));
    assert!(site.said(&["node", "revoke", "plant"]).contains("no certificate of it was enrolled here"));
    logs(&log, "certificate was revoked");
}

#[test]
fn rogues_are_refused_reported_and_disturb_nobody() {
    let site = Site::new();
    site.enrolled("plant");
    let (_victim, _) = site.node("plant", &[]);
    site.continues("plant");

    // Another node's name.
    let mill = site.authority.issue_node("mill", Lifetime::of_node(30)).unwrap();
    let (_rogue, log) = site.node_with(&mill, "plant", &[]);
    logs(&log, "its certificate is for \\\"mill\\\"");
    let record = site.audited("name_not_certified");
    assert_eq!((&record["principal"], &record["target"]), (&"node:mill".into(), &"plant".into()));
    assert_eq!(record["address"], "127.0.0.1");
    assert!(site.refused("name_not_certified") > 0);
    site.continues("plant");

    // A copy of its key.
    let copy = Issued { certificate: site.path("plant/node.pem"), key: site.path("plant/node.key") };
    let (second, log) = site.node_with(&copy, "plant", &[]);
    logs(&log, "is in use by a connected node");
    let record = site.audited("key_in_use");
    assert!(record["arguments"]["reason"].as_str().unwrap().contains("by two processes"), "{record}");
    assert!(site.warnings().contains("by two processes"), "{}", site.warnings());
    drop(second);
    site.continues("plant");

    // The same as another node.
    let uuid = Uuid::new_v4().to_string();
    let (_copy, log) = site.node_with(&copy, "plant", &["--uuid", &uuid]);
    logs(&log, "is in use by a connected node");
    site.audited("key_in_use");
    assert!(site.warnings().contains("key_in_use"), "{}", site.warnings());
    site.continues("plant");

    // A certificate of another authority.
    let foreign = Authority::create(&site.path("foreign")).unwrap();
    let foreign = foreign.issue_node("plant", Lifetime::of_node(30)).unwrap();
    let (_foreign, log) = site.node_with(&foreign, "plant", &[]);
    logs(&log, "the DAC refused this node's certificate");
    site.audited("certificate_refused");

    // An older certificate of its name, from another host.
    let hour = Duration::from_secs(3_600);
    let past = Lifetime { begins: SystemTime::now() - hour, ends: SystemTime::now() + hour };
    let older = site.authority.issue_node("plant", past).unwrap();
    let (_older, log) = site.node_with(&older, "plant", &[]);
    logs(&log, "enrolled with another key");
    site.audited("key_wrong");
    site.continues("plant");
    assert!(site.is_online("plant"));
}

#[test]
fn a_node_checks_the_name_of_the_dac_and_learns_that_its_own_certificate_has_expired() {
    let site = Site::new();
    let own = site.authority.issue_node("plant", Lifetime::of_node(30)).unwrap();
    // The certificate of the DAC is for 127.0.0.1 alone.
    let elsewhere = site.dac.channel().replace("127.0.0.1", "localhost");
    let (ca, log) = (site.ca(), site.path("elsewhere.log"));
    let files = ["--certificate", text(&own.certificate), "--key", text(&own.key), "--ca", text(&ca)];
    let mut command = oasis();
    command.env("OASIS_LOG", "info");
    let flags = [&["--name", "plant", "--dac", &elsewhere], &files[..]].concat();
    let _elsewhere = Oasis::node_started_by(command, fs::File::create(&log).unwrap(), &flags);
    logs(&log, "the DAC's certificate is for other names");

    let hour = Duration::from_secs(3_600);
    let past = Lifetime { begins: SystemTime::now() - 2 * hour, ends: SystemTime::now() - hour };
    let expired = site.authority.issue_node("mill", past).unwrap();
    let (_mill, log) = site.node_with(&expired, "mill", &[]);
    logs(&log, "it has expired");
    site.audited("certificate_refused");
    assert!(site.warnings().contains("data channel"), "{}", site.warnings());
}

/// Sends a hello with a certificate. Returns the answer, and the connection.
fn hello(
    site: &Site,
    files: &Issued,
    node: &oasis_channel::NodeIdentity,
    secret: ResumeSecret,
) -> (DacMessage, Box<dyn Sender>, Box<dyn Receiver>) {
    let files = ClientFiles {
        ca: Some(site.ca()),
        certificate: Some(files.certificate.clone()),
        key: Some(files.key.clone()),
    };
    let address = site.dac.channel().trim_start_matches("tls://");
    let (mut sender, mut receiver) = TlsConnector::new(address, files).connect().unwrap();
    let hello = NodeMessage::Hello {
        protocol: PROTOCOL,
        node: node.clone(),
        secret: Some(secret),
        attach: None,
        drains: false,
    };
    sender.send(&[hello], &[]).unwrap();
    (receiver.receive().unwrap(), sender, receiver)
}

#[test]
fn a_stolen_run_is_worth_nothing_without_the_key() {
    let site = Site::new();
    let issue = |name: &str, hours: u64| {
        let hour = Duration::from_secs(3_600);
        let lifetime =
            Lifetime { begins: SystemTime::now() - hours as u32 * hour, ends: SystemTime::now() + hour };
        let issued = site.authority.issue_node(name, lifetime).unwrap();
        // A later one of the name replaces the files.
        let kept = |path: &Path| {
            let copy = site.path(&format!("{}-{}", Uuid::new_v4(), text(path.file_name().unwrap().as_ref())));
            fs::copy(path, &copy).unwrap();
            copy
        };
        Issued { certificate: kept(&issued.certificate), key: kept(&issued.key) }
    };
    let (own, mill, older, later) =
        (issue("plant", 2), issue("mill", 1), issue("plant", 3), issue("plant", 1));
    let secret = ResumeSecret::random();
    let node = oasis_channel::NodeIdentity {
        name: "plant".into(),
        uuid: Uuid::from_u128(1),
        run: secret.run(),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    };
    let (welcome, mut sender, mut receiver) = hello(&site, &own, &node, secret);
    assert!(matches!(welcome, DacMessage::Welcome { .. }), "{welcome:?}");
    // The thief knows run and secret, and has another certificate: of its own name, or of this one.
    for (files, code) in [(&mill, "name_not_certified"), (&older, "key_wrong"), (&later, "key_wrong")] {
        match hello(&site, files, &node, secret).0 {
            DacMessage::Refused(failure) => assert_eq!(failure.code, code),
            other => panic!("{other:?}"),
        }
        site.audited(code);
        let ping =
            NodeMessage::Ping { node_time: 7, clock_offset_ns: None, round_trip_ns: None, overhead: None };
        sender.send(&[ping], &[]).unwrap();
        let pong = receiver.receive().unwrap();
        assert!(matches!(pong, DacMessage::Pong { node_time: 7, .. }), "the owner goes on: {pong:?}");
    }
    sender.close();
    eventually("the owner is away", || (!site.is_online("plant")).then_some(()));
    let refused = hello(&site, &older, &node, secret).0;
    assert!(matches!(refused, DacMessage::Refused(_)), "an older certificate: {refused:?}");
    let (welcome, ..) = hello(&site, &own, &node, secret);
    assert!(matches!(welcome, DacMessage::Welcome { .. }), "its key resumes its run: {welcome:?}");
}

#[test]
fn datagrams_of_an_encrypted_node_are_protected_and_arrive() {
    let site = Site::with(&["--udp", "--ca-dir"]);
    site.enrolled("plant");
    let (node, log) = site.node("plant", &["--channel", "udp"]);
    logs(&log, "connected to the DAC");
    site.continues("plant");
    // Datagrams of others are counted.
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let foreign = [&b"OSD2"[..], &[7; 100]].concat();
    socket.send_to(&foreign, site.dac.channel().trim_start_matches("tls://")).unwrap();
    eventually("it is counted", || (site.refused("datagram_foreign") == 1).then_some(()));
    site.continues("plant");
    assert!(node.stop().success());
    let last = site
        .ledger("plant", "the node's last word", |ledger| ledger["node"]["taken"] == ledger["last_sequence"]);
    assert_eq!((&last["missing"], &last["unexplained"]), (&0.into(), &0.into()), "{last:#}");
    for code in ["datagram_forged", "datagram_replayed", "datagram_unprotected"] {
        assert_eq!(site.refused(code), 0, "{code}");
    }
}
