//! The stream of a node: frames in any order, with any content, in any pieces, against the real session and registry.
//!
//! The first byte is the size of the pieces. The rest is the stream of a connection; where a frame breaks the rules, the
//! next connection of the node begins after it.

use oasis_channel::{
    DacMessage,
    frame::{DEFAULT_MAX_BODY, Reader},
};
use oasis_dac::{Config, Dac, Moment, RegistryCursor, session::NodeSession};
use oasis_wire::quantity::Nanos;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Time between two reads, nanoseconds.
const STEP: u64 = 7_000_000;

pub fn run(input: &[u8]) {
    let Some((&piece, stream)) = input.split_first() else { return };
    let dac = Dac::new(Config::default());
    let mut connection = Connection::new(&dac);
    let mut now = 1_763_683_200_000_000_000;
    for bytes in stream.chunks(usize::from(piece) + 1) {
        now += STEP;
        let at = Moment { wall: Nanos(now), steady: Nanos(now) };
        if !connection.read(bytes, at) {
            connection.session.close(Nanos(now));
            connection = Connection::new(&dac);
        }
    }
    connection.session.close(Nanos(now));
    check(&dac);
}

/// Registers the node `plant` with its instances `a` and `b`, and sends samples of `a`.
pub fn plant(dac: &Arc<Dac>) {
    let mut connection = Connection::new(dac);
    let stream = include_bytes!("../../seeds/data_channel/batches");
    assert!(connection.read(stream.get(1..).unwrap_or_default(), Moment::now()));
    assert!(dac.registry.find("plant", "a").is_some_and(|instance| instance.ledger().received > 0));
    // The node stays connected.
    std::mem::forget(connection);
}

struct Connection {
    reader: Reader,
    session: NodeSession,
    _commands: mpsc::Receiver<DacMessage>,
}

impl Connection {
    fn new(dac: &Arc<Dac>) -> Self {
        let (outbound, _commands) = mpsc::channel(8);
        Self {
            reader: Reader::new(DEFAULT_MAX_BODY),
            session: NodeSession::new(dac.clone(), outbound),
            _commands,
        }
    }

    /// Returns whether the connection continues.
    fn read(&mut self, bytes: &[u8], now: Moment) -> bool {
        self.reader.extend(bytes);
        let mut answers = Vec::new();
        let goes_on = loop {
            match self.reader.next() {
                Ok(Some(frame)) => {
                    if let Err(failure) = self.session.handle(frame, now, &mut answers) {
                        assert!(!failure.code.is_empty() && !failure.message.is_empty());
                        break false;
                    }
                    if self.session.has_left() {
                        break false;
                    }
                }
                Ok(None) => break true,
                Err(error) => {
                    assert!(!error.code().is_empty());
                    break false;
                }
            }
        };
        self.session.overdue(now);
        self.session.acknowledge(now, &mut answers);
        for answer in answers {
            serde_json::to_string(&answer).expect("an answer is JSON");
        }
        goes_on
    }
}

/// Checks what must hold whatever the node sent.
fn check(dac: &Dac) {
    let instances = dac.registry.instances();
    for instance in &instances {
        let ledger = instance.ledger();
        assert_eq!(ledger.causes.values().sum::<u64>(), ledger.missing, "{ledger:?}");
        assert!(ledger.unexplained <= ledger.missing, "{ledger:?}");
        assert_eq!(instance.log.next().0 - instance.log.start().0, ledger.received, "{ledger:?}");
    }
    let (mut cursor, mut count) = (RegistryCursor::default(), 0);
    loop {
        let delta = dac.registry.delta(cursor, 1000);
        count += delta.instances.len();
        cursor = delta.next;
        if !delta.more {
            break;
        }
    }
    assert_eq!(count, instances.len(), "the changes are the picture");
}
