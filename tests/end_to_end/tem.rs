//! The TEM: tools and nodes find DACs by name, whatever ends or restarts.

use crate::harness::{Oasis, eventually, eventually_shown, get, oasis, request};
use oasis_tls::{Authority, Lifetime};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A TEM, and a folder in which tools remember what it said.
struct Site {
    folder: TempDir,
    tem: Oasis,
}

impl Site {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), tem: Oasis::tem(&[]) }
    }

    fn dac(&self, name: &str, arguments: &[&str]) -> Oasis {
        Oasis::dac(&[&["--tem", self.tem.http(), "--dac-name", name], arguments].concat())
    }

    /// A tool that finds its DAC through the TEM.
    fn tool(&self, arguments: &[&str]) -> Output {
        tool_in(self.folder.path()).args(arguments).env("OASIS_TEM", self.tem.http()).output().unwrap()
    }

    /// Returns the output of a command.
    fn said(&self, arguments: &[&str]) -> String {
        let done = self.tool(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", errors(&done));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Why it fails.
    fn refused(&self, arguments: &[&str]) -> String {
        let done = self.tool(arguments);
        assert!(!done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stdout));
        errors(&done)
    }

    /// Waits until the TEM says this of a DAC.
    fn until(&self, name: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually_shown(what, || {
            let found = listed(&self.tem, name);
            if is_so(&found) { Ok(found) } else { Err(found) }
        })
    }

    fn until_live(&self, name: &str) -> Value {
        self.until(name, "a live DAC", |dac| dac["state"] == "live")
    }

    /// Waits until the TEM knows that a DAC has this node.
    fn until_has(&self, name: &str, node: &str) {
        self.until(name, "a node in the list", |dac| {
            dac["nodes"].as_array().is_some_and(|nodes| nodes.contains(&json!(node)))
        });
    }
}

fn tool_in(folder: &Path) -> Command {
    let mut command = oasis();
    command.env("XDG_STATE_HOME", folder);
    command
}

fn errors(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A DAC as a TEM lists it; null if it does not.
fn listed(tem: &Oasis, name: &str) -> Value {
    let list = get(tem, "/api/v1/tem");
    list["dacs"].as_array().unwrap().iter().find(|dac| dac["name"] == name).cloned().unwrap_or_default()
}

/// Returns the problem with its TEM in a DAC's health; the DAC itself is well.
fn problem(dac: &Oasis) -> Option<String> {
    let health = get(dac, "/api/v1/health");
    assert_eq!(health["status"], "ok", "{health}");
    let warnings = health["warnings"].as_array().unwrap();
    warnings
        .iter()
        .find(|warning| warning["part"] == "tem")
        .map(|warning| warning["reason"].as_str().unwrap().into())
}

#[test]
fn tools_find_the_dac_of_a_node() {
    let site = Site::new();
    let archive = tempfile::tempdir().unwrap();
    let (hall_1, hall_2) =
        (site.dac("hall-1", &["--archive", text(archive.path())]), site.dac("hall-2", &[]));
    let node = Oasis::node(hall_2.channel(), &["--probe", "heartbeat"]);
    site.until_live("hall-1");
    site.until_has("hall-2", "plant");

    assert!(site.said(&["tail", "plant/heartbeat", "--count", "2"]).contains("plant/heartbeat #"));
    assert!(site.said(&["command", "plant/heartbeat", "hertz", "20"]).contains("20 Hz"));
    let instances = site.said(&["list"]);
    assert!(instances.contains("plant/heartbeat") && instances.contains("hall-2"), "{instances}");
    let dacs = site.said(&["list", "--dacs"]);
    assert!(["hall-1", "hall-2", "live", hall_1.http()].iter().all(|word| dacs.contains(word)), "{dacs}");
    let tem = site.tem.http();
    assert!(site.said(&["sql", "--tem", tem, "--dac-name", "hall-1", "SELECT 7 AS seven"]).contains('7'));

    let unknown = site.refused(&["tail", "plant-7/heartbeat"]);
    assert!(unknown.contains("did you mean \"plant\"?"), "{unknown}");
    for tool in [&["tail", "plant/heartbeat"][..], &["command", "plant/heartbeat", "enable"]] {
        let at = |dac: &Oasis| site.refused(&[tool, &["--url", dac.http()]].concat());
        let (elsewhere, tem) = (at(&hall_1), at(&site.tem));
        let wanted = format!("hall-1 ({}) has no node \"plant\"", hall_1.http());
        assert!(elsewhere.contains(&wanted), "{elsewhere}");
        let wanted = format!("this is a TEM: use --tem {}", site.tem.http());
        assert!(tem.contains(&wanted), "{tem}");
    }
    let misspelt = site.refused(&["tail", "plant/hartbeat", "--url", hall_2.http()]);
    assert!(misspelt.contains("did you mean \"heartbeat\"?"), "{misspelt}");
    let several = site.refused(&["tail"]);
    assert!(several.contains("--dac-name (hall-1, hall-2)"), "{several}");
    let wrong_name = site.refused(&["tail", "--dac-name", "hall-3", "plant/heartbeat"]);
    assert!(wrong_name.contains("knows no DAC hall-3") && wrong_name.contains("hall-1"), "{wrong_name}");
    // Each DAC is a TEM too, and lists itself under the address that was used.
    let own = listed(&hall_2, "hall-2");
    assert_eq!((&own["is_tem"], &own["nodes"]), (&json!(true), &json!(["plant"])));
    drop(node);
    site.until("hall-2", "an offline node", |dac| {
        dac["offline_nodes"] == json!(["plant"]) && dac["nodes"] == json!([])
    });
}

/// A node of this name at one DAC.
fn node_at(dac: &Oasis, name: &str) -> Oasis {
    let log = tempfile::tempfile().unwrap();
    Oasis::node_started_by(oasis(), log, &["--name", name, "--dac", dac.channel(), "--probe", "heartbeat"])
}

/// Returns the warnings of health: parts and reasons.
fn warnings(dac: &Oasis) -> String {
    get(dac, "/api/v1/health")["warnings"].to_string()
}

#[test]
fn a_command_does_not_choose_between_two_nodes_of_one_name() {
    let site = Site::new();
    let (hall_1, hall_2) = (site.dac("hall-1", &[]), site.dac("hall-2", &[]));
    let relay = Oasis::relay_at("127.0.0.1:0", tempfile::tempfile().unwrap(), &["--tem", site.tem.http()]);
    let _first = node_at(&hall_1, "plant-7");
    site.until_has("hall-1", "plant-7");
    let sent = site.said(&["command", "plant-7/heartbeat", "hertz", "20"]);
    assert!(sent.contains("20 Hz, enabled (at hall-1)"), "{sent}");
    assert!(!warnings(&site.tem).contains("plant-7"));
    let second = node_at(&hall_2, "plant-7");
    site.until_has("hall-2", "plant-7");
    let refused = site.refused(&["command", "plant-7/heartbeat", "disable"]);
    assert!(
        refused.contains("plant-7 is connected to hall-1 and hall-2: name one with --dac-name"),
        "{refused}"
    );
    let sent = site.said(&["command", "plant-7/heartbeat", "disable", "--dac-name", "hall-2"]);
    assert!(sent.contains("disabled (at hall-2)"), "{sent}");
    let shown = |dac: &Oasis, what: &str| {
        eventually_shown("a warning", || {
            let warnings = warnings(dac);
            if warnings.contains(what) { Ok(()) } else { Err(json!(warnings)) }
        });
    };
    shown(&site.tem, "different nodes have this name, connected to hall-1 and hall-2");
    shown(&relay, "different nodes have the name plant-7");
    drop(second);
    let none = |dac: &Oasis| eventually("no warning", || (!warnings(dac).contains("plant-7")).then_some(()));
    none(&site.tem);
    none(&relay);
    assert!(site.said(&["command", "plant-7/heartbeat", "enable"]).contains("enabled (at hall-1)"));
}

#[test]
fn a_node_takes_the_dac_that_is_named_or_any_other() {
    let site = Site::new();
    let _dacs = [site.dac("hall-1", &[]), site.dac("hall-2", &[])];
    for dac in ["hall-1", "hall-2"] {
        site.until_live(dac);
    }
    let node = |name: &str, more: &[&str]| {
        let arguments = ["--name", name, "--tem", site.tem.http(), "--probe", "heartbeat"];
        let log = fs::File::create(site.folder.path().join(name)).unwrap();
        Oasis::node_started_by(oasis(), log, &[&arguments, more].concat())
    };
    let _named = node("mill", &["--dac-name", "hall-1"]);
    site.until_has("hall-1", "mill");
    let _free = node("oven", &[]);
    eventually("the other node", || {
        let has = |dac| {
            listed(&site.tem, dac)["nodes"].as_array().is_some_and(|nodes| nodes.contains(&json!("oven")))
        };
        ["hall-1", "hall-2"].into_iter().any(has).then_some(())
    });
}

#[test]
fn a_killed_dac_is_late_and_one_that_ends_is_gone() {
    let site = Site::new();
    let (hall_1, hall_2) = (site.dac("hall-1", &[]), site.dac("hall-2", &[]));
    let _node = Oasis::node(hall_1.channel(), &["--probe", "heartbeat"]);
    site.until_has("hall-1", "plant");
    site.until_live("hall-2");
    hall_1.kill();
    let late = site.until("hall-1", "a late DAC", |dac| dac["state"] == "late");
    assert!(late["silent_ms"].as_u64().unwrap() >= 1_500, "{late}");
    let refused = site.refused(&["tail", "plant/heartbeat"]);
    assert!(refused.contains("the DAC hall-1 is late") && refused.contains("no DAC at"), "{refused}");
    assert!(hall_2.stop().success());
    // Its farewell arrived before it ended.
    assert_eq!(listed(&site.tem, "hall-2"), Value::Null);
}

#[test]
fn everything_goes_on_without_a_tem_and_dacs_return_to_the_next_one() {
    let mut site = Site::new();
    let dac = site.dac("hall-1", &[]);
    let _node = Oasis::node(dac.channel(), &["--probe", "heartbeat"]);
    site.until_has("hall-1", "plant");
    assert!(site.said(&["list", "--dacs"]).contains("hall-1"));
    let (listen, url) = (site.tem.listen().to_owned(), site.tem.http().to_owned());
    site.tem = {
        let Site { tem, .. } = site;
        tem.kill();
        let reason = eventually("a warning in the health of the DAC", || problem(&dac));
        assert!(reason.contains("hall-1") && reason.contains(&url), "{reason}");
        // A tool remembers the list.
        let tail = ["tail", "plant/heartbeat", "--count", "1", "--tem", &url];
        let done = tool_in(site.folder.path()).args(tail).output().unwrap();
        assert!(done.status.success() && errors(&done).contains("using its list of"), "{}", errors(&done));
        let elsewhere = tempfile::tempdir().unwrap();
        let done = tool_in(elsewhere.path()).args(tail).output().unwrap();
        assert!(!done.status.success() && errors(&done).contains("does not answer"), "{}", errors(&done));
        Oasis::tem_again(&listen)
    };
    site.until_has("hall-1", "plant");
    eventually("no warning any more", || problem(&dac).is_none().then_some(()));
}

#[test]
fn a_name_belongs_to_the_dac_that_lives() {
    let site = Site::new();
    let mut dacs = vec![site.dac("hall-1", &[]), site.dac("hall-1", &[])];
    // On a busy machine the first one can be late and lose its name: either has it, and the other says so.
    let refused = eventually("one DAC of two with a warning", || {
        let problems: Vec<_> = dacs.iter().map(problem).collect();
        match &problems[..] {
            [None, Some(reason)] if reason.contains("belongs to") => Some((1, reason.clone())),
            [Some(reason), None] if reason.contains("belongs to") => Some((0, reason.clone())),
            _ => None,
        }
    });
    let (refused, reason) = (dacs.remove(refused.0), refused.1);
    for words in [refused.http(), dacs[0].http(), "--dac-name"] {
        assert!(reason.contains(words), "{reason}");
    }
    drop(dacs);
    site.until("hall-1", "the other DAC under the name", |dac| {
        dac["doors"] == refused.http() && dac["state"] == "live"
    });
    eventually("no warning any more", || problem(&refused).is_none().then_some(()));
}

/// A heartbeat that is accepted.
fn heartbeat() -> Value {
    json!({"epoch": "00000000000000aa", "beat": 1, "doors": "http://127.0.0.1:1", "channel": "127.0.0.1:2", "software": "x", "health": "ok",
        "names_revision": 1, "names": {"online": ["plant"]}})
}

#[test]
fn hostile_heartbeats_are_refused_and_take_bounded_room() {
    let tem = Oasis::tem(&[]);
    let beat = |name: &str, body: &Value| {
        let (status, answer) = request(&tem, "PUT", &format!("/api/v1/tem/dacs/{name}"), Some(body));
        (status, answer["type"].as_str().unwrap_or_default().trim_start_matches("/problems/").to_owned())
    };
    let with = |member: &str, value: Value| {
        let mut changed = heartbeat();
        changed[member] = value;
        changed
    };
    for (member, value) in [
        ("epoch", json!(7)),
        ("epoch", json!("x")),
        ("beat", json!(-1)),
        ("beat", json!(1e300)),
        ("doors", json!("javascript:alert(1)")),
        ("doors", json!("http://127.0.0.1:1\u{1b}[2J")),
        ("doors", json!(format!("http://{}:1", "x".repeat(300)))),
        ("channel", json!("127.0.0.1")),
        ("health", json!("splendid")),
        ("load", json!({"nodes": "many"})),
        ("names", json!({"online": [1]})),
        ("names", json!({"online": [""]})),
        ("names", json!({"online": ["x".repeat(1_025)]})),
    ] {
        assert_eq!(beat("x", &with(member, value.clone())).0, 422, "{member}: {value}");
    }
    assert_eq!(beat("x", &json!([])).0, 422);
    assert_eq!(beat("x%2F..%2Fy", &heartbeat()), (422, "bad_name".into()));
    let long: Vec<String> = (0..700).map(|number| format!("{number:01000}")).collect();
    assert_eq!(beat("x", &with("names", json!({"online": long}))), (413, "too_large".into()));
    assert_eq!(get(&tem, "/api/v1/tem")["dacs"], json!([]));

    let many: Vec<String> = (0..12_000).map(|number| format!("node-{number}")).collect();
    assert_eq!(beat("many", &with("names", json!({"online": many}))).0, 200);
    let listed = listed(&tem, "many");
    assert_eq!((listed["nodes"].as_array().unwrap().len(), &listed["left_out"]), (10_000, &json!(2_000)));
    assert_eq!(beat("many", &heartbeat()), (409, "old_heartbeat".into()));
    // On a busy machine a heartbeat can be too late: then the other one has the name.
    let mut beats = 2..;
    eventually("a heartbeat under the name of another DAC", || {
        let number = beats.next();
        let answers = ["00000000000000aa", "00000000000000bb"].map(|epoch| {
            let mut heartbeat = with("epoch", json!(epoch));
            heartbeat["beat"] = json!(number);
            beat("many", &heartbeat)
        });
        answers.contains(&(409, "name_taken".into())).then_some(())
    });
    for number in 1..1_000 {
        assert_eq!(beat(&format!("dac-{number}"), &heartbeat()).0, 200, "{number}");
    }
    // Late ones would make room.
    let full = beat("one-more", &heartbeat());
    assert!(full == (503, "tem_full".into()) || full.0 == 200, "{full:?}");
    assert!(get(&tem, "/api/v1/tem")["dacs"].as_array().unwrap().len() <= 1_000);
    assert_eq!(request(&tem, "DELETE", "/api/v1/tem/dacs/many?epoch=00000000000000cc&beat=9", None).0, 404);
    let (status, _) = request(&tem, "GET", "/api/v1/tem?after=nonsense", None);
    assert_eq!((status, get(&tem, "/readyz")["status"].as_str()), (400, Some("ok")));
}

#[test]
fn a_reader_of_changes_receives_only_these() {
    let tem = Oasis::tem(&[]);
    let beat = |name: &str| request(&tem, "PUT", &format!("/api/v1/tem/dacs/{name}"), Some(&heartbeat())).0;
    assert_eq!((beat("a"), beat("b")), (200, 200));
    let all = get(&tem, "/api/v1/tem");
    assert_eq!((&all["complete"], all["dacs"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(beat("c"), 200);
    let leave = "/api/v1/tem/dacs/a?epoch=00000000000000aa&beat=9";
    assert_eq!(request(&tem, "DELETE", leave, None).0, 204);
    let changes = get(&tem, &format!("/api/v1/tem?after={}", all["position"].as_str().unwrap()));
    let names: Vec<_> = changes["dacs"].as_array().unwrap().iter().map(|dac| dac["name"].clone()).collect();
    assert!(names.contains(&json!("c")) && !names.contains(&json!("a")), "{changes}");
    assert_eq!((&changes["complete"], &changes["removed"]), (&json!(false), &json!(["a"])));
    // A position of another process counts for nothing.
    assert_eq!(get(&tem, "/api/v1/tem?after=0000000000000001:7")["complete"], true);
}

/// A TEM with TLS that accepts no one without a token.
struct SecureSite {
    folder: TempDir,
    authority: Authority,
    tem: Oasis,
}

impl SecureSite {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(&folder.path().join("ca")).unwrap();
        let server = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(30)).unwrap();
        let access = folder.path().join("access");
        let tem = Oasis::tem(&[
            "--access",
            text(&access),
            "--local",
            "token",
            "--tls-certificate",
            text(&server.certificate),
            "--tls-key",
            text(&server.key),
        ]);
        Self { folder, authority, tem }
    }

    /// A file with a new token.
    fn token(&self, name: &str, role: &str, scope: &str) -> PathBuf {
        let file = self.folder.path().join(format!("{name}.token"));
        let access = self.folder.path().join("access");
        let create = ["token", "create", name, "--role", role, "--scope", scope, "--token-file", text(&file)];
        let done = oasis().args(create).args(["--access", text(&access)]).output().unwrap();
        assert!(done.status.success(), "{}", errors(&done));
        file
    }

    /// A DAC whose settings name TEM, authority and token.
    fn dac(&self, name: &str, token: &Path) -> Oasis {
        let config = self.folder.path().join(format!("{name}.toml"));
        let (url, ca, token) = (self.tem.http(), self.authority.certificate(), text(token));
        let ca = text(&ca);
        let settings =
            format!("[tem]\nurl = {url:?}\nca = {ca:?}\ntoken_file = {token:?}\nname = {name:?}\n");
        fs::write(&config, settings).unwrap();
        Oasis::dac(&["--config", text(&config)])
    }

    fn tool(&self, token: &Path, arguments: &[&str]) -> Output {
        let ca = self.authority.certificate();
        let mut command = tool_in(self.folder.path());
        command
            .args(arguments)
            .args(["--tem", self.tem.http(), "--ca", text(&ca)])
            .env("OASIS_TOKEN_FILE", token);
        command.output().unwrap()
    }

    /// The DACs that the owner of a token sees.
    fn seen(&self, token: &Path) -> Vec<Value> {
        let done = self.tool(token, &["list", "--dacs", "--format", "json"]);
        assert!(done.status.success(), "{}", errors(&done));
        String::from_utf8(done.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn a_token_lists_one_name_and_shows_what_its_owner_may_read() {
    let site = SecureSite::new();
    let registrar = site.token("hall-1", "registrar", "register hall-1/*");
    let (hall_1, intruder) = (site.dac("hall-1", &registrar), site.dac("hall-2", &registrar));
    let reason = eventually("a warning in the health of the intruder", || problem(&intruder));
    assert!(reason.contains("may not list a DAC under the name hall-2"), "{reason}");
    let _node = Oasis::node(hall_1.channel(), &["--probe", "heartbeat"]);

    let viewer = site.token("viewer", "viewer", "read */*");
    let everything = eventually("the node in the list", || {
        let seen = site.seen(&viewer);
        (seen.len() == 1 && seen[0]["nodes"] == json!(["plant"])).then_some(seen)
    });
    assert!(everything[0]["load"]["nodes"].is_u64(), "{everything:?}");
    let kiosk = site.token("kiosk", "viewer", "read plant/*");
    let part = site.seen(&kiosk);
    assert_eq!((&part[0]["nodes"], &part[0]["load"]), (&json!(["plant"]), &Value::Null));
    assert!(
        site.seen(&site.token("mill", "viewer", "read mill/*")).is_empty(),
        "nothing of what it may read is there"
    );
    let done = site.tool(&registrar, &["list", "--dacs"]);
    assert!(!done.status.success() && errors(&done).contains("no permission"), "{}", errors(&done));
    // The DAC has no TLS: the token stays here.
    let done = site.tool(&viewer, &["tail", "plant/heartbeat", "--count", "1"]);
    assert!(
        !done.status.success() && errors(&done).contains("would be sent in the clear"),
        "{}",
        errors(&done)
    );
    eventually("no warning of the DAC that may", || problem(&hall_1).is_none().then_some(()));
}

#[test]
fn a_dac_sends_no_token_in_the_clear() {
    let listen = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let done = oasis().arg("dac").args(listen).args(["--tem", "http://192.0.2.1:7070"]).output().unwrap();
    assert!(!done.status.success() && errors(&done).contains("without TLS"), "{}", errors(&done));
}
