//! A DAC's end made of a blocking TLS server.

use super::*;
use crate::{DacMessage, NodeMessage, frame::write_control};
use oasis_tls::{Authority, Lifetime, ServerFiles, ServerTls};
use rustls::{ServerConnection, StreamOwned};
use std::{net::TcpListener, path::Path, thread};
use tempfile::TempDir;

fn authority() -> (TempDir, Authority) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    (folder, authority)
}

fn trusting(authority: &Authority) -> ClientFiles {
    ClientFiles { ca: Some(authority.certificate()), ..ClientFiles::default() }
}

fn server(authority: &Authority, node_ca: Option<&Path>) -> ServerTls {
    let issued = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(1)).unwrap();
    let node_ca = node_ca.map(Path::to_owned);
    ServerTls::load(ServerFiles { certificate: issued.certificate, key: issued.key, node_ca }).unwrap()
}

/// Serves one connection; returns its address.
fn serve(
    tls: &ServerTls,
    serve: impl FnOnce(&mut StreamOwned<ServerConnection, TcpStream>) + Send + 'static,
) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, config) = (listener.local_addr().unwrap().to_string(), tls.channel());
    let served = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        serve(&mut StreamOwned::new(ServerConnection::new(config).unwrap(), socket));
    });
    (address, served)
}

fn pong(number: u64) -> DacMessage {
    DacMessage::Pong { node_time: number, dac_time: number }
}

#[test]
fn messages_and_large_batches_pass_both_ways_at_the_same_time() {
    const PONGS: u64 = 20_000;
    let (_folder, authority) = authority();
    let (address, served) = serve(&server(&authority, None), |stream| {
        // Both ends write before they read: a node that waited for its reads would never get here.
        let mut bytes = Vec::new();
        (0..PONGS).for_each(|number| write_control(&pong(number), &mut bytes));
        stream.write_all(&bytes).unwrap();
        let mut received = Vec::new();
        // Ends without an error only after a close_notify.
        stream.read_to_end(&mut received).unwrap();
        assert!(received.len() > 3_000_000, "{}", received.len());
    });
    let (mut sender, mut receiver) = TlsConnector::new(address, trusting(&authority)).connect().unwrap();
    let reading = thread::spawn(move || {
        (0..PONGS).for_each(|number| assert_eq!(receiver.receive().unwrap(), pong(number)));
        receiver
    });
    let batch = vec![7; 1_000_000];
    sender.send(&[NodeMessage::KeepUntilSafe], &[&batch, &batch, &batch]).unwrap();
    let mut receiver = reading.join().unwrap();
    sender.close();
    served.join().unwrap();
    assert!(receiver.receive().is_err(), "closed in both directions");
}

fn refused(address: String, files: ClientFiles) -> String {
    match TlsConnector::new(address, files).connect() {
        Err(error) => error.to_string(),
        // TLS 1.3: a server checks the client's certificate after the client's end of the handshake.
        Ok((mut sender, mut receiver)) => {
            let _ = sender.send(&[NodeMessage::KeepUntilSafe], &[]);
            receiver.receive().unwrap_err().to_string()
        }
    }
}

#[test]
fn a_dac_of_an_unknown_authority_is_refused_with_the_remedy() {
    let ((_folder, known), (_another, stranger)) = (authority(), authority());
    let (address, served) = serve(&server(&stranger, None), |stream| drop(stream.read(&mut [0])));
    let error = refused(address, trusting(&known));
    assert!(error.contains("unknown authority") && error.contains("OASIS_CA"), "{error}");
    served.join().unwrap();
}

#[test]
fn a_node_without_a_certificate_or_with_a_foreign_one_learns_why_it_is_refused() {
    let ((_folder, known), (_another, stranger)) = (authority(), authority());
    let foreign = stranger.issue_node("plant", Lifetime::days(1)).unwrap();
    let tls = server(&known, Some(&known.certificate()));
    let (address, served) = serve(&tls, |stream| drop(stream.read(&mut [0])));
    let error = refused(address, trusting(&known));
    assert!(error.contains("node.certificate"), "{error}");
    served.join().unwrap();
    let (address, served) = serve(&tls, |stream| drop(stream.read(&mut [0])));
    let files =
        ClientFiles { certificate: Some(foreign.certificate), key: Some(foreign.key), ..trusting(&known) };
    let error = refused(address, files);
    assert!(error.contains("tls.node_ca"), "{error}");
    served.join().unwrap();
}

#[test]
fn a_dac_without_tls_is_recognized() {
    let (_folder, authority) = authority();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]).unwrap();
        let mut bytes = Vec::new();
        write_control(&pong(1), &mut bytes);
        socket.write_all(&bytes).unwrap();
    });
    let error = refused(address, trusting(&authority));
    assert!(error.contains("does not speak TLS"), "{error}");
    served.join().unwrap();
}

#[test]
fn files_that_cannot_be_used_fail_the_attempt_and_not_the_process() {
    let files = ClientFiles { ca: Some("/nowhere/ca.pem".into()), ..ClientFiles::default() };
    let error = refused("127.0.0.1:1".into(), files);
    assert!(error.contains("/nowhere/ca.pem"), "{error}");
    assert!(server_name("[::1]:7071").is_ok() && server_name("dac.example.org:7071").is_ok());
    assert!(server_name("a b:7071").is_err());
}
