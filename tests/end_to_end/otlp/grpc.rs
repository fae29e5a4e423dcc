//! OTLP over gRPC: the SDK of Python, calls that are refused, tokens, TLS.

use super::*;
use crate::tls::Site;

/// A DAC with an address for gRPC and an archive. Returns the address as well.
pub fn dac_with_archive(folder: &Path) -> (Oasis, String) {
    let listen = own_address();
    let options = options_with(folder, &format!("grpc_listen = {listen:?}\n"));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let dac = Oasis::dac(&options);
    assert_eq!(dac.fact("otlp_grpc"), listen);
    (dac, listen)
}

/// A DAC without an archive, with settings of the doors.
fn dac_with_doors(folder: &Path, listen: &str, doors: &str, more: &[&str]) -> Oasis {
    let config = folder.join("oasis.toml");
    let text = format!(
        "[otlp]\nenabled = true\ngrpc_listen = {listen:?}\n\n[rules]\nenabled = false\n\n[doors]\n{doors}\n"
    );
    fs::write(&config, text).unwrap();
    Oasis::dac(&[&["--config", config.to_str().unwrap()], more].concat())
}

/// Sends calls that are good or bad. Returns what they were answered.
fn calls(address: &str, more: &[&str]) -> Value {
    let script = repository().join("tests/end_to_end/otlp/calls.py");
    let done = python().arg(script).arg(address).args(more).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn the_sdk_of_python_finds_each_value_that_it_sent_over_grpc() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, address) = dac_with_archive(folder.path());
    let script = repository().join("tests/end_to_end/otlp/client.py");
    let done = python().arg(script).args([dac.http(), &address]).output().unwrap();
    let expected = expected(&done);
    // 20 rounds of 11 series, 20 log records, 40 spans.
    assert!(expected.len() >= 20 * 11 + 20 + 40, "{}", expected.len());
    compare(folder.path(), "otlp-shop-hall-1", &expected);
}

#[test]
fn each_call_has_the_status_that_otlp_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, address) = dac_with_archive(folder.path());
    eventually("the handler runs", || (super::send(&dac, "", b"{}").0 != 404).then_some(()));
    let expected = json!({
        "two points": "OK, 1 rejected",
        "metrics": "OK",
        "logs": "OK",
        "traces": "OK",
        "gzip": "OK",
        "other method": "UNIMPLEMENTED",
        "path of HTTP": "UNIMPLEMENTED",
        "other encoding": "UNIMPLEMENTED",
        "no message of OTLP": "INVALID_ARGUMENT",
        "too long": "RESOURCE_EXHAUSTED",
        "bomb": "RESOURCE_EXHAUSTED",
    });
    assert_eq!(calls(&address, &[]), expected);
    let refused = &get(&dac, "/api/v1/ledger")["doors"]["refused"];
    assert_eq!(refused["grpc_call"], 3, "{refused}");
    let (status, _) = super::send_once(&format!("http://{address}"), "", b"{}");
    assert_eq!(status, 400, "a program that sends over HTTP has the wrong address");
}

#[test]
fn calls_need_a_token_and_keep_to_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access");
    let access = access.to_str().unwrap();
    let run = |arguments: &[&str]| run_in_accounts(access, arguments);
    let listen = own_address();
    let limits = "rate_limit = 1\nrate_limit_burst = 30";
    let _dac = dac_with_doors(folder.path(), &listen, limits, &["--access", access, "--local", "token"]);
    run(&["role", "set", "sdk", "--allow", "write otlp-pump/*"]);
    let [writer, viewer] = [("sdk", "sdk"), ("viewer", "viewer")]
        .map(|(name, role)| run(&["token", "create", name, "--role", role]));
    let code = |token: &str| calls(&listen, &["--token", token])["two points"].clone();
    eventually("the DAC has read the tokens", || (code(&viewer) == "PERMISSION_DENIED").then_some(()));
    assert_eq!(code("wrong"), "UNAUTHENTICATED");
    assert_eq!(calls(&listen, &[])["metrics"], "UNAUTHENTICATED");
    assert_eq!(code(&writer), "OK, 1 rejected");
    let limited = calls(&listen, &["--token", &writer, "--rate"]);
    assert_eq!(limited, json!({ "code": "RESOURCE_EXHAUSTED", "has_retry_info": true }));
}

#[test]
fn calls_are_encrypted_where_the_page_is() {
    let site = Site::new();
    let listen = own_address();
    let config = site.folder.path().join("oasis.toml");
    fs::write(&config, format!("[otlp]\nenabled = true\ngrpc_listen = {listen:?}\n")).unwrap();
    let dac = site.dac(&["--config", config.to_str().unwrap()]);
    assert_eq!(dac.fact("otlp_grpc"), listen);
    assert_eq!(calls(&listen, &["--ca", &site.ca()])["logs"], "OK");
    assert_eq!(calls(&listen, &[])["logs"], "UNAVAILABLE", "without TLS");
}
