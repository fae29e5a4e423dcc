//! TLS between real processes: page, API, WebSockets and nodes; certificates that are wrong, missing, expired or exchanged.

use crate::harness::{Oasis, TEST_TIMEOUT, eventually, oasis};
use oasis_tls::{Authority, ClientFiles, Issued, Lifetime};
use oasis_wire::batch::Header;
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket, client::IntoClientRequest, http::HeaderValue};

pub type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// Certificates of a site.
pub struct Site {
    pub folder: TempDir,
    pub authority: Authority,
    pub server: Issued,
}

impl Site {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(&folder.path().join("ca")).unwrap();
        let server = authority.issue_server(&["127.0.0.1".into(), "localhost".into()], year()).unwrap();
        Self { folder, authority, server }
    }

    pub fn ca(&self) -> String {
        text(&self.authority.certificate()).to_owned()
    }

    fn flags(&self) -> Vec<String> {
        let files = [text(&self.server.certificate), text(&self.server.key)];
        ["--tls-certificate", files[0], "--tls-key", files[1]].map(str::to_owned).into()
    }

    /// A DAC that logs to a file.
    pub fn dac(&self, more: &[&str]) -> Oasis {
        let log = fs::File::create(self.folder.path().join("dac.log")).unwrap();
        let flags = self.flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let mut command = oasis();
        command.env("OASIS_LOG", "info");
        Oasis::dac_started_by(command, log, &flags)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("dac.log")).unwrap()
    }

    /// A connection to page and doors.
    fn connect(&self, dac: &Oasis) -> Encrypted {
        let files = ClientFiles { ca: Some(self.authority.certificate()), ..ClientFiles::default() };
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let session = ClientConnection::new(files.load().unwrap(), name).unwrap();
        let socket = TcpStream::connect(address(dac)).unwrap();
        socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        StreamOwned::new(session, socket)
    }

    /// Status line, headers and body.
    fn get(&self, dac: &Oasis, path: &str) -> String {
        let mut stream = self.connect(dac);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub fn websocket(&self, dac: &Oasis) -> WebSocket<Encrypted> {
        let mut request = format!("wss://{}/ws", address(dac)).into_client_request().unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("oasis.v1"));
        tungstenite::client(request, self.connect(dac)).unwrap().0
    }

    /// Flags of the node `plant`, with a certificate.
    fn node_flags(&self, authority: &Authority) -> [String; 6] {
        let issued = authority.issue_node("plant", year()).unwrap();
        let (certificate, key) = (text(&issued.certificate), text(&issued.key));
        ["--ca", &self.ca(), "--certificate", certificate, "--key", key].map(str::to_owned)
    }
}

pub fn year() -> Lifetime {
    Lifetime::days(397)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn address(dac: &Oasis) -> &str {
    dac.http().trim_start_matches("https://")
}

/// Standard output of a command that succeeds.
fn succeeds(arguments: &[&str]) -> String {
    let done = oasis().args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Standard error of a command that fails.
fn fails(arguments: &[&str]) -> String {
    let done = oasis().args(arguments).output().unwrap();
    assert!(!done.status.success(), "{arguments:?}");
    String::from_utf8(done.stderr).unwrap()
}

/// The node `plant`, whose log is in this file.
pub fn node(dac: &str, log: &Path, more: &[&str]) -> Oasis {
    let mut command = oasis();
    command.env("OASIS_LOG", "info");
    let flags = [&["--name", "plant", "--dac", dac, "--probe", "processor@100"], more].concat();
    Oasis::node_started_by(command, fs::File::create(log).unwrap(), &flags)
}

/// Waits for these words in a log.
pub fn logs(log: &Path, words: &str) {
    eventually(words, || fs::read_to_string(log).unwrap().contains(words).then_some(()));
}

/// Reads messages until as many samples have arrived, and checks that no number is missing.
pub fn read_samples(socket: &mut WebSocket<Encrypted>, next: &mut Option<u64>, count: u64) {
    let until = next.unwrap_or(0) + count;
    while next.unwrap_or(0) < until {
        match socket.read().unwrap() {
            Message::Binary(bytes) => {
                let batch = Header::parse(&bytes).unwrap();
                let (first, samples) = (batch.first_sequence, u64::from(batch.count));
                assert!(next.is_none_or(|next| next == first), "{next:?} was expected, and {first} came");
                *next = Some(first + samples);
            }
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                assert_ne!(message["op"], "gap", "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

pub fn subscribe(socket: &mut WebSocket<Encrypted>) {
    let request = json!({"op": "subscribe", "id": 1, "node": "plant", "instance": "processor"});
    socket.send(Message::text(request.to_string())).unwrap();
}

#[test]
fn page_api_and_commands_work_over_https_and_node_and_websocket_lose_nothing() {
    let site = Site::new();
    let dac = site.dac(&["--own-node", "dac"]);
    assert!(site.get(&dac, "/").starts_with("HTTP/1.1 200"), "the page");
    eventually("the DAC's own node", || {
        site.get(&dac, "/api/v1/nodes").contains(r#""name":"dac""#).then_some(())
    });
    let log = site.folder.path().join("node.log");
    let ca = site.ca();
    let _node = node(dac.channel(), &log, &["--ca", &ca]);
    logs(&log, "connected to the DAC");
    let (url, wss) = (dac.http().to_owned(), dac.http().replace("https", "wss"));
    assert!(succeeds(&["list", "--url", &url, "--ca", &ca]).contains("plant/processor"));
    let tailed = succeeds(&[
        "tail",
        "plant/processor",
        "--url",
        &wss,
        "--ca",
        &ca,
        "--count",
        "20",
        "--from-earliest",
    ]);
    assert_eq!(tailed.lines().count(), 20, "{tailed}");
    let mut socket = site.websocket(&dac);
    subscribe(&mut socket);
    read_samples(&mut socket, &mut None, 200);
    // A moved connection takes its encryption with it.
    succeeds(&["shards", "4", "--url", &url, "--ca", &ca]);
    succeeds(&["shards", "1", "--url", &url, "--ca", &ca]);
    succeeds(&["audit", "--url", &url, "--ca", &ca]);
}

#[test]
fn moved_websockets_and_new_certificates_interrupt_nobody() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let log = site.folder.path().join("node.log");
    let ca = site.ca();
    let _node = node(dac.channel(), &log, &["--ca", &ca]);
    let mut socket = site.websocket(&dac);
    logs(&log, "connected to the DAC");
    subscribe(&mut socket);
    let mut next = None;
    read_samples(&mut socket, &mut next, 50);
    for shards in ["3", "1"] {
        succeeds(&["shards", shards, "--url", dac.http(), "--ca", &ca]);
        read_samples(&mut socket, &mut next, 50);
    }

    // Half of a pair changes nothing.
    let log = site.folder.path().join("dac.log");
    let good = fs::read(&site.server.certificate).unwrap();
    let foreign = Authority::create(&site.folder.path().join("other")).unwrap();
    let other = foreign.issue_server(&["127.0.0.1".into()], year()).unwrap();
    fs::copy(&other.certificate, &site.server.certificate).unwrap();
    logs(&log, "changed TLS files are bad");
    assert!(site.get(&dac, "/readyz").starts_with("HTTP/1.1 200"));
    read_samples(&mut socket, &mut next, 20);

    fs::write(&site.server.certificate, good).unwrap();
    site.authority.issue_server(&["127.0.0.1".into(), "localhost".into()], Lifetime::days(30)).unwrap();
    logs(&log, "TLS certificate loaded again");
    assert!(site.get(&dac, "/readyz").starts_with("HTTP/1.1 200"));
    read_samples(&mut socket, &mut next, 50);
    socket.close(None).unwrap();
    // The close frame, and then the end of TLS: anything else would be an error.
    while let Ok(message) = socket.read() {
        assert!(matches!(message, Message::Binary(_) | Message::Text(_) | Message::Close(_)), "{message}");
    }
}

#[test]
fn a_wrong_authority_an_expired_certificate_and_another_name_are_refused_by_clients_and_nodes() {
    let (site, stranger) = (Site::new(), Site::new());
    let dac = site.dac(&[]);
    let refused = fails(&["list", "--url", dac.http(), "--ca", &stranger.ca()]);
    assert!(refused.contains("unknown authority") && refused.contains("--ca"), "{refused}");
    let wss = dac.http().replace("https", "wss");
    let refused = fails(&["tail", "--url", &wss, "--ca", &stranger.ca()]);
    assert!(refused.contains("unknown authority"), "{refused}");
    let log = site.folder.path().join("node.log");
    let _node = node(dac.channel(), &log, &["--ca", &stranger.ca()]);
    logs(&log, "unknown authority");
    eventually("the DAC logs it too", || site.log().contains("TLS handshake of a node failed").then_some(()));

    let hour = Duration::from_secs(3_600);
    let past = Lifetime { begins: SystemTime::now() - 48 * hour, ends: SystemTime::now() - hour };
    let mut old = Site::new();
    old.server = old.authority.issue_server(&["127.0.0.1".into()], past).unwrap();
    let dac = old.dac(&[]);
    assert!(old.log().contains("has expired"), "{}", old.log());
    let refused = fails(&["list", "--url", dac.http(), "--ca", &old.ca()]);
    assert!(refused.contains("has expired"), "{refused}");
    let log = old.folder.path().join("node.log");
    let _node = node(dac.channel(), &log, &["--ca", &old.ca()]);
    logs(&log, "has expired");
}

#[test]
fn nodes_must_show_certificates_of_the_right_authority_if_the_dac_says_so() {
    let (site, stranger) = (Site::new(), Site::new());
    let ca = site.ca();
    let dac = site.dac(&["--node-ca", &ca, "--own-node", "dac"]);
    let log = site.folder.path().join("without.log");
    {
        let _node = node(dac.channel(), &log, &["--ca", &ca]);
        logs(&log, "the DAC requires a certificate of its nodes");
    }
    {
        let flags = site.node_flags(&stranger.authority);
        let _node = node(dac.channel(), &log, &flags.each_ref().map(String::as_str));
        logs(&log, "the DAC refused this node's certificate");
    }
    let flags = site.node_flags(&site.authority);
    let _node = node(dac.channel(), &log, &flags.each_ref().map(String::as_str));
    logs(&log, "connected to the DAC");
    // The DAC's own node and browsers need none.
    eventually("both nodes", || {
        let nodes = site.get(&dac, "/api/v1/nodes");
        ["dac", "plant"].iter().all(|name| nodes.contains(&format!(r#""name":"{name}""#))).then_some(())
    });
    assert!(site.log().contains("peer sent no certificates"), "{}", site.log());
}

#[test]
fn an_end_without_tls_learns_that_the_other_has_it_and_the_other_way_round() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let mut plain = TcpStream::connect(address(&dac)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("https://"), "{answer}");
    let log = site.folder.path().join("node.log");
    {
        let _node = node(dac.channel().trim_start_matches("tls://"), &log, &[]);
        logs(&log, "this DAC requires TLS");
    }
    assert!(site.get(&dac, "/readyz").starts_with("HTTP/1.1 200"), "the others are served");

    let plain = Oasis::dac(&[]);
    let https = plain.http().replace("http", "https");
    let refused = fails(&["list", "--url", &https, "--ca", &site.ca()]);
    assert!(refused.contains("does not speak TLS"), "{refused}");
    let _node = node(&format!("tls://{}", plain.channel()), &log, &["--ca", &site.ca()]);
    logs(&log, "TLS there");
}

#[test]
fn a_handshake_that_never_ends_keeps_nobody_waiting() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(address(&dac)).unwrap();
            stream.write_all(&[22, 3, 1]).unwrap();
            stream
        })
        .collect();
    assert!(site.get(&dac, "/readyz").starts_with("HTTP/1.1 200"));
    drop(slow);
}

#[test]
fn a_start_that_would_be_insecure_is_refused_with_the_remedy() {
    let anywhere = ["0.0.0.0:0", "127.0.0.1:0"];
    for (doors, channel) in [(anywhere[0], anywhere[1]), (anywhere[1], anywhere[0])] {
        let refused = fails(&["dac", "--listen", doors, "--channel-listen", channel]);
        for words in ["refusing to listen", "--tls-certificate", "oasis ca init", "--insecure"] {
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }
    let site = Site::new();
    let flags = site.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let refused = fails(&["dac", "--listen", "127.0.0.1:0", "--tls-certificate", flags[1]]);
    assert!(refused.contains("--tls-key"), "{refused}");
    fs::set_permissions(&site.server.key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let refused =
        fails(&[&["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"], &flags[..]].concat());
    assert!(refused.contains("chmod 600"), "{refused}");
}

#[test]
fn the_command_line_makes_an_authority_and_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let ca_dir = folder.path().join("ca");
    let ca = |arguments: &[&str]| succeeds(&[&["ca", "--ca-dir", text(&ca_dir)], arguments].concat());
    assert!(ca(&["init"]).contains("oasis ca issue server"));
    assert!(fails(&["ca", "init", "--ca-dir", text(&ca_dir)]).contains("exists already"));
    let said = ca(&["issue", "server", "localhost", "127.0.0.1"]);
    assert!(said.contains("[tls]") && said.contains("server-localhost.key"), "{said}");
    assert!(ca(&["issue", "node", "plant"]).contains("[node]"));
    assert!(ca(&["trust"]).contains("update-ca-certificates"));
    let refused = fails(&["ca", "issue", "server", "dac:7070", "--ca-dir", text(&ca_dir)]);
    assert!(refused.contains("without a port"), "{refused}");
    let refused = fails(&["ca", "trust", "--ca-dir", text(&folder.path().join("none"))]);
    assert!(refused.contains("oasis ca init"), "{refused}");
}
