//! Samples as datagrams: for hosts where a stream that stands still is worse than a sample that is lost.
//!
//! The conversation stays on TCP: schemas, commands, counters and acknowledgements arrive, in order. Batches go by UDP, one in a datagram,
//! with the token that `welcome` gave. What is lost on the way stays lost; the DAC finds it by the sequence numbers and by what the node says it
//! has sent. Some batches go by TCP all the same: those that are larger than a datagram, those that tell of drops, because what the node
//! says of these must be there first, and all until the DAC has answered the first ping, because then it knows where the node begins.

use crate::{
    Connector, DacMessage, DatagramOffer, NodeMessage, Receiver, Sender,
    tcp::{self, TcpConnector},
};
use oasis_wire::batch::Header;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};
use uuid::Uuid;

/// Bytes of a datagram unless told otherwise: with IP's and UDP's headers it fits into one packet of Ethernet, tunnels included.
pub const DEFAULT_DATAGRAM: usize = 1_400;
/// Bytes of a datagram at most: a jumbo frame.
pub const MAX_DATAGRAM: usize = 8_900;
/// Bytes before the batch: mark and token.
pub const HEAD: usize = 20;
/// A datagram begins with it; the digit is the version.
const MARK: [u8; 4] = *b"OSD1";

/// Why bytes are no datagram of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// No mark and token, or nothing behind them.
    #[error("a datagram without mark, token and batch")]
    Invalid,
    /// Larger than any that a node sends.
    #[error("a datagram of more than {MAX_DATAGRAM} bytes")]
    TooLong,
}

impl DatagramError {
    /// One word for counters.
    pub fn code(self) -> &'static str {
        match self {
            Self::Invalid => "datagram_invalid",
            Self::TooLong => "datagram_too_long",
        }
    }
}

/// Token and batch of a datagram.
pub fn parse(datagram: &[u8]) -> Result<(Uuid, &[u8]), DatagramError> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(DatagramError::TooLong);
    }
    let (head, batch) = datagram.split_first_chunk::<HEAD>().ok_or(DatagramError::Invalid)?;
    let (mark, token) = head.split_at(MARK.len());
    let token = Uuid::from_slice(token).map_err(|_| DatagramError::Invalid)?;
    if mark != MARK || batch.is_empty() { Err(DatagramError::Invalid) } else { Ok((token, batch)) }
}

fn write(token: Uuid, batch: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&MARK);
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(batch);
}

/// Connects to a DAC's channel address, for datagrams.
#[derive(Debug, Clone)]
pub struct UdpConnector {
    tcp: TcpConnector,
    datagram_bytes: usize,
}

impl UdpConnector {
    /// `address` is `HOST:PORT` of the DAC's data channel; the port for datagrams comes from there. Datagrams have at most `datagram_bytes`.
    pub fn new(address: impl Into<String>, datagram_bytes: usize) -> Self {
        let datagram_bytes = datagram_bytes.clamp(HEAD, MAX_DATAGRAM);
        Self { tcp: TcpConnector::new(address), datagram_bytes }
    }
}

impl Connector for UdpConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let stream = self.tcp.open()?;
        let dac = stream.peer_addr()?.ip();
        let any: IpAddr =
            if dac.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0))?;
        // A full buffer loses a datagram. Waiting for room is what this channel is not for.
        socket.set_nonblocking(true)?;
        let (tcp_sender, tcp_receiver) = tcp::halves(stream)?;
        let opened = Arc::new(Opened::default());
        let sender = UdpSender {
            tcp: tcp_sender,
            socket,
            dac,
            opened: opened.clone(),
            has_announced: false,
            datagram_bytes: self.datagram_bytes,
            scratch: Vec::new(),
        };
        Ok((Box::new(sender), Box::new(UdpReceiver { tcp: tcp_receiver, opened })))
    }

    fn target(&self) -> String {
        self.tcp.target().replacen("tcp", "udp", 1)
    }
}

/// What the receiver has heard and the sender wants to know.
#[derive(Debug, Default)]
struct Opened {
    /// As `welcome` said it.
    offer: OnceLock<DatagramOffer>,
    /// Whether the DAC has answered a ping.
    is_answered: AtomicBool,
}

struct UdpSender {
    tcp: Box<dyn Sender>,
    socket: UdpSocket,
    dac: IpAddr,
    opened: Arc<Opened>,
    has_announced: bool,
    datagram_bytes: usize,
    scratch: Vec<u8>,
}

impl Sender for UdpSender {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let Some(&offer) = self.opened.offer.get() else { return self.tcp.send(control, batches) };
        let is_answered = self.opened.is_answered.load(Ordering::Relaxed);
        let largest = self.datagram_bytes - HEAD;
        let fits = |batch: &&&[u8]| {
            is_answered
                && batch.len() <= largest
                && Header::parse(batch).is_ok_and(|header| header.dropped_before == 0)
        };
        let (small, rest): (Vec<&[u8]>, Vec<&[u8]>) = batches.iter().partition(|batch| fits(batch));
        if !self.has_announced {
            self.has_announced = true;
            self.tcp.send(&[NodeMessage::Datagrams], &[])?;
        }
        if !control.is_empty() || !rest.is_empty() {
            self.tcp.send(control, &rest)?;
        }
        let dac = SocketAddr::new(self.dac, offer.port);
        for batch in small {
            write(offer.token, batch, &mut self.scratch);
            // One that cannot be sent is lost like one that is lost on the way: the DAC counts both.
            let _ = self.socket.send_to(&self.scratch, dac);
        }
        Ok(())
    }

    fn close(&mut self) {
        self.tcp.close();
    }
}

struct UdpReceiver {
    tcp: Box<dyn Receiver>,
    opened: Arc<Opened>,
}

impl Receiver for UdpReceiver {
    fn receive(&mut self) -> io::Result<DacMessage> {
        let message = self.tcp.receive()?;
        match &message {
            DacMessage::Welcome { datagrams, .. } => {
                let none =
                    "the DAC takes no datagrams: start it with --udp, or let the node use channel = \"tcp\"";
                let offer = datagrams.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, none))?;
                let _ = self.opened.offer.set(offer);
            }
            DacMessage::Pong { .. } => self.opened.is_answered.store(true, Ordering::Relaxed),
            _ => {}
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_datagram_comes_out_as_it_went_in(token: u128, batch in proptest::collection::vec(any::<u8>(), 1..2_000)) {
            let mut datagram = Vec::new();
            write(Uuid::from_u128(token), &batch, &mut datagram);
            prop_assert_eq!(parse(&datagram), Ok((Uuid::from_u128(token), &batch[..])));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn what_is_cut_off_empty_or_huge_is_refused() {
        let mut datagram = Vec::new();
        write(Uuid::nil(), &[], &mut datagram);
        assert_eq!(parse(&datagram), Err(DatagramError::Invalid));
        assert_eq!(parse(&datagram[..10]), Err(DatagramError::Invalid));
        write(Uuid::nil(), &[0; MAX_DATAGRAM], &mut datagram);
        assert_eq!(parse(&datagram), Err(DatagramError::TooLong));
    }
}
