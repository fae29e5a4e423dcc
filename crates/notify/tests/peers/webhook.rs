//! Webhooks over HTTPS.

use crate::harness::{
    destination, raised,
    receiver::{Answer, Receiver},
    secret,
};
use oasis_notify::{Configured, Notification, Scope, SendError};
use std::{
    net::TcpListener,
    process::Command,
    time::{Duration, Instant},
};

fn to(receiver: &Receiver, more: &str) -> Configured {
    let (url, ca) = (&receiver.url, &receiver.ca);
    destination(&format!(
        "[pager]\nkind = \"webhook\"\nurl = {url:?}\nca_file = {ca:?}\nprivate = true\n{more}"
    ))
}

fn send(to: &Configured, one: &Notification) -> Result<(), SendError> {
    to.destination.send(std::slice::from_ref(one))
}

#[test]
fn a_request_is_signed_and_has_the_key_of_the_notification() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::https(&["127.0.0.1"]);
    let pager = to(&receiver, &format!("secret_file = {:?}", secret(folder.path(), "hush\n")));
    send(&pager, &raised("pump", "key-1")).unwrap();
    let request = receiver.next();
    assert_eq!(request.header("idempotency-key"), "key-1");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.json()["instance"], "pump");
    // As the documentation shows it.
    let signed = [request.header("x-oasis-timestamp").as_bytes(), b".", &request.body].concat();
    let file = folder.path().join("signed");
    std::fs::write(&file, signed).unwrap();
    let openssl =
        Command::new("openssl").args(["dgst", "-sha256", "-hmac", "hush"]).arg(&file).output().unwrap();
    let digest = String::from_utf8(openssl.stdout).unwrap();
    let digest = digest.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(request.header("x-oasis-signature"), format!("sha256={digest}"));
}

#[test]
fn the_certificate_must_be_of_the_authority_and_of_the_name() {
    let receiver = Receiver::https(&["127.0.0.1"]);
    let other = Receiver::https(&["127.0.0.1"]);
    let (url, ca) = (&receiver.url, &other.ca);
    let wrong_ca =
        destination(&format!("[a]\nkind = \"webhook\"\nurl = {url:?}\nca_file = {ca:?}\nprivate = true"));
    let error = send(&wrong_ca, &raised("pump", "a")).unwrap_err();
    assert_eq!(error.scope, Scope::Place, "{error}");
    assert!(error.why.contains("certificate"), "{error}");

    let elsewhere = Receiver::https(&["dac.example.org"]);
    let error = send(&to(&elsewhere, ""), &raised("pump", "a")).unwrap_err();
    assert!(error.why.contains("certificate"), "{error}");
    assert!(receiver.try_next().is_none() && elsewhere.try_next().is_none());
    send(&to(&receiver, ""), &raised("pump", "b")).unwrap();
}

#[test]
fn a_private_address_is_refused_unless_it_is_allowed() {
    let receiver = Receiver::https(&["localhost", "127.0.0.1"]);
    for host in ["127.0.0.1", "localhost"] {
        let (url, ca) = (receiver.url.replace("127.0.0.1", host), &receiver.ca);
        let pager = destination(&format!("[a]\nkind = \"webhook\"\nurl = {url:?}\nca_file = {ca:?}"));
        let error = send(&pager, &raised("pump", "a")).unwrap_err();
        assert_eq!(error.scope, Scope::Place);
        assert!(error.why.contains("private = true"), "{error}");
    }
    assert!(receiver.try_next().is_none());
}

#[test]
fn an_answer_says_whether_another_attempt_is_worth_it() {
    let receiver = Receiver::https(&["127.0.0.1"]);
    let pager = to(&receiver, "");
    let answered = |status: u16, header: Option<(&'static str, &str)>| {
        receiver.answer(Answer::Status(status, header.map(|(name, value)| (name, value.to_owned()))));
        let error = send(&pager, &raised("pump", "a")).unwrap_err();
        receiver.next();
        error
    };
    assert_eq!(answered(400, None).scope, Scope::Final);
    assert_eq!(answered(408, None).scope, Scope::Message);
    assert_eq!(answered(500, None).scope, Scope::Message);
    let busy = answered(503, Some(("retry-after", "17")));
    assert_eq!((busy.scope, busy.retry_after), (Scope::Place, Some(Duration::from_secs(17))));
    assert_eq!(answered(429, None).scope, Scope::Place);
    let moved = answered(302, Some(("location", &receiver.url)));
    assert_eq!(moved.scope, Scope::Final);
    assert!(moved.why.contains("redirections are not followed"), "{moved}");
    assert!(receiver.try_next().is_none(), "nothing followed it");
}

#[test]
fn a_long_answer_is_not_read_to_its_end() {
    let receiver = Receiver::https(&["127.0.0.1"]);
    receiver.answer(Answer::Long(64 << 20));
    let error = send(&to(&receiver, ""), &raised("pump", "a")).unwrap_err();
    assert_eq!(error.scope, Scope::Final);
    assert!(error.why.len() <= 512, "{}", error.why.len());
}

#[test]
fn a_peer_that_refuses_or_hangs_is_given_up_in_time() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody =
        destination(&format!("[a]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/\"\nprivate = true"));
    assert_eq!(send(&nobody, &raised("pump", "a")).unwrap_err().scope, Scope::Place);

    let receiver = Receiver::https(&["127.0.0.1"]);
    receiver.answer(Answer::Never);
    let begun = Instant::now();
    let error = send(&to(&receiver, ""), &raised("pump", "a")).unwrap_err();
    assert_eq!(error.scope, Scope::Place);
    assert!(error.why.contains("timeout"), "{error}");
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
}
