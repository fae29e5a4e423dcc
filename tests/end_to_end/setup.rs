//! `oasis setup`, the entry point of the container image, and the guide that uses both, also with nginx in front.

use crate::harness::{Oasis, eventually, has_program, oasis, repository};
use serde_json::Value;
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder for `oasis setup`.
struct Site(TempDir);

impl Site {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("site").join(name)
    }

    /// Returns the output of `oasis setup`.
    fn set_up(&self, names: &[&str]) -> String {
        let any_port = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
        let (said, warned) = self.set_up_with(&[&any_port, names].concat());
        assert!(!warned.contains("WARNING"), "{warned}");
        said
    }

    /// Returns the output and the warnings with these arguments.
    fn set_up_with(&self, arguments: &[&str]) -> (String, String) {
        let site = self.0.path().join("site");
        let mut command = oasis();
        command.args(["setup", "--directory", text(&site)]).args(arguments);
        let done = command.output().unwrap();
        let warned = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{warned}");
        (String::from_utf8(done.stdout).unwrap(), warned)
    }

    /// All files with their content.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().join("site")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }

    /// The nodes that the owner of a token sees.
    fn list(&self, dac: &Oasis, token: &Path) -> (bool, String) {
        let url = dac.http().replace("127.0.0.1", "localhost");
        let ca = self.path("ca/ca.pem");
        let mut command = oasis();
        command.env("OASIS_TOKEN_FILE", token).args(["list", "--url", &url, "--ca", text(&ca)]);
        let done = command.output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    }
}

#[test]
fn a_site_is_set_up_once_and_stays_as_it_is() {
    let site = Site::new();
    let said = site.set_up(&["dac.example.org", "192.0.2.7"]);
    assert!(said.contains("admin.token") && said.contains("Next: oasis dac --config"), "{said}");
    let mode = |name: &str| fs::metadata(site.path(name)).unwrap().permissions().mode() & 0o777;
    for name in
        ["admin.token", "oasis.toml", "ca/ca.key", "ca/server-dac.example.org.key", "access/access.toml"]
    {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!((mode(""), mode("access")), (0o700, 0o700));
    let before = site.files();
    let again = site.set_up(&["dac.example.org"]);
    assert!(again.contains("as they were"), "{again}");
    assert!(site.files() == before, "a second run changes nothing");
    // Lost files are created again, but not accounts: the first token may have been revoked on purpose.
    fs::remove_file(site.path("oasis.toml")).unwrap();
    fs::remove_file(site.path("admin.token")).unwrap();
    site.set_up(&["dac.example.org"]);
    assert!(site.path("oasis.toml").exists() && !site.path("admin.token").exists());
    let certificate = site.path("ca/server-dac.example.org.pem");
    fs::remove_file(&certificate).unwrap();
    site.set_up(&["dac.example.org", "192.0.2.7"]);
    assert!(certificate.exists(), "the settings name it");
    let mut command = oasis();
    let refused =
        command.args(["setup", "--directory", text(site.0.path()), "https://dac"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("without a port"), "{refused:?}");
}

#[test]
fn several_setups_at_once_leave_one_site_that_works() {
    for _ in 0..5 {
        let site = Site::new();
        let setups: Vec<Child> = (0..4)
            .map(|_| {
                let mut command = oasis();
                command.args(["setup", "--directory", text(&site.0.path().join("site"))]);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut setup in setups {
            assert!(setup.wait().unwrap().success());
        }
        let authority = oasis_tls::Authority::open(&site.path("ca")).unwrap();
        authority.issue_server(&["localhost".to_owned()], oasis_tls::Lifetime::days(1)).unwrap();
    }
}

#[test]
fn a_later_setup_says_what_differs_from_the_one_before_and_changes_nothing() {
    let site = Site::new();
    site.set_up(&["dac.example.org"]);
    let before = site.files();
    let (said, warned) = site.set_up_with(&[
        "--listen",
        "0.0.0.0:8443",
        "--channel-listen",
        "0.0.0.0:8444",
        "gate.example.org",
        "dac.example.org",
        "192.0.2.9",
    ]);
    let ca = fs::canonicalize(site.path("ca")).unwrap();
    let issue = format!(
        "oasis ca issue server dac.example.org localhost 127.0.0.1 gate.example.org 192.0.2.9 --ca-dir {}",
        text(&ca)
    );
    for words in [
        "doors.listen is \"127.0.0.1:0\", and not \"0.0.0.0:8443\"",
        "channel.listen is \"127.0.0.1:0\", and not \"0.0.0.0:8444\"",
        "doors.allowed_hosts lacks \"gate.example.org\"",
        "server-dac.example.org.pem lacks gate.example.org, 192.0.2.9",
        &issue,
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    assert!(said.contains("--url https://dac.example.org:0 "), "what the DAC has: {said}");
    assert!(site.files() == before, "nothing is changed, and no other certificate is made");

    // The remedies end the warning.
    let config = site.path("oasis.toml");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        settings.replace("[\"dac.example.org\"]", "[\"dac.example.org\", \"gate.example.org\"]"),
    )
    .unwrap();
    let done = oasis().args(issue.split(' ').skip(1)).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    site.set_up(&["gate.example.org", "dac.example.org", "192.0.2.9"]);
    // Without names or addresses there is nothing to differ from.
    assert_eq!(site.set_up_with(&[]).1, "");
    // A site whose CA has its key elsewhere needs it only to issue.
    fs::rename(site.path("ca/ca.key"), site.0.path().join("ca.key")).unwrap();
    site.set_up(&["gate.example.org"]);
}

#[test]
fn a_site_serves_tls_to_users_with_different_rights() {
    let site = Site::new();
    site.set_up(&["localhost"]);
    let access = site.path("access");
    let run = |arguments: &[&str]| {
        let done = oasis().args(arguments).args(["--access", text(&access)]).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let token = site.path("watcher.token");
    run(&["role", "set", "watcher", "--allow", "read plant-7/*"]);
    run(&["token", "create", "watcher", "--role", "watcher", "--token-file", text(&token)]);
    let config = site.path("oasis.toml");
    let mut command = oasis();
    command.env("XDG_STATE_HOME", site.0.path());
    let dac = Oasis::start_as_written(command, &["dac", "--config", text(&config)]);
    let ca = site.path("ca/ca.pem");
    let url = dac.http().replace("127.0.0.1", "localhost");
    let node = |name: &str| {
        let (token, state) = (site.path(&format!("{name}.token")), site.path(name));
        run(&["node", "token", name, "--token-file", text(&token)]);
        let mut enroll = oasis();
        enroll.args(["node", "enroll", "--url", &url, "--ca", text(&ca), "--name", name]);
        let done = enroll.args(["--token-file", text(&token), "--state", text(&state)]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let more = ["--state", text(&state), "--probe", "memory@10"];
        Oasis::node_started_by(oasis(), fs::File::create(site.path("node.log")).unwrap(), &more)
    };
    let _nodes = [node("plant-7"), node("mill")];
    eventually("an administrator sees both nodes", || {
        let (_, seen) = site.list(&dac, &site.path("admin.token"));
        (seen.contains("plant-7") && seen.contains("mill")).then_some(())
    });
    let (_, seen) = site.list(&dac, &token);
    assert!(seen.contains("plant-7") && !seen.contains("mill"), "{seen}");
}

#[test]
fn the_entry_point_of_the_container_sets_up_its_volume_and_becomes_the_dac() {
    let site = Site::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_oasis"));
    let mut path = vec![binary.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let start = || {
        let mut command = Command::new(repository().join("packaging/container/entrypoint"));
        command
            .env("PATH", std::env::join_paths(&path).unwrap())
            .env("OASIS_DIRECTORY", site.path(""))
            .env("OASIS_NAMES", "dac.example.org,localhost")
            .env("OASIS_LOG", "error");
        // Ports of their own: the image has fixed ones.
        Oasis::start_as_written(command, &["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"])
    };
    let dac = start();
    assert!(dac.http().starts_with("https://"), "{}", dac.http());
    let (is_listed, said) = site.list(&dac, &site.path("admin.token"));
    assert!(is_listed, "{said}");
    let before = fs::read(site.path("admin.token")).unwrap();
    assert!(dac.stop().success(), "a signal reaches the DAC itself");
    let dac = start();
    assert!(site.list(&dac, &site.path("admin.token")).0, "the same token after a restart");
    assert_eq!(fs::read(site.path("admin.token")).unwrap(), before);
}

/// nginx with the settings of the guide.
struct Nginx {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Nginx {
    /// In front of a DAC, with a certificate for `localhost`.
    fn start(dac: &Oasis, site: &Site) -> Self {
        let guide = fs::read_to_string(repository().join("docs/guides/secure.md")).unwrap();
        let block = guide.split("```nginx\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        // Free now; as a rule no other process takes it before the server starts.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = [
            ("listen 443 ssl", format!("listen 127.0.0.1:{port} ssl")),
            ("/etc/oasis/server.pem", text(&site.path("ca/server-localhost.pem")).into()),
            ("/etc/oasis/server.key", text(&site.path("ca/server-localhost.key")).into()),
            ("http://127.0.0.1:7070", dac.http().to_owned()),
            ("dac.example.org", "localhost".into()),
        ]
        .iter()
        .fold(block.to_owned(), |server, (from, to)| {
            assert!(server.contains(from), "{from}");
            server.replace(from, to)
        });
        let folder = tempfile::tempdir().unwrap();
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {}/{kind};", folder.path().display()))
            .concat();
        let log = folder.path().join("error.log");
        let config = format!(
            "daemon off; master_process off; pid {0}/pid; error_log {1};\nevents {{}}\nhttp {{ access_log off; {paths}\n{server} }}\n",
            folder.path().display(),
            log.display()
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, config).unwrap();
        let mut command = Command::new("nginx");
        command.args(["-p", text(folder.path()), "-c", text(&file), "-e", text(&log)]);
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let nginx = Self { child, folder, port };
        eventually("nginx listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
        nginx
    }

    fn curl(&self, ca: &Path, arguments: &[&str], path: &str) -> (u16, String) {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--include", "--max-time", "60", "--cacert", text(ca)]);
        let done =
            command.args(arguments).arg(format!("https://localhost:{}{path}", self.port)).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let status = said.split(' ').nth(1).and_then(|status| status.parse().ok());
        let log = || fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default();
        (status.unwrap_or_else(|| panic!("{done:?}: {}", log())), said)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn nginx_as_the_guide_sets_it_up_makes_nobody_local() {
    if !has_program("nginx", "nginx-light") || !has_program("curl", "curl") {
        return;
    }
    let site = Site::new();
    site.set_up(&["localhost"]);
    let config = site.0.path().join("behind.toml");
    let access = site.path("access");
    let settings = format!("[doors]\ntrusted_proxies = [\"127.0.0.2\"]\n[access]\ndirectory = {access:?}\n");
    fs::write(&config, settings).unwrap();
    let dac = Oasis::dac(&["--config", text(&config)]);
    let nginx = Nginx::start(&dac, &site);
    let ca = site.path("ca/ca.pem");
    let token = fs::read_to_string(site.path("admin.token")).unwrap();
    let token = format!("Authorization: Bearer {}", token.trim());
    let get = |arguments: &[&str]| nginx.curl(&ca, arguments, "/api/v1/nodes");
    for spoofed in ["Accept: */*", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-IP: ::1"]
    {
        assert_eq!(get(&["--header", spoofed]).0, 401, "{spoofed}");
    }
    let (status, said) = get(&["--header", &token]);
    assert_eq!(status, 200, "{said}");
    assert!(said.to_ascii_lowercase().contains("strict-transport-security: max-age="), "{said}");
    // WebSockets pass: curl does not speak them, but sees the answer to the handshake.
    let upgrade = [
        "--http1.1",
        "--header",
        "Connection: Upgrade",
        "--header",
        "Upgrade: websocket",
        "--header",
        "Sec-WebSocket-Version: 13",
        "--header",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "--header",
        "Sec-WebSocket-Protocol: oasis.v1",
        "--max-time",
        "5",
        "--header",
        &token,
    ];
    assert_eq!(nginx.curl(&ca, &upgrade, "/ws").0, 101);
    // A sign-in is recorded with the address of the client of the proxy, not of the proxy.
    let wrong = ["--interface", "127.0.0.9", "--data", r#"{"name": "ada", "password": "wrong"}"#];
    assert_eq!(nginx.curl(&ca, &wrong, "/api/v1/session").0, 401);
    let show = ["audit-log", "show", "--format", "json", "--action", "sign-in", "--access", text(&access)];
    let shown = String::from_utf8(oasis().args(show).output().unwrap().stdout).unwrap();
    let record: Value = serde_json::from_str(shown.lines().last().unwrap()).unwrap();
    assert_eq!(record["address"], "127.0.0.9", "{record}");
    // Programs on this host are still local.
    assert!(oasis().args(["list", "--url", dac.http()]).output().unwrap().status.success());
}
