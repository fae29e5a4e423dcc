//! A client on a real socket, whose buffers the tests fill and empty.

use super::*;
use oasis_tls::{Authority, ClientFiles, Lifetime, ServerFiles, ServerTls};
use oasis_websocket::{Output, frame::Opcode};
use rustls::ClientConnection;
use std::net;

/// A client, and the server's end of its connection.
struct Plant {
    client: ClientConnection,
    socket: net::TcpStream,
    server: Transport,
    /// Bytes that the client has read.
    read: Vec<u8>,
    has_ended: bool,
}

fn plant() -> Plant {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    let issued = authority.issue_server(&["localhost".into()], Lifetime::days(1)).unwrap();
    let files = ServerFiles { certificate: issued.certificate, key: issued.key, node_ca: None };
    let config = ServerTls::load(files).unwrap().doors();
    let trusted = ClientFiles { ca: Some(authority.certificate()), ..ClientFiles::default() };
    let name = "localhost".try_into().unwrap();
    let mut client = ClientConnection::new(trusted.load().unwrap(), name).unwrap();
    let mut server = ServerConnection::new(config).unwrap();
    while client.is_handshaking() || server.is_handshaking() || server.wants_write() {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        pass(&bytes, |rest| server.read_tls(rest).unwrap());
        server.process_new_packets().unwrap();
        bytes.clear();
        while server.wants_write() {
            server.write_tls(&mut bytes).unwrap();
        }
        pass(&bytes, |rest| client.read_tls(rest).unwrap());
        client.process_new_packets().unwrap();
    }
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    accepted.set_nonblocking(true).unwrap();
    // Small, so that they are soon full; not so small that TCP waits for its timers.
    socket2::SockRef::from(&accepted).set_send_buffer_size(128 * 1024).unwrap();
    socket2::SockRef::from(&socket).set_recv_buffer_size(128 * 1024).unwrap();
    let server = Transport::tls(TcpStream::from_std(accepted), server);
    Plant { client, socket, server, read: Vec::new(), has_ended: false }
}

fn pass(bytes: &[u8], mut read: impl FnMut(&mut &[u8]) -> usize) {
    let mut rest = bytes;
    while !rest.is_empty() {
        read(&mut rest);
    }
}

impl Plant {
    /// Sends bytes of the client in one record, with pauses for the server after each of these lengths.
    fn client_records(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.client.writer().write_all(bytes).unwrap();
        let mut records = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut records).unwrap();
        }
        records
    }

    /// Reads what has arrived at the client, once.
    fn client_reads(&mut self) {
        self.has_ended |= self.client.read_tls(&mut self.socket).unwrap() == 0;
        let state = self.client.process_new_packets().unwrap();
        let mut bytes = vec![0; state.plaintext_bytes_to_read()];
        self.client.reader().read_exact(&mut bytes).unwrap();
        self.read.append(&mut bytes);
        self.has_ended |= state.peer_has_closed();
    }

    /// Reads at the server until something has arrived.
    fn server_reads(&mut self) -> io::Result<Vec<u8>> {
        let mut into = [0; 32 * 1024];
        loop {
            match self.server.read(&mut into) {
                Ok(length) => return Ok(into[..length].to_vec()),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn a_full_socket_takes_a_part_and_the_rest_follows_in_order_without_loss() {
    let mut plant = plant();
    let all = pattern(4_000_000);
    let (mut written, mut blocked) = (0, 0);
    while written < all.len() {
        let (one, two) = all[written..].split_at((all.len() - written) / 3);
        match plant.server.write_vectored(&[IoSlice::new(one), IoSlice::new(two)]) {
            Ok(length) => {
                written += length;
                let waiting = written.saturating_sub(plant.server.taken() as usize);
                assert!(waiting <= 64 * 1024, "what waits for the socket is bounded: {waiting}");
                assert!(
                    written == all.len() || plant.server.has_unsent(),
                    "a short count means a full socket"
                );
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                blocked += 1;
                plant.client_reads();
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(blocked > 2, "{blocked}");
    while plant.read.len() < all.len() {
        let _ = plant.server.flush();
        plant.client_reads();
    }
    assert!(plant.read == all && !plant.server.has_unsent());
}

#[test]
fn answers_for_a_client_that_never_reads_are_bounded_before_and_after_encryption() {
    #[derive(Debug)]
    enum Failure {
        Rule(oasis_websocket::Error),
        Io(io::Error),
    }
    impl From<oasis_websocket::Error> for Failure {
        fn from(error: oasis_websocket::Error) -> Self {
            Self::Rule(error)
        }
    }
    impl From<io::Error> for Failure {
        fn from(error: io::Error) -> Self {
            Self::Io(error)
        }
    }
    const MAX_OUTPUT_BYTES: usize = 200_000;
    let (mut plant, mut output) = (plant(), Output::new(MAX_OUTPUT_BYTES));
    let mut said = 0_u64;
    let full = loop {
        match output.message::<Failure>(Opcode::Text, &[b'x'; 1_000], &mut plant.server) {
            Ok(()) => said += 1_004,
            Err(Failure::Rule(error)) => break error,
            Err(Failure::Io(error)) => panic!("{error}"),
        }
        assert!(said < 100_000_000, "the socket takes no end");
    };
    assert!(matches!(full, oasis_websocket::Error::OutputFull(MAX_OUTPUT_BYTES)), "{full:?}");
    let encrypted = output.written().saturating_sub(plant.server.taken());
    assert!(encrypted <= 64 * 1024, "{encrypted}");
    assert!(said - output.written() <= MAX_OUTPUT_BYTES as u64 + 1_004);
}

#[test]
fn one_write_of_many_pieces_is_in_few_large_records() {
    let mut plant = plant();
    let piece = pattern(500);
    let slices: Vec<_> = (0..64).map(|_| IoSlice::new(&piece)).collect();
    let before = plant.server.taken();
    assert_eq!(plant.server.write_vectored(&slices).unwrap(), 32_000);
    while plant.read.len() < 32_000 {
        let _ = plant.server.flush();
        plant.client_reads();
    }
    // RFC 8446 5.2: 5 bytes before, 1 byte and 16 bytes after the content of each of two records.
    assert_eq!(plant.server.taken() - before, 32_000 + 2 * 22);
}

#[test]
fn a_record_in_many_pieces_and_many_records_in_one_piece_are_read() {
    let mut plant = plant();
    let all = pattern(10_000);
    let records = plant.client_records(&all);
    let (last, most) = records.split_last().unwrap();
    for piece in most.chunks(777) {
        plant.socket.write_all(piece).unwrap();
        let outcome = plant.server.read(&mut [0; 100]);
        assert!(outcome.is_err(), "a record that is not complete has no content");
    }
    plant.socket.write_all(&[*last]).unwrap();
    let mut read = Vec::new();
    while read.len() < all.len() {
        read.extend(plant.server_reads().unwrap());
    }
    assert!(read == all);
    assert_eq!(plant.server.take_received(0), records.len());

    let records = [b"one".as_slice(), b"two"].map(|bytes| plant.client_records(bytes)).concat();
    plant.socket.write_all(&records).unwrap();
    let mut read = Vec::new();
    while read.len() < 6 {
        read.extend(plant.server_reads().unwrap());
    }
    assert_eq!(read, b"onetwo");
}

#[test]
fn both_ends_say_goodbye_and_a_connection_that_breaks_is_an_error() {
    let mut plant = plant();
    plant.server.write_all(b"last").unwrap();
    plant.server.end().unwrap();
    while !plant.has_ended {
        plant.client_reads();
    }
    assert_eq!(plant.read, b"last");
    plant.client.send_close_notify();
    let records = plant.client_records(b"");
    plant.socket.write_all(&records).unwrap();
    assert_eq!(plant.server_reads().unwrap(), b"", "the end");

    let mut broken = self::plant();
    broken.socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(broken.server_reads().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    let mut damaged = self::plant();
    let mut records = damaged.client_records(b"hello");
    *records.last_mut().unwrap() ^= 1;
    damaged.socket.write_all(&records).unwrap();
    assert_eq!(damaged.server_reads().unwrap_err().kind(), ErrorKind::InvalidData);
}
