//! The OpenAPI document, and the headers of every response.

use crate::harness::{Oasis, TEST_TIMEOUT, eventually, get, ledger, oasis, post};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

/// Status line and headers, in lower case, and the body.
fn raw(dac: &Oasis, request_line: &str, headers: &str) -> (String, String) {
    raw_to(dac, request_line, dac.listen(), headers)
}

/// The same for a request to another host name.
fn raw_to(dac: &Oasis, request_line: &str, host: &str, headers: &str) -> (String, String) {
    let mut stream = TcpStream::connect(dac.listen()).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let request = format!("{request_line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

/// Status and body of a request with a body.
fn raw_with(dac: &Oasis, request_line: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(dac.listen()).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let request = format!(
        "{request_line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        dac.listen(),
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[test]
fn every_path_of_the_openapi_document_answers() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let rules = folder.path().join("gone.rules");
    let gone = "input p = \"*/processor\" : OASIS::System::LinuxProcessorProbe; alarm Gone { raise silent(p) for 9s; }";
    fs::write(&rules, gone).unwrap();
    let (archive, rules) = (&*format!("{archive}/archive"), rules.to_str().unwrap());
    let up =
        Oasis::up(&["--name", "plant", "--probe", "processor@20", "--archive", archive, "--rules", rules]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let lost = json!({"text": gone.replace("Gone", "Lost")}).to_string();
    assert_eq!(raw_with(&up, "PUT /api/v1/rules/files/lost.rules", &lost).0, 200);
    let document = get(&up, "/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let id = get(&up, "/api/v1/instances")["instances"][0]["id"].to_string();
    let paths = document["paths"].as_object().unwrap();
    for wanted in [
        "/healthz",
        "/api/v1/nodes",
        "/api/v1/instances",
        "/api/v1/instances/{id}",
        "/api/v1/ledger",
        "/api/v1/commands",
        "/api/v1/archive",
        "/api/v1/archive/instances",
        "/api/v1/test-runs",
        "/api/v1/annotations",
    ] {
        assert!(paths[wanted]["get"].is_object(), "{wanted}");
    }
    assert_eq!(raw_with(&up, "PUT /api/v1/layouts/shift%203", r#"{"panels":[]}"#).0, 204);
    let (_, run) = post(&up, "/api/v1/test-runs", &json!({"name": "soak"}));
    let run = run["id"].to_string();
    let (_, import) = post(&up, "/api/v1/imports", &json!({"name": "drive.csv"}));
    let import = import["id"].as_str().unwrap();
    let registry = get(&up, "/api/v1/registry");
    let schema = registry["types"][0]["schema"].as_str().unwrap();
    // Text doors need parameters. Some of them do not end: the document lists no JSON for these. A WebSocket answers 101.
    let is_json = |get: &Value| {
        let done = &get["responses"]["200"];
        let content = done["content"].as_object();
        done.is_object() && content.is_none_or(|content| content.contains_key("application/json"))
    };
    // Accounts are for tokens of followers alone.
    let is_read = |path: &&String| is_json(&paths[*path]["get"]) && **path != "/api/v1/accounts/copy";
    for path in paths.keys().filter(is_read) {
        let query = if path.contains("/samples") { "?node=plant&instance=processor" } else { "" };
        let filled = path.replace("/rules/files/{name}", "/rules/files/lost.rules");
        let filled = filled.replace("/imports/{id}", &format!("/imports/{import}"));
        let filled = filled.replace("{id}", &id).replace("{name}", "shift%203").replace("{test_run}", &run);
        let filled = filled.replace("{hash}", schema);
        assert!(get(&up, &format!("{filled}{query}")).is_object(), "{path}");
    }
    assert!(paths["/api/v1/commands"]["post"]["requestBody"].is_object());
}

#[test]
fn stored_instances_can_be_filtered_by_node_and_instance() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let up =
        Oasis::up(&["--name", "plant", "--probe", "processor@20", "--probe", "memory", "--archive", archive]);
    for instance in ["processor", "memory"] {
        ledger(&up, "plant", instance, "a sample", |ledger| ledger["received"] != 0);
    }
    assert_eq!(post(&up, "/api/v1/archive/flush", &json!({})).0, 200);
    let names = |query: &str| -> Vec<String> {
        let stored = get(&up, &format!("/api/v1/archive/instances{query}"));
        let instances = stored["instances"].as_array().unwrap();
        for known in instances {
            assert!(known["oldest_time"].as_u64() <= known["newest_time"].as_u64(), "{known}");
        }
        instances.iter().map(|known| known["instance"].as_str().unwrap().to_owned()).collect()
    };
    for both in ["", "?node=plant"] {
        let names = names(both);
        assert!(
            ["memory", "processor"].iter().all(|name| names.iter().any(|known| known == name)),
            "{names:?}"
        );
    }
    assert_eq!(names("?instance=memory"), ["memory"]);
    assert_eq!(names("?node=plant&instance=memory"), ["memory"]);
    for none in ["?node=plant&instance=nothing", "?node=nowhere&instance=memory", "?node=nowhere"] {
        assert!(names(none).is_empty(), "{none}");
    }
}

#[test]
fn the_ledger_can_be_filtered_by_node_instance_and_cause() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@20", "--probe", "memory"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let names = |query: &str| -> Vec<String> {
        let book = get(&up, &format!("/api/v1/ledger{query}"));
        let instances = book["instances"].as_array().unwrap();
        instances.iter().map(|known| known["instance"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("?node=plant&instance=processor"), ["processor"]);
    assert!(names("?node=plant").len() > 1);
    assert!(names("?node=other").is_empty());
    // No samples are missing.
    assert!(names("?cause=ring_full").is_empty());
    let (head, body) = raw(&up, "GET /api/v1/ledger?cause=bad%20luck", "");
    assert!(head.starts_with("http/1.1 400"), "{head}");
    assert!(body.contains("bad luck") && body.contains("ring_full"), "{body}");
}

#[test]
fn instances_come_in_pages() {
    let up =
        Oasis::up(&["--name", "plant", "--probe", "processor", "--probe", "memory", "--probe", "heartbeat"]);
    eventually("three instances", || (get(&up, "/api/v1/instances")["total"] == 3).then_some(()));
    let names = |answer: &Value| -> Vec<String> {
        let instances = answer["instances"].as_array().unwrap();
        instances.iter().map(|known| known["instance"].as_str().unwrap().to_owned()).collect()
    };
    let all = get(&up, "/api/v1/instances");
    assert_eq!(all["next"], Value::Null);
    let first = get(&up, "/api/v1/instances?limit=2");
    let next = first["next"].as_str().unwrap();
    let second = get(&up, &format!("/api/v1/instances?limit=2&after={next}"));
    assert_eq!([names(&first), names(&second)].concat(), names(&all));
    assert_eq!((&first["total"], &second["total"], &second["next"]), (&3.into(), &3.into(), &Value::Null));
    let rest = get(&up, &format!("/api/v1/instances?after={next}"));
    assert_eq!(names(&rest), names(&second), "without a limit all that follow");
    assert_eq!(get(&up, "/api/v1/instances?node=plant&instance=memory&limit=1000")["total"], 1);
    let (_, topic) = next.split_once(':').unwrap();
    for (after, word) in
        [("x", "next of an earlier answer"), (&format!("0000000000000001:{topic}"), "earlier run")]
    {
        let (head, body) = raw(&up, &format!("GET /api/v1/instances?limit=1&after={after}"), "");
        assert!(head.starts_with("http/1.1 400") && body.contains(word), "{head} {body}");
    }
}

#[test]
fn unknown_resources_and_invalid_requests_get_a_problem_document() {
    let dac = Oasis::dac(&[]);
    let asked = [
        ("/api/v1/instances/999", "404"),
        ("/api/v1/instances/first", "404"),
        ("/api/v1/nothing", "404"),
        ("/api/v1/instances?node=plant&node=other", "400"),
        ("/api/v1/ledger?cause=network&cause=ring_full", "400"),
    ];
    for (path, status) in asked {
        let (head, body) = raw(&dac, &format!("GET {path}"), "");
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{path}: {head}");
        assert!(head.contains("content-type: application/problem+json"), "{path}: {head}");
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
    }
}

#[test]
fn layouts_outlive_the_dac_in_their_directory_and_other_sites_cannot_change_them() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("oasis.toml");
    let kept = directory.path().join("layouts");
    fs::write(&config, format!("[doors]\nlayouts_dir = {kept:?}\n")).unwrap();
    let flags = ["--config", config.to_str().unwrap()];
    let layout = r#"{"oasis":"layout","panels":[]}"#;
    {
        let dac = Oasis::dac(&flags);
        assert_eq!(raw_with(&dac, "PUT /api/v1/layouts/night", layout).0, 204);
        assert_eq!(raw_with(&dac, "PUT /api/v1/layouts/..%2Fnight", layout).0, 400);
        assert_eq!(raw_with(&dac, "PUT /api/v1/layouts/list", "[1]").0, 422);
        let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(200_000));
        assert_eq!(raw_with(&dac, "PUT /api/v1/layouts/large", &large).0, 413);
        let (head, _) = raw(&dac, "DELETE /api/v1/layouts/night", "Origin: http://evil.example\r\n");
        assert!(head.starts_with("http/1.1 403"), "{head}");
    }
    let dac = Oasis::dac(&flags);
    let all = get(&dac, "/api/v1/layouts");
    assert_eq!(all["kept_in"], "disk");
    let listed = &all["layouts"][0];
    assert_eq!((&listed["name"], &listed["revision"]), (&json!("night"), &json!(1)));
    assert!(listed["by"].as_str().unwrap().starts_with("http 127.0.0.1:"), "{listed}");
    assert_eq!(get(&dac, "/api/v1/layouts/night")["oasis"], "layout");
    assert_eq!(raw_with(&dac, "DELETE /api/v1/layouts/night", "").0, 204);
    assert_eq!(raw_with(&dac, "DELETE /api/v1/layouts/night", "").0, 404);
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 0);
}

#[test]
fn layouts_outlive_a_dac_that_has_an_archive() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("archive");
    let flags = ["--archive", archive.to_str().unwrap()];
    let dac = Oasis::dac(&flags);
    assert_eq!(raw_with(&dac, "PUT /api/v1/layouts/night", r#"{"panels":[]}"#).0, 204);
    dac.kill();
    let dac = Oasis::dac(&flags);
    assert_eq!(get(&dac, "/api/v1/layouts")["layouts"][0]["name"], "night");
    let without = Oasis::dac(&[]);
    assert_eq!(get(&without, "/api/v1/layouts"), json!({"kept_in": "memory", "layouts": []}));
}

#[test]
fn a_place_that_can_have_no_layouts_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("archive");
    fs::write(directory.path().join("archive-layouts"), "a file").unwrap();
    let ports = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let output = oasis().arg("dac").args(ports).arg("--archive").arg(&archive).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("archive-layouts") && said.contains("doors.layouts_dir"), "{said}");
}

#[test]
fn a_name_that_resolves_here_by_an_attackers_will_is_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[doors]\nallowed_hosts = [\"dac.example\"]\n").unwrap();
    let dac = Oasis::dac(&["--config", config.to_str().unwrap()]);
    for path in ["/", "/healthz", "/metrics", "/openapi.json", "/api/v1/nodes", "/api/v1/samples", "/ws"] {
        let (head, body) = raw_to(&dac, &format!("GET {path}"), "evil.example:7070", "");
        assert!(head.starts_with("http/1.1 421"), "{path}: {head}");
        assert!(body.contains("doors.allowed_hosts"), "{path}: {body}");
        // The name may also stand in the request line.
        let line = format!("GET http://evil.example:7070{path}");
        assert!(raw(&dac, &line, "").0.starts_with("http/1.1 421"), "{path}");
    }
    for host in ["localhost:7070", "[::1]:7070"] {
        assert!(raw_to(&dac, "GET /api/v1/nodes", host, "").0.starts_with("http/1.1 200"), "{host}");
    }
    // These are answered, but may be a proxy's: whoever uses them has to sign in.
    for host in ["dac.example", "10.0.0.1"] {
        let (head, body) = raw_to(&dac, "GET /api/v1/nodes", host, "");
        assert!(
            head.starts_with("http/1.1 401") && head.contains("www-authenticate: bearer"),
            "{host}: {head}"
        );
        assert!(body.contains("sign_in_required"), "{host}: {body}");
        assert!(raw_to(&dac, "GET /healthz", host, "").0.starts_with("http/1.1 200"), "{host}");
    }
    assert_eq!(get(&dac, "/api/v1/ledger")["doors"]["refused"]["host"], 14);
}

#[test]
fn a_request_without_one_plain_host_is_a_bad_request() {
    let dac = Oasis::dac(&[]);
    let answer = |head: &str| {
        let mut stream = TcpStream::connect(dac.listen()).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    for path in ["/", "/healthz", "/api/v1/nodes", "/ws"] {
        for hosts in [
            "",
            "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n",
            "Host: evil.example@127.0.0.1:7270\r\n",
            "Host:\r\n",
        ] {
            let answer = answer(&format!("GET {path} HTTP/1.1\r\n{hosts}"));
            assert!(
                answer.starts_with("HTTP/1.1 400") && answer.contains("/problems/bad_host"),
                "{path}: {answer}"
            );
        }
    }
    assert!(answer("GET /api/v1/nodes HTTP/1.1\r\nHost: 127.0.0.1\r\n").starts_with("HTTP/1.1 200"));
    // HTTP/1.0 has no host: monitors get the health, and no caller is local.
    assert!(answer("GET /healthz HTTP/1.0\r\n").contains(" 200 "));
    assert!(answer("GET /api/v1/nodes HTTP/1.0\r\n").contains(" 401 "));
}

#[test]
fn alarms_are_there_without_any_setting() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("samples");
    for arguments in [&[][..], &["--archive", archive.to_str().unwrap()]] {
        let dac = Oasis::dac(arguments);
        assert_eq!(get(&dac, "/api/v1/alarms")["alarms"], json!([]));
        assert_eq!(get(&dac, "/api/v1/rules")["rules"], json!([]));
        assert_eq!(get(&dac, "/api/v1/nodes")["nodes"], json!([]), "no node of rules without rules");
    }
    assert!(folder.path().join("samples-rules/alarms.sqlite3").exists());
}

#[test]
fn a_page_of_another_site_cannot_cause_a_read() {
    let dac = Oasis::dac(&[]);
    for path in ["/api/v1/nodes", "/api/v1/samples?node=a&instance=b&max_hz=1", "/metrics"] {
        for site in ["cross-site", "same-site"] {
            let (head, _) = raw(&dac, &format!("GET {path}"), &format!("Sec-Fetch-Site: {site}\r\n"));
            assert!(head.starts_with("http/1.1 403"), "{path}: {head}");
        }
    }
    // A link to the page.
    assert!(raw(&dac, "GET /", "Sec-Fetch-Site: cross-site\r\n").0.starts_with("http/1.1 200"));
    let own = "Sec-Fetch-Site: same-origin\r\n";
    assert!(raw(&dac, "GET /api/v1/nodes", own).0.starts_with("http/1.1 200"));
}

#[test]
fn browsers_give_answers_to_pages_of_allowed_origins_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[doors]\nallowed_origins = [\"https://ops.example\"]\n").unwrap();
    let dac = Oasis::dac(&["--config", config.to_str().unwrap()]);
    let from = |origin: &str| format!("Origin: {origin}\r\nSec-Fetch-Site: cross-site\r\n");
    let (head, _) = raw(&dac, "GET /api/v1/nodes", &from("https://ops.example"));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("access-control-allow-origin: https://ops.example"), "{head}");
    assert!(head.contains("timing-allow-origin: https://ops.example"), "{head}");
    assert!(!head.contains("access-control-allow-credentials"), "{head}");
    // A browser asks before it sends JSON.
    let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
    let (head, _) = raw(&dac, "OPTIONS /api/v1/commands", &(from("https://ops.example") + asks));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("access-control-allow-methods: ") && head.contains("post"), "{head}");
    assert!(head.contains("access-control-allow-headers: content-type"), "{head}");
    for line in ["GET /api/v1/nodes", "OPTIONS /api/v1/commands"] {
        let (head, _) = raw(&dac, line, &(from("https://evil.example") + asks));
        assert!(head.starts_with("http/1.1 403"), "{line}: {head}");
        assert!(!head.contains("access-control-allow-origin"), "{line}: {head}");
    }
}

#[test]
fn every_answer_is_hardened() {
    let dac = Oasis::dac(&[]);
    for path in ["/", "/api/v1/nodes", "/nothing"] {
        let (head, _) = raw(&dac, &format!("GET {path}"), "");
        assert!(head.contains("content-security-policy: default-src 'self'"), "{path}: {head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{path}: {head}");
        assert!(!head.contains("allow-origin"), "{path}: {head}");
    }
}

#[test]
fn more_headers_than_any_client_needs_are_refused() {
    let dac = Oasis::dac(&[]);
    // Few bytes in one segment: with unread bytes the server would reset the connection and lose the response.
    let (head, _) = raw(&dac, "GET /", &"X-Filler: x\r\n".repeat(120));
    assert!(head.starts_with("http/1.1 431"), "{head}");
}
