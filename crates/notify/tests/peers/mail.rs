//! Mail to a real SMTP server.

use crate::harness::{cleared, destination, mail_server::MailServer, raised, secret};
use oasis_notify::{Configured, Scope};
use std::net::TcpListener;

fn to(server: &MailServer, mode: &str, more: &str) -> Configured {
    let (port, ca) = (server.port, &server.ca);
    let more =
        if more.contains("to = ") { more.to_owned() } else { format!("to = [\"ada@example.org\"]\n{more}") };
    destination(&format!(
        "[m]\nkind = \"mail\"\nserver = \"localhost\"\nport = {port}\ntls = {mode:?}\nca_file = {ca:?}\nfrom = \"plant@example.org\"\n{more}"
    ))
}

#[test]
fn a_mail_is_sent_over_starttls_and_tls_and_on_this_host_without() {
    for mode in ["starttls", "tls", "none"] {
        let Some(server) = MailServer::start(mode) else { return };
        let password = secret(server.folder.path(), "hush\n");
        let more = format!(
            "user = \"ada\"\npassword_file = {password:?}\nto = [\"ada@example.org\", \"bob@example.org\"]"
        );
        let mail = to(&server, mode, &more);
        mail.destination.send(&[raised("pump", "key-1")]).unwrap();
        let seen = server.next();
        assert_eq!(seen.facts["tls"], mode != "none", "{mode}");
        assert_eq!(seen.facts["user"], "ada");
        assert_eq!(seen.facts["to"], serde_json::json!(["ada@example.org", "bob@example.org"]));
        assert_eq!(seen.header("message-id").unwrap(), "<key-1@example.org>");
        assert_eq!(seen.header("subject").unwrap(), "[HIGH] Hot at plant/pump: Pump is hot");
    }
}

#[test]
fn a_clear_is_shown_below_its_raise() {
    let Some(server) = MailServer::start("none") else { return };
    let mail = to(&server, "none", "");
    let (up, mut down) = (raised("pump", "key-1"), cleared("pump", "key-2"));
    down.alarm.raised = up.alarm.raised;
    mail.destination.send(&[up]).unwrap();
    mail.destination.send(&[down]).unwrap();
    let (up, down) = (server.next(), server.next());
    assert_eq!(up.header("references"), down.header("references"));
    assert!(down.header("in-reply-to").is_some());
}

#[test]
fn the_certificate_must_be_of_the_authority_and_tls_is_never_left_out() {
    let (Some(server), Some(other)) = (MailServer::start("starttls"), MailServer::start("none")) else {
        return;
    };
    let (port, ca) = (server.port, &other.ca);
    let text = format!(
        "[m]\nkind = \"mail\"\nserver = \"localhost\"\nport = {port}\nca_file = {ca:?}\nfrom = \"a@b.org\"\nto = [\"a@b.org\"]"
    );
    let error = destination(&text).destination.send(&[raised("pump", "a")]).unwrap_err();
    assert_eq!(error.scope, Scope::Place);
    assert!(error.why.contains("certificate"), "{error}");
    // A server without STARTTLS gets nothing.
    let error = to(&other, "starttls", "").destination.send(&[raised("pump", "a")]).unwrap_err();
    assert_eq!(error.scope, Scope::Place, "{error}");
}

#[test]
fn a_wrong_password_is_no_reason_to_give_a_notification_up() {
    let Some(server) = MailServer::start("none") else { return };
    let password = secret(server.folder.path(), "wrong");
    let mail = to(&server, "none", &format!("user = \"ada\"\npassword_file = {password:?}"));
    let error = mail.destination.send(&[raised("pump", "a")]).unwrap_err();
    assert_eq!(error.scope, Scope::Place);
    assert!(error.why.contains("535") && !error.why.contains("wrong"), "{error}");
}

#[test]
fn one_receiver_that_is_gone_does_not_keep_the_mail_from_the_others() {
    let Some(server) = MailServer::start("none") else { return };
    let mail = to(&server, "none", "to = [\"nobody@example.org\", \"ada@example.org\"]");
    mail.destination.send(&[raised("pump", "a")]).unwrap();
    assert_eq!(server.next().facts["to"], serde_json::json!(["ada@example.org"]));
    let error = to(&server, "none", "to = [\"nobody@example.org\"]").destination.send(&[raised("pump", "a")]);
    assert_eq!(error.unwrap_err().scope, Scope::Final);
    let error = to(&server, "none", "to = [\"busy@example.org\"]").destination.send(&[raised("pump", "a")]);
    assert_eq!(error.unwrap_err().scope, Scope::Place);
}

#[test]
fn hostile_names_add_no_receivers_and_no_mails() {
    let Some(server) = MailServer::start("none") else { return };
    let mail = to(&server, "none", "");
    let long = "é\r\nBcc: mallory@example.org ".repeat(2_500);
    for name in [
        "a\r\nBcc: mallory@example.org",
        "\r\n.\r\nMAIL FROM:<x@y>\r\n",
        "\"<>\\",
        "=?utf-8?q?=0D=0A?=",
        &long,
    ] {
        let mut one = raised(name, "k");
        (one.alarm.key.rule, one.alarm.message) = (name.into(), Some(name.into()));
        mail.destination.send(&[one]).unwrap();
        let seen = server.next();
        assert_eq!(seen.facts["to"], serde_json::json!(["ada@example.org"]));
        assert!(seen.header("bcc").is_none(), "{}", seen.text);
        assert_eq!(seen.header("message-id").unwrap(), "<k@example.org>");
    }
    mail.destination.send(&[raised("last", "last")]).unwrap();
    assert_eq!(server.next().header("message-id").unwrap(), "<last@example.org>");
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mail = destination(&format!(
        "[m]\nkind = \"mail\"\nserver = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\nfrom = \"a@b.org\"\nto = [\"a@b.org\"]"
    ));
    let error = mail.destination.send(&[raised("pump", "a")]).unwrap_err();
    assert_eq!(error.scope, Scope::Place);
    assert_eq!(error.why, format!("127.0.0.1:{port}: no answer within 10 s"));
}
