//! Certificates of an authority, and their use by servers and clients.

use super::*;
use crate::{ClientFiles, ServerFiles, ServerTls, explain};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ServerConfig, ServerConnection};
use tempfile::TempDir;

fn authority() -> (TempDir, Authority) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(&folder.path().join("ca")).unwrap();
    (folder, authority)
}

fn server(authority: &Authority, name: &str, lifetime: Lifetime, node_ca: Option<PathBuf>) -> ServerTls {
    let Issued { certificate, key } = authority.issue_server(&[name.into()], lifetime).unwrap();
    ServerTls::load(ServerFiles { certificate, key, node_ca }).unwrap()
}

fn client(authority: &Authority, own: Option<Issued>) -> Arc<ClientConfig> {
    let (certificate, key) = own.map(|issued| (issued.certificate, issued.key)).unzip();
    ClientFiles { ca: Some(authority.certificate()), certificate, key }.load().unwrap()
}

/// The outcome of a handshake and a few bytes, and which end found an error.
fn talk(client: Arc<ClientConfig>, server: Arc<ServerConfig>, name: &str) -> Result<(), rustls::Error> {
    handshake(client, server, name).map(drop)
}

/// The kind of a handshake that succeeds.
fn shake(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> HandshakeKind {
    handshake(client.clone(), server.clone(), "dac").unwrap()
}

fn handshake(
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    name: &str,
) -> Result<HandshakeKind, rustls::Error> {
    let mut client = ClientConnection::new(client, ServerName::try_from(name.to_owned()).unwrap()).unwrap();
    let mut server = ServerConnection::new(server).unwrap();
    for _ in 0..10 {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        let mut rest = bytes.as_slice();
        let mut outcome = Ok(());
        while !rest.is_empty() && outcome.is_ok() {
            server.read_tls(&mut rest).unwrap();
            outcome = server.process_new_packets().map(drop);
        }
        let mut bytes = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut bytes).unwrap();
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets()?;
        }
        outcome?;
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    Ok(server.handshake_kind().unwrap())
}

fn year() -> Lifetime {
    Lifetime::days(397)
}

#[test]
fn a_client_that_trusts_the_authority_accepts_its_servers_by_name_and_address() {
    let (_folder, authority) = authority();
    let names = ["dac.example.org".to_owned(), "192.0.2.7".into(), "::1".into(), "*.plant.example".into()];
    let Issued { certificate, key } = authority.issue_server(&names, year()).unwrap();
    let server = ServerTls::load(ServerFiles { certificate, key, node_ca: None }).unwrap();
    for name in ["dac.example.org", "192.0.2.7", "::1", "a.plant.example"] {
        talk(client(&authority, None), server.doors(), name).unwrap();
    }
    let refused = talk(client(&authority, None), server.doors(), "other.example").unwrap_err();
    assert!(explain(&refused).contains("for other names"), "{refused}");
}

#[test]
fn a_server_of_another_authority_or_of_the_past_is_refused() {
    let ((_folder, authority), (_another, stranger)) = (authority(), self::authority());
    let good = server(&authority, "dac", year(), None);
    let refused = talk(client(&stranger, None), good.doors(), "dac").unwrap_err();
    assert!(explain(&refused).contains("unknown authority"), "{refused}");
    let hour = Duration::from_secs(3_600);
    let past = Lifetime { begins: SystemTime::now() - 3 * hour, ends: SystemTime::now() - hour };
    let old = server(&authority, "dac", past, None);
    let refused = talk(client(&authority, None), old.doors(), "dac").unwrap_err();
    assert!(explain(&refused).contains("has expired"), "{refused}");
    assert!(old.facts().unwrap().ends < SystemTime::now());
}

#[test]
fn a_node_needs_a_certificate_of_the_right_authority_if_the_server_says_so() {
    let ((_folder, authority), (_another, stranger)) = (authority(), self::authority());
    let server = server(&authority, "dac", year(), Some(authority.certificate()));
    let node = authority.issue_node("plant-7", year()).unwrap();
    talk(client(&authority, Some(node)), server.channel(), "dac").unwrap();
    talk(client(&authority, None), server.channel(), "dac").unwrap_err();
    let foreign = stranger.issue_node("plant-7", year()).unwrap();
    talk(client(&authority, Some(foreign)), server.channel(), "dac").unwrap_err();
    // Browsers need none.
    talk(client(&authority, None), server.doors(), "dac").unwrap();
    // A server's certificate is none of a node.
    let other = authority.issue_server(&["other".into()], year()).unwrap();
    talk(client(&authority, Some(other)), server.channel(), "dac").unwrap_err();
}

#[test]
fn the_servers_own_process_needs_no_name_and_no_authority() {
    let ((_folder, authority), (_another, stranger)) = (authority(), self::authority());
    let own = server(&authority, "dac", year(), Some(stranger.certificate()));
    talk(own.itself(), own.channel(), "127.0.0.1").unwrap();
    let other = server(&stranger, "dac", year(), None);
    talk(own.itself(), other.channel(), "dac").unwrap_err();
    talk(other.itself(), own.channel(), "dac").unwrap_err();
}

#[test]
fn clients_resume_their_sessions_however_many_there_are_and_nodes_never_do() {
    let (_folder, authority) = authority();
    let server = server(&authority, "dac", year(), None);
    let clients: Vec<_> = (0..300).map(|_| client(&authority, None)).collect();
    for client in &clients {
        assert_eq!(shake(client, &server.doors()), HandshakeKind::Full);
    }
    for client in &clients {
        assert_eq!(shake(client, &server.doors()), HandshakeKind::Resumed);
    }
    let node = client(&authority, None);
    for _ in 0..2 {
        assert_eq!(shake(&node, &server.channel()), HandshakeKind::Full);
    }
}

#[test]
fn changed_files_are_loaded_again_and_bad_ones_change_nothing() {
    let (_folder, authority) = authority();
    let Issued { certificate, key } = authority.issue_server(&["old".into()], year()).unwrap();
    let server =
        ServerTls::load(ServerFiles { certificate: certificate.clone(), key: key.clone(), node_ca: None })
            .unwrap();
    assert!(!server.reload_if_changed().unwrap());
    let new = authority.issue_server(&["new".into()], year()).unwrap();
    fs::rename(&new.certificate, &certificate).unwrap();
    let error = server.reload_if_changed().unwrap_err().to_string();
    assert!(error.contains("does not belong"), "{error}");
    assert!(!server.reload_if_changed().unwrap(), "a bad pair is reported once");
    talk(client(&authority, None), server.doors(), "old").unwrap();
    fs::rename(&new.key, &key).unwrap();
    assert!(server.reload_if_changed().unwrap());
    talk(client(&authority, None), server.doors(), "new").unwrap();
}

#[test]
fn keys_that_others_can_read_are_refused_and_new_ones_cannot_be_read() {
    let (_folder, authority) = authority();
    let issued = authority.issue_node("plant-7", year()).unwrap();
    let ca_key = authority.folder.join("ca.key");
    for key in [&issued.key, &ca_key] {
        assert_eq!(fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(key, Permissions::from_mode(0o644)).unwrap();
    }
    let error = Authority::open(&authority.folder).unwrap_err().to_string();
    assert!(error.contains("chmod 600") && error.contains("ca.key"), "{error}");
    let files = ClientFiles {
        ca: Some(authority.certificate()),
        certificate: Some(issued.certificate),
        key: Some(issued.key),
    };
    assert!(files.load().unwrap_err().to_string().contains("chmod 600"));
}

#[test]
fn an_authority_opens_again_and_is_never_replaced() {
    let ((_folder, first), (_another, second)) = (authority(), self::authority());
    let again = Authority::open(&first.folder).unwrap();
    talk(client(&first, None), server(&again, "dac", year(), None).doors(), "dac").unwrap();
    assert!(Authority::create(&first.folder).unwrap_err().to_string().contains("exists already"));
    fs::copy(second.certificate(), first.certificate()).unwrap();
    assert!(Authority::open(&first.folder).unwrap_err().to_string().contains("does not belong"));
}

#[test]
fn names_that_no_host_or_file_can_have_are_refused() {
    let (_folder, authority) = authority();
    for name in ["", "a b", "dac:7070", "http://dac", "*", "-"] {
        assert!(authority.issue_server(&[name.into()], year()).is_err(), "{name}");
    }
    for name in ["", "../ca", "a/b", &"x".repeat(65)] {
        assert!(authority.issue_node(name, year()).is_err(), "{name}");
    }
    assert!(authority.issue_server(&[], year()).is_err());
}
