//! Clients of TLS that differ: versions, names and protocols that they offer, how they end, and what they break.

use crate::{
    harness::{Oasis, SetOnDrop, TEST_TIMEOUT},
    tls::{Encrypted, Site, address, logs, node, read_samples, subscribe, year},
};
use oasis_tls::ClientFiles;
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, RootCertStore, StreamOwned,
    SupportedProtocolVersion,
    crypto::ring::default_provider,
    version::{TLS12, TLS13},
};
use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

/// A client of one version that offers these protocols.
fn client(site: &Site, version: &'static SupportedProtocolVersion, protocols: &[&[u8]]) -> Arc<ClientConfig> {
    let files = ClientFiles { ca: Some(site.authority.certificate()), ..ClientFiles::default() };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(files.authorities().unwrap());
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|&protocol| protocol.into()).collect();
    Arc::new(config)
}

fn connect(dac: &Oasis, config: &Arc<ClientConfig>, name: &'static str) -> Encrypted {
    let session = ClientConnection::new(config.clone(), name.try_into().unwrap()).unwrap();
    let socket = TcpStream::connect(address(dac)).unwrap();
    socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    StreamOwned::new(session, socket)
}

/// Requests `/readyz` and returns the whole answer; the error is that of the handshake.
fn request_readiness(stream: &mut Encrypted) -> std::io::Result<String> {
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn both_versions_and_all_names_of_the_certificate_are_served_with_http_1_1_and_sessions_are_resumed() {
    let site = Site::new();
    let dac = site.dac(&[]);
    for (version, number) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
        let config = client(&site, version, &[b"h2", b"http/1.1"]);
        for (name, kind) in [
            ("localhost", HandshakeKind::Full),
            ("localhost", HandshakeKind::Resumed),
            ("127.0.0.1", HandshakeKind::Full),
        ] {
            let mut stream = connect(&dac, &config, name);
            // The end of the stream is that of TLS: a connection that is cut would be an error.
            assert!(request_readiness(&mut stream).unwrap().starts_with("HTTP/1.1 200"), "{number:?} {name}");
            assert_eq!(stream.conn.protocol_version(), Some(number));
            assert_eq!(stream.conn.alpn_protocol(), Some(b"http/1.1".as_slice()));
            assert_eq!(stream.conn.handshake_kind(), Some(kind), "{number:?} {name}");
        }
        let refused =
            request_readiness(&mut connect(&dac, &config, "other.example")).unwrap_err().to_string();
        assert!(refused.contains("not valid for name"), "{refused}");
        let refused = request_readiness(&mut connect(&dac, &client(&site, version, &[b"h2"]), "localhost"))
            .unwrap_err();
        assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
    }
}

#[test]
fn a_client_that_renegotiates_is_refused_and_one_of_tls_1_1_too() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let ca = site.ca();
    let openssl = |more: &[&str], said: &[u8]| {
        let mut command = Command::new("openssl");
        command.args(["s_client", "-connect", address(&dac), "-CAfile", &ca]).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("openssl is needed");
        child.stdin.take().unwrap().write_all(said).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (succeeds, said) = openssl(&["-tls1_2"], b"Q\n");
    assert!(succeeds && said.contains("Verify return code: 0"), "{said}");
    let (succeeds, said) = openssl(&["-tls1_2"], b"R\n");
    assert!(!succeeds && said.contains("no renegotiation"), "{said}");
    let (succeeds, said) = openssl(&["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], b"Q\n");
    assert!(!succeeds && said.contains("alert"), "{said}");
    let mut stream = connect(&dac, &client(&site, &TLS13, &[]), "localhost");
    assert!(request_readiness(&mut stream).unwrap().starts_with("HTTP/1.1 200"));
}

#[test]
fn a_websocket_that_breaks_or_leaves_ends_alone() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let log = site.folder.path().join("node.log");
    let ca = site.ca();
    let _node = node(dac.channel(), &log, &["--ca", &ca]);
    logs(&log, "connected to the DAC");
    let [mut other, mut broken, mut plain, mut leaving] = [(); 4].map(|()| {
        let mut socket = site.websocket(&dac);
        subscribe(&mut socket);
        read_samples(&mut socket, &mut None, 1);
        socket
    });
    let mut next = None;
    read_samples(&mut other, &mut next, 20);
    // A record that cannot be decrypted, and bytes that are no record at all.
    broken.get_mut().sock.write_all(&[23, 3, 3, 0, 20]).unwrap();
    broken.get_mut().sock.write_all(&[7; 20]).unwrap();
    plain.get_mut().sock.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    for (socket, alert) in [(&mut broken, "BadRecordMac"), (&mut plain, "")] {
        let error = loop {
            if let Err(error) = socket.read() {
                break error.to_string();
            }
        };
        assert!(error.contains(alert), "{error}");
    }
    // A client that ends its half: the server ends the other, and cuts nothing.
    leaving.get_mut().conn.send_close_notify();
    leaving.get_mut().flush().unwrap();
    let mut rest = Vec::new();
    leaving.get_mut().read_to_end(&mut rest).unwrap();
    read_samples(&mut other, &mut next, 50);
}

#[test]
fn a_certificate_is_exchanged_while_clients_come_and_go_and_none_of_them_fails() {
    let site = Site::new();
    let dac = site.dac(&[]);
    let log = site.folder.path().join("node.log");
    let ca = site.ca();
    let _node = node(dac.channel(), &log, &["--ca", &ca]);
    logs(&log, "connected to the DAC");
    let mut reader = site.websocket(&dac);
    subscribe(&mut reader);
    let mut next = None;
    let config = client(&site, &TLS13, &[]);
    let (is_over, served) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let answer = request_readiness(&mut connect(&dac, &config, "localhost")).unwrap();
                    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _over = SetOnDrop(&is_over);
        for exchange in 1..=2 {
            site.authority.issue_server(&["127.0.0.1".into(), "localhost".into()], year()).unwrap();
            loop {
                read_samples(&mut reader, &mut next, 20);
                if site.log().matches("TLS certificate loaded again").count() >= exchange {
                    break;
                }
            }
        }
    });
    assert!(served.load(Ordering::Relaxed) > 10, "{served:?}");
    read_samples(&mut reader, &mut next, 20);
    assert!(!site.log().contains("TLS handshake of a client failed"), "{}", site.log());
}

#[test]
fn a_client_that_speaks_tls_to_a_plain_port_is_not_left_waiting() {
    let (site, dac) = (Site::new(), Oasis::dac(&[]));
    let session = ClientConnection::new(client(&site, &TLS13, &[]), "localhost".try_into().unwrap()).unwrap();
    let socket = TcpStream::connect(dac.http().trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let refused = request_readiness(&mut StreamOwned::new(session, socket)).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof), "{refused}");
}
