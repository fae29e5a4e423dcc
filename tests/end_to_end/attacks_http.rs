//! Attacks by HTTP on a DAC with accounts: each is refused, and a reader beside it notices nothing.
//!
//! Others are beside what they attack: rebinding and pages of other sites in `api`, slow and large requests in `starvation` and `api`, noise in `malformed`,
//! wrong certificates in `tls`.

use crate::harness::{Oasis, TEST_TIMEOUT, eventually, oasis};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    process::Stdio,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

const PASSWORD: &str = "correct horse battery";
/// Makes a request that of a stranger.
const STRANGE: &str = "X-Forwarded-For: 10.1.2.3\r\n";
/// Programs that may read.
const TOKENS: [&str; 2] = ["kiosk", "other"];

/// Long enough to open a stream on a loaded machine.
const TOKEN_LIFETIME: Duration = Duration::from_secs(20);

/// A DAC at which `ada` is an operator, and `local` has no role, so that loopback stands for any address.
struct Site {
    folder: TempDir,
    dac: Oasis,
    tokens: [(&'static str, String); 2],
}

impl Site {
    /// With these lines in the section `[doors]`.
    fn new(doors: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("oasis.toml");
        let accounts = folder.path().join("access");
        fs::write(&config, format!("[access]\ndirectory = {accounts:?}\n[doors]\n{doors}\n")).unwrap();
        let run = |arguments: &[&str]| {
            Self::command(&accounts, arguments, PASSWORD);
        };
        run(&["user", "add", "ada", "--role", "operator", "--password-file", "-"]);
        run(&["user", "set-roles", "local"]);
        // Before the DAC starts: later ones are noticed within a second.
        let create =
            |name: &str| ["token", "create", name, "--role", "viewer", "--expires", "1h"].map(str::to_owned);
        let tokens = TOKENS.map(|name| {
            let create = create(name);
            let arguments: Vec<&str> = create.iter().map(String::as_str).collect();
            (name, Self::command(&accounts, &arguments, "").trim().to_owned())
        });
        let dac = Oasis::dac(&["--config", config.to_str().unwrap()]);
        Self { folder, dac, tokens }
    }

    fn command(accounts: &std::path::Path, arguments: &[&str], input: &str) -> String {
        let mut command = oasis();
        command.args(arguments).env("OASIS_ACCESS", accounts);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Fails if the command ends before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> String {
        Self::command(&self.folder.path().join("access"), arguments, "")
    }

    fn token(&self, name: &str) -> &str {
        &self.tokens.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Everything that comes back for these bytes until the DAC closes the connection.
    fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(self.dac.listen()).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Head and body of the answer to a request with these headers.
    fn request(&self, line: &str, headers: &str, body: &str) -> (u16, String, Value) {
        let (host, length) = (self.dac.listen(), body.len());
        let answer = self.send(&format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{line}: {answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), serde_json::from_str(body).unwrap_or_default())
    }

    fn status(&self, line: &str, headers: &str) -> u16 {
        self.request(line, headers, "").0
    }

    /// Cookie and CSRF token.
    fn sign_in(&self, headers: &str) -> (String, String) {
        let body = json!({"name": "ada", "password": PASSWORD}).to_string();
        let (status, head, session) = self.request("POST /api/v1/session", headers, &body);
        assert_eq!(status, 200, "{head}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        (cookie.split(';').next().unwrap().to_owned(), session["csrf_token"].as_str().unwrap().to_owned())
    }

    fn websocket(&self, token: &str) -> WebSocket<TcpStream> {
        let mut request = self.dac.url().into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("Sec-WebSocket-Protocol", "oasis.v1".parse().unwrap());
        headers.insert("Authorization", format!("Bearer {token}").parse().unwrap());
        let stream = TcpStream::connect(self.dac.listen()).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        tungstenite::client(request, stream).unwrap().0
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.run(&["audit-log", "show", "--format", "json", "-n", "1000"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Reads until the DAC closes the WebSocket, and returns the code.
fn close_code(socket: &mut WebSocket<TcpStream>) -> u16 {
    loop {
        match socket.read().unwrap() {
            Message::Close(frame) => return frame.unwrap().code.into(),
            _ => continue,
        }
    }
}

#[test]
fn a_cookie_alone_changes_nothing_whatever_a_page_of_another_site_sends() {
    let site = Site::new("");
    let (cookie, csrf) = site.sign_in("");
    let command = json!({"node": "plant", "instance": "pump", "command": "hertz", "hertz": 5}).to_string();
    let send = |headers: &str| {
        let headers = format!("Cookie: {cookie}\r\n{headers}");
        let (status, _, problem) = site.request("POST /api/v1/commands", &headers, &command);
        (status, problem["type"].as_str().unwrap_or_default().to_owned())
    };
    let refused = (403, "/problems/csrf".to_owned());
    assert_eq!(send(""), refused);
    // A form of another site can send these without asking.
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        assert_eq!(send(&format!("Content-Type: {media}\r\n")), refused, "{media}");
    }
    assert_eq!(send("X-CSRF-Token: \r\n"), refused);
    assert_eq!(send(&format!("X-CSRF-Token: {}x\r\n", &csrf[1..])), refused);
    // Even with the token a page of another origin is refused.
    let with_token = format!("X-CSRF-Token: {csrf}\r\nOrigin: https://evil.example\r\n");
    assert_eq!(send(&with_token), (403, "/problems/origin".into()));
    // Its own page gets as far as the command, whose node does not exist.
    assert_eq!(send(&format!("X-CSRF-Token: {csrf}\r\n")).0, 404);
    let records = site.records();
    let commands = records.iter().filter(|record| record["action"] == "command:hertz");
    assert_eq!(commands.count(), 2, "one command was begun, and failed: {records:?}");
    let refused = |result: &str| {
        let of_ada = records.iter().filter(|record| record["principal"] == "person:ada");
        let requests = of_ada.filter(|record| record["target"] == "POST /api/v1/commands");
        requests.filter(|record| record["result"].as_str().unwrap().starts_with(result)).count()
    };
    assert_eq!((refused("forbidden (csrf): "), refused("forbidden (origin): ")), (6, 1), "{records:?}");
}

#[test]
fn a_page_of_another_site_opens_no_websocket_with_the_cookie_of_its_visitor() {
    let site = Site::new("");
    let (cookie, _) = site.sign_in("");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: oasis.v1\r\n";
    for more in ["Origin: https://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        let host = site.dac.listen();
        let answer = site
            .send(&format!("GET /ws HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{upgrade}{more}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 "), "{more}: {answer}");
    }
    let records = site.records();
    let refused = records.iter().filter(|record| record["target"] == "GET /ws");
    let of_origin = |record: &&Value| record["result"].as_str().unwrap().starts_with("forbidden (origin): ");
    assert_eq!(refused.filter(of_origin).count(), 3, "{records:?}");
}

#[test]
fn a_token_counts_in_its_header_alone() {
    let site = Site::new("");
    let token = site.token("kiosk");
    assert_eq!(site.status("GET /api/v1/nodes", &format!("Authorization: Bearer {token}\r\n")), 200);
    for line in [
        format!("GET /api/v1/nodes?token={token}"),
        format!("GET /api/v1/nodes?access_token={token}"),
        format!("GET /api/v1/nodes?authorization=Bearer%20{token}"),
    ] {
        assert_eq!(site.status(&line, STRANGE), 401, "{line}");
    }
    for header in [
        format!("Cookie: oasis-session={token}\r\n"),
        format!("X-API-Key: {token}\r\n"),
        format!("Authorization: Basic {token}\r\n"),
        format!("Authorization: {token}\r\n"),
        format!("Authorization: Bearer {}\r\n", &token[..token.len() - 1]),
        format!("Authorization: Bearer {token}x\r\n"),
    ] {
        assert_eq!(site.status("GET /api/v1/nodes", &format!("{header}{STRANGE}")), 401, "{header}");
    }
}

#[test]
fn streams_end_when_their_token_expires_or_is_revoked() {
    let site = Site::new("");
    let mut revoked = site.websocket(site.token("kiosk"));
    let mut kept = site.websocket(site.token("other"));
    let expires = Instant::now() + TOKEN_LIFETIME;
    let life = format!("{}s", TOKEN_LIFETIME.as_secs());
    let short = site.run(&["token", "create", "short", "--role", "viewer", "--expires", &life]);
    let header = format!("Authorization: Bearer {}\r\n", short.trim());
    eventually("the token is known", || (site.status("GET /api/v1/nodes", &header) == 200).then_some(()));
    let mut expired = site.websocket(short.trim());
    assert_eq!(close_code(&mut expired), 4401);
    let late = Instant::now().saturating_duration_since(expires);
    let start = Instant::now();
    site.run(&["token", "revoke", "kiosk"]);
    assert_eq!(close_code(&mut revoked), 4401);
    println!("ended {late:?} after expiry, {:?} after revocation", start.elapsed());
    // The victim beside them continues.
    kept.send(Message::text(r#"{"op": "watch", "id": 1}"#)).unwrap();
    assert!(kept.read().unwrap().is_text());
}

#[test]
fn a_reverse_proxy_makes_nobody_local() {
    let site = Site::new("");
    site.run(&["user", "set-roles", "local", "admin"]);
    // The file of accounts is read once a second.
    eventually("local may read", || (site.status("GET /api/v1/nodes", "") == 200).then_some(()));
    for header in [
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-For: ",
        "Forwarded: for=127.0.0.1",
        "Via: 1.1 proxy",
        "X-Real-IP: 127.0.0.1",
        "X-Forwarded-Host: localhost",
        "X-Forwarded-Proto: http",
    ] {
        assert_eq!(site.status("GET /api/v1/nodes", &format!("{header}\r\n")), 401, "{header}");
    }
    let renamed = site.send("GET /api/v1/nodes HTTP/1.1\r\nHost: 10.1.2.3\r\nConnection: close\r\n\r\n");
    assert!(renamed.starts_with("HTTP/1.1 401 "), "{renamed}");
}

#[test]
fn the_address_of_a_client_is_what_a_trusted_proxy_says_and_no_more() {
    let site = Site::new("trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/24\"]");
    let addresses = |forwarded: &str| {
        site.sign_in(&format!("X-Forwarded-For: {forwarded}\r\n"));
        let records = site.records();
        let last = records.iter().rev().find(|record| record["action"] == "sign-in").unwrap();
        last["address"].as_str().unwrap().to_owned()
    };
    assert_eq!(addresses("198.51.100.7"), "198.51.100.7");
    assert_eq!(addresses("198.51.100.8, 10.0.0.9"), "198.51.100.8", "through two proxies");
    assert_eq!(addresses("127.0.0.1, 198.51.100.9"), "198.51.100.9", "the client made the first one up");
    // A request from a trusted proxy is never local.
    site.run(&["user", "set-roles", "local", "admin"]);
    for header in ["", "X-Forwarded-For: 127.0.0.1\r\n", "X-Forwarded-For: ::1\r\n"] {
        assert_eq!(site.status("GET /api/v1/nodes", header), 401, "{header}");
    }
    // The proxy used TLS, so the cookie is for TLS alone.
    let body = json!({"name": "ada", "password": PASSWORD}).to_string();
    let https = "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n";
    let (_, head, _) = site.request("POST /api/v1/session", https, &body);
    assert!(head.contains("; Secure") && head.contains("strict-transport-security: max-age="), "{head}");
}

#[test]
fn a_program_that_asks_too_often_is_slowed_down_and_others_are_not() {
    let site = Site::new("rate_limit = 1\nrate_limit_burst = 5\nmax_connections_per_address = 0");
    let header = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let [greedy, other] = TOKENS.map(|name| header(site.token(name)));
    let refused = eventually("429", || {
        let (status, head, problem) = site.request("GET /api/v1/nodes", &greedy, "");
        (status == 429).then_some((head, problem))
    });
    assert!(refused.0.contains("retry-after: "), "{}", refused.0);
    assert_eq!(refused.1["type"], "/problems/rate_limit");
    assert_eq!(site.status("GET /api/v1/nodes", &other), 200);
    let (_, _, health) = site.request("GET /api/v1/health", &other, "");
    assert!(health["warnings"].to_string().contains("doors.rate_limit"), "{health}");
    let metrics =
        site.send(&format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{other}\r\n"));
    assert!(metrics.contains("oasis_doors_refused_total{code=\"rate_limit\"} "), "{metrics}");
    // Monitors are answered, whatever their address has asked for.
    for _ in 0..20 {
        assert_eq!(site.status("GET /healthz", ""), 200);
    }
}

#[test]
fn a_request_with_two_ends_hides_no_other_request() {
    let site = Site::new("");
    let hidden = "GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let host = "Host: localhost\r\n";
    let chunks = format!("0\r\n\r\n{hidden}");
    let length = chunks.len();
    for (name, head, body) in [
        ("both", format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), chunks.clone()),
        (
            "both, the other way",
            format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
            chunks.clone(),
        ),
        ("two lengths", format!("Content-Length: 0\r\nContent-Length: {}\r\n", hidden.len()), hidden.into()),
        ("a list of lengths", format!("Content-Length: 0, {}\r\n", hidden.len()), hidden.into()),
        ("a signed length", "Content-Length: +0\r\n".into(), hidden.into()),
        ("an unknown encoding", "Transfer-Encoding: xchunked\r\n".into(), chunks.clone()),
        ("chunked and not last", "Transfer-Encoding: chunked, identity\r\n".into(), chunks.clone()),
        ("a space before the colon", "Content-Length : 0\r\n".into(), hidden.into()),
        ("a folded line", "X: a\r\n b: c\r\nTransfer-Encoding: chunked\r\n".into(), chunks.clone()),
        ("a bad chunk", "Transfer-Encoding: chunked\r\n".into(), format!("zz\r\n{hidden}")),
    ] {
        let answer = site.send(&format!("POST /api/v1/session HTTP/1.1\r\n{host}{head}\r\n{body}"));
        let answers = answer.matches("HTTP/1.1 ").count();
        assert!(answers <= 1, "{name}: {answer}");
        assert!(!answer.contains("HTTP/1.1 200"), "{name}: {answer}");
    }
}

#[test]
fn secrets_that_others_can_read_are_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let fails = |arguments: &[&str], token_file: &str| {
        let done = oasis().args(arguments).env("OASIS_TOKEN_FILE", token_file).output().unwrap();
        assert!(!done.status.success(), "{arguments:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    let url = "[postgresql]\nurl = \"postgresql://ada:secret@127.0.0.1:1/plant\"\n";
    let config = write("with-password.toml", url, 0o644);
    let said = fails(&["dac", "--listen", "127.0.0.1:0", "--config", &config], "");
    assert!(said.contains(&format!("chmod 600 {config}")) && !said.contains("secret"), "{said}");
    #[cfg(feature = "postgresql")]
    {
        let password = write("password", "secret\n", 0o640);
        let text =
            format!("[postgresql]\nurl = \"host=127.0.0.1 dbname=plant\"\npassword_file = {password:?}\n");
        let config = write("with-file.toml", &text, 0o644);
        let said = fails(&["dac", "--listen", "127.0.0.1:0", "--config", &config], "");
        assert!(said.contains(&format!("chmod 600 {password}")), "{said}");
    }
    let token = write("token", "oasis_0", 0o604);
    let said = fails(&["list", "--url", "http://127.0.0.1:1"], &token);
    assert!(said.contains(&format!("chmod 600 {token}")), "{said}");
    // Without a password everybody may read it.
    let config = write("plain.toml", "[doors]\nrate_limit = 50\n", 0o644);
    drop(Oasis::dac(&["--config", &config]));
}

#[test]
fn datagrams_beyond_this_host_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[channel]\nudp = true\nlisten = \"0.0.0.0:0\"\n").unwrap();
    let done = oasis()
        .args(["dac", "--listen", "127.0.0.1:0", "--config", config.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("refusing to listen on 0.0.0.0:"), "{said}");
}
