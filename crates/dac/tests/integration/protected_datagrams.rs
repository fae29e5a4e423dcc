//! Datagrams of an encrypted connection over real sockets: forged, replayed, changed, cut and unprotected ones are refused and counted, and every true one arrives.

use oasis_channel::{
    DacMessage, DatagramOffer, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance,
    ResumeSecret,
    frame::{Frame, Reader, write_control},
    protection::{HEADER_BYTES, KEY_BYTES, LABEL, Sealer},
};
use oasis_dac::{
    Config, Dac, datagrams,
    ingest::{self, Security},
};
use oasis_tls::{Authority, ClientFiles, Lifetime, ServerFiles, ServerTls};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::TopicId,
    schema::ProbeType,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use uuid::Uuid;

const SAMPLES: u64 = 100;

struct Node {
    stream: TlsStream<TcpStream>,
    reader: Reader,
}

impl Node {
    async fn send_message(&mut self, message: &NodeMessage) {
        let mut bytes = Vec::new();
        write_control(message, &mut bytes);
        self.stream.write_all(&bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    async fn hear(&mut self) -> DacMessage {
        loop {
            if let Some(Frame::Control(json)) = self.reader.next().unwrap() {
                return serde_json::from_slice(json).unwrap();
            }
            let mut buffer = [0; 4_096];
            let length = self.stream.read(&mut buffer).await.unwrap();
            assert!(length > 0, "the DAC closed");
            self.reader.extend(&buffer[..length]);
        }
    }

    fn sealer(&self, offer: DatagramOffer) -> Sealer {
        let session = self.stream.get_ref().1;
        let key =
            session.export_keying_material([0; KEY_BYTES], LABEL, Some(offer.token.as_bytes())).unwrap();
        Sealer::new(&key, offer.token).unwrap()
    }
}

fn beat() -> ProbeType {
    let json = r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
    serde_json::from_str(json).unwrap()
}

fn batch(topic: TopicId, sequence: u64) -> Vec<u8> {
    let probe_type = beat();
    let mut encoder = Encoder::new(&probe_type).unwrap();
    encoder.push(oasis_dac::now().0, &[]).unwrap();
    let node_time = oasis_dac::now().0;
    let fields = Fields { topic: topic.0, state: 0, first_sequence: sequence, node_time, dropped_before: 0 };
    let mut batch = Vec::new();
    encoder.finish(fields, &mut batch);
    batch
}

/// A DAC with certificates that takes datagrams, and a node that has registered an instance.
async fn connected() -> (tempfile::TempDir, Arc<Dac>, Node, DatagramOffer, TopicId) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(&folder.path().join("ca")).unwrap();
    let issued = authority.issue_server(&["localhost".into()], Lifetime::days(1)).unwrap();
    let files = ServerFiles { certificate: issued.certificate, key: issued.key, node_ca: None };
    let tls = Some(Arc::new(ServerTls::load(files).unwrap()));
    let dac = Dac::new(Config::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    tokio::spawn(datagrams::serve(dac.clone(), socket));
    tokio::spawn(ingest::serve_with(dac.clone(), listener, Security { tls, guard: None }));
    // The port is known once the task runs.
    tokio::task::yield_now().await;
    let files = ClientFiles { ca: Some(authority.certificate()), ..ClientFiles::default() };
    let connector = TlsConnector::from(files.load().unwrap());
    let stream = TcpStream::connect(address).await.unwrap();
    let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    let mut node = Node { stream, reader: Reader::new(1 << 20) };
    let secret = ResumeSecret::random();
    let identity = NodeIdentity {
        name: "plant".into(),
        uuid: Uuid::nil(),
        run: secret.run(),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    };
    node.send_message(&NodeMessage::Hello {
        protocol: PROTOCOL,
        node: identity,
        secret: Some(secret),
        attach: None,
        drains: false,
    })
    .await;
    let DacMessage::Welcome { datagrams: Some(offer), .. } = node.hear().await else {
        panic!("no offer of datagrams")
    };
    node.send_message(&NodeMessage::Datagrams).await;
    let instance = RegisteredInstance {
        name: "beat".into(),
        probe_type: beat().uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        declared: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    node.send_message(&NodeMessage::Register { types: vec![beat()], instances: vec![instance] }).await;
    let DacMessage::Registered { topics } = node.hear().await else { panic!("not registered") };
    (folder, dac, node, offer, topics[0].topic)
}

fn refused(dac: &Dac, code: &str) -> u64 {
    dac.admission.counters().refused.get(code).copied().unwrap_or(0)
}

/// Waits until something has become true, a minute at most.
async fn until(what: &str, is_true: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if is_true() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("not in time: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_datagrams_are_counted_and_every_true_one_arrives() {
    let (_folder, dac, node, offer, topic) = connected().await;
    let mut sealer = node.sealer(offer);
    let dac_address = ("127.0.0.1", offer.port);
    let (own, attacker) =
        (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let instance = dac.registry.find("plant", "beat").unwrap();
    let mut datagram = Vec::new();
    for sequence in 1..=SAMPLES {
        sealer.seal(&batch(topic, sequence), &mut datagram).unwrap();
        // The attacker reads the datagram on its way and knows the token. First its own, then the true one.
        let mut forged = datagram.clone();
        let at = HEADER_BYTES + sequence as usize % (datagram.len() - HEADER_BYTES);
        forged[at] ^= 1;
        let mut ahead = datagram.clone();
        ahead[20..28].copy_from_slice(&(u64::MAX - sequence).to_le_bytes());
        let cut = datagram[..datagram.len() - 1 - sequence as usize % 20].to_vec();
        let mut plain = b"OSD1".to_vec();
        plain.extend_from_slice(offer.token.as_bytes());
        plain.extend_from_slice(&batch(topic, sequence));
        for hostile in [&forged, &ahead, &cut, &plain] {
            attacker.send_to(hostile, dac_address).await.unwrap();
        }
        // One after the other: they must not push each other out of the socket.
        until("they are counted", || {
            refused(&dac, "datagram_forged") == 3 * sequence
                && refused(&dac, "datagram_unprotected") == sequence
        })
        .await;
        own.send_to(&datagram, dac_address).await.unwrap();
        until("the sample", || instance.ledger().received == sequence).await;
        attacker.send_to(&datagram, dac_address).await.unwrap();
        until("the replay is counted", || refused(&dac, "datagram_replayed") == sequence).await;
    }
    let ledger = instance.ledger();
    assert_eq!((ledger.received, ledger.last_sequence), (SAMPLES, SAMPLES));
    assert_eq!(ledger.accounted(), SAMPLES, "nothing is missing");
    drop(ledger);
    drop(node);
}
