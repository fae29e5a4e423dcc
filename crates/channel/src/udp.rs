//! Samples as datagrams: for hosts where a stalled stream is worse than a lost sample.
//!
//! Everything else stays on TCP: schemas, commands, counters and acknowledgements arrive in order. Each batch is sent
//! by UDP, in one datagram with the token from `welcome`; if the connection is encrypted, so is the datagram ([`protection`]). Lost datagrams are not sent again. The DAC detects them by
//! the sequence numbers and by the node's counters of sent samples. Some batches use TCP nevertheless: those larger
//! than a datagram, and those that report drops, because the node's report must arrive first. Until the DAC has
//! answered the first ping, all batches use TCP, because after that it knows the node's first sample.

use crate::{
    Connector, DacMessage, DatagramOffer, NodeMessage, Patience, Receiver, Sender,
    protection::{self, Sealer},
    tcp::{self, TcpConnector},
    tls::{self, OpenTls, TlsConnector},
};
use oasis_wire::batch::Header;
use rustls::ClientConnection;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};
use uuid::Uuid;

/// Default size of a datagram in bytes: with the headers of IP and UDP it fits into one Ethernet packet, tunnels
/// included.
pub const DEFAULT_DATAGRAM: usize = 1_400;
/// Largest datagram in bytes: a jumbo frame.
pub const MAX_DATAGRAM: usize = 8_900;
/// Bytes before the batch: magic number and token.
pub const HEADER_BYTES: usize = 20;
/// Magic number of a datagram; the digit is the version.
const MAGIC: [u8; 4] = *b"OSD1";

/// Why a datagram is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// No magic number and token, or no batch after them.
    #[error("invalid datagram: magic number, token or batch is missing")]
    Invalid,
    /// Larger than any datagram that a node sends.
    #[error("datagram too large: the limit is {MAX_DATAGRAM} bytes")]
    TooLong,
    /// Neither encrypted nor authenticated, on a connection whose datagrams are.
    #[error("datagram without protection: the connection uses TLS")]
    Unprotected,
    /// Not made with the key of the connection, or changed on the way.
    #[error("datagram forged: it was not made with the key of the connection")]
    Forged,
    /// Its number was accepted before, or is too old.
    #[error("datagram replayed: its number is known or too old")]
    Replayed,
}

impl DatagramError {
    /// Returns the code for counters.
    pub fn code(self) -> &'static str {
        match self {
            Self::Invalid => "datagram_invalid",
            Self::TooLong => "datagram_too_long",
            Self::Unprotected => "datagram_unprotected",
            Self::Forged => "datagram_forged",
            Self::Replayed => "datagram_replayed",
        }
    }
}

/// Returns the token of a datagram, protected or not.
///
/// # Errors
/// If it is no datagram of a node.
pub fn token(datagram: &[u8]) -> Result<Uuid, DatagramError> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(DatagramError::TooLong);
    }
    let (head, _) = datagram.split_first_chunk::<HEADER_BYTES>().ok_or(DatagramError::Invalid)?;
    let (mark, token) = head.split_at(MAGIC.len());
    let is_known = mark == MAGIC || mark == protection::MAGIC;
    let token = Uuid::from_slice(token).ok().filter(|_| is_known);
    token.ok_or(DatagramError::Invalid)
}

/// Returns the token and the batch of a datagram without protection.
pub fn parse(datagram: &[u8]) -> Result<(Uuid, &[u8]), DatagramError> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(DatagramError::TooLong);
    }
    let (head, batch) = datagram.split_first_chunk::<HEADER_BYTES>().ok_or(DatagramError::Invalid)?;
    let (mark, token) = head.split_at(MAGIC.len());
    let token = Uuid::from_slice(token).map_err(|_| DatagramError::Invalid)?;
    if mark != MAGIC || batch.is_empty() { Err(DatagramError::Invalid) } else { Ok((token, batch)) }
}

fn write(token: Uuid, batch: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(batch);
}

/// Connects to a DAC's channel address, to send datagrams.
#[derive(Debug, Clone)]
pub struct UdpConnector {
    stream: Stream,
    datagram_bytes: usize,
}

/// The connection beside the datagrams.
#[derive(Debug, Clone)]
enum Stream {
    Plain(TcpConnector),
    Encrypted(TlsConnector),
}

impl UdpConnector {
    /// Creates a connector to `address` (`HOST:PORT` of the DAC's data channel), which announces the port for datagrams.
    /// Datagrams have at most `datagram_bytes`.
    pub fn new(address: impl Into<String>, datagram_bytes: usize) -> Self {
        Self::plain(TcpConnector::new(address), datagram_bytes)
    }

    /// The same over the connection of another connector.
    pub fn plain(tcp: TcpConnector, datagram_bytes: usize) -> Self {
        Self::over(Stream::Plain(tcp), datagram_bytes)
    }

    /// The same over an encrypted connection, whose datagrams are encrypted too.
    pub fn encrypted(tls: TlsConnector, datagram_bytes: usize) -> Self {
        Self::over(Stream::Encrypted(tls), datagram_bytes)
    }

    fn over(stream: Stream, datagram_bytes: usize) -> Self {
        Self {
            stream,
            datagram_bytes: datagram_bytes
                .clamp(protection::HEADER_BYTES + protection::TAG_BYTES, MAX_DATAGRAM),
        }
    }
}

impl Connector for UdpConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let ((tcp_sender, tcp_receiver), session, dac) = match &self.stream {
            Stream::Plain(tcp) => {
                let stream = tcp.open()?;
                let dac = stream.peer_addr()?.ip();
                (tcp::halves(stream)?, None, dac)
            }
            Stream::Encrypted(tls) => {
                let OpenTls { halves, session, dac } = tls.open()?;
                (halves, Some(session), dac)
            }
        };
        let any: IpAddr =
            if dac.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0))?;
        // A full buffer loses a datagram: this channel must never wait for space.
        socket.set_nonblocking(true)?;
        let opened = Arc::new(DatagramState::default());
        let sender = UdpSender {
            tcp: tcp_sender,
            socket,
            dac,
            opened: opened.clone(),
            has_announced: false,
            protection: session.map(Protection::Agreed),
            datagram_bytes: self.datagram_bytes,
            scratch: Vec::new(),
        };
        Ok((Box::new(sender), Box::new(UdpReceiver { tcp: tcp_receiver, opened })))
    }

    fn target(&self) -> String {
        match &self.stream {
            Stream::Plain(tcp) => tcp.target().replacen("tcp", "udp", 1),
            Stream::Encrypted(tls) => tls.target().replacen("tls", "udp+tls", 1),
        }
    }

    fn patience(&self) -> Patience {
        match &self.stream {
            Stream::Plain(tcp) => tcp.patience(),
            Stream::Encrypted(tls) => tls.patience(),
        }
    }
}

/// State that the receiver passes to the sender.
#[derive(Debug, Default)]
struct DatagramState {
    /// The offer from `welcome`.
    offer: OnceLock<DatagramOffer>,
    /// Whether the DAC has answered a ping.
    is_answered: AtomicBool,
}

/// Format of the datagrams of an encrypted connection.
enum Protection {
    /// The key follows from this session and the token.
    Agreed(Arc<Mutex<ClientConnection>>),
    Ready(Box<Sealer>),
}

impl Protection {
    /// Returns the sending end, made with the first datagram.
    fn sealer(&mut self, token: Uuid) -> io::Result<&mut Sealer> {
        if let Self::Agreed(session) = self {
            let key = tls::datagram_key(session, token)?;
            *self = Self::Ready(Box::new(Sealer::new(&key, token).map_err(io::Error::other)?));
        }
        match self {
            Self::Ready(sealer) => Ok(sealer),
            Self::Agreed(_) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

struct UdpSender {
    tcp: Box<dyn Sender>,
    socket: UdpSocket,
    dac: IpAddr,
    opened: Arc<DatagramState>,
    has_announced: bool,
    /// Only of an encrypted connection.
    protection: Option<Protection>,
    datagram_bytes: usize,
    scratch: Vec<u8>,
}

impl Sender for UdpSender {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let Some(&offer) = self.opened.offer.get() else { return self.tcp.send(control, batches) };
        let is_answered = self.opened.is_answered.load(Ordering::Relaxed);
        let head = if self.protection.is_some() {
            protection::HEADER_BYTES + protection::TAG_BYTES
        } else {
            HEADER_BYTES
        };
        let largest = self.datagram_bytes - head;
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
            match &mut self.protection {
                Some(protection) => {
                    let sealed = protection.sealer(offer.token)?.seal(batch, &mut self.scratch);
                    sealed.map_err(io::Error::other)?;
                }
                None => write(offer.token, batch, &mut self.scratch),
            }
            // A datagram that cannot be sent is lost like one lost in transit: the DAC counts both.
            let _ = self.socket.send_to(&self.scratch, dac);
        }
        Ok(())
    }

    fn send_ahead(&mut self, batches: &[&[u8]]) -> io::Result<()> {
        self.tcp.send_ahead(batches)
    }

    fn close(&mut self) {
        self.tcp.close();
    }
}

struct UdpReceiver {
    tcp: Box<dyn Receiver>,
    opened: Arc<DatagramState>,
}

impl Receiver for UdpReceiver {
    fn receive(&mut self) -> io::Result<DacMessage> {
        let message = self.tcp.receive()?;
        match &message {
            DacMessage::Welcome { datagrams, .. } => {
                let none = "the DAC accepts no datagrams: start it with --udp, or set channel = \"tcp\" for the node";
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
    fn truncated_empty_and_huge_datagrams_are_refused() {
        let mut datagram = Vec::new();
        write(Uuid::nil(), &[], &mut datagram);
        assert_eq!(parse(&datagram), Err(DatagramError::Invalid));
        assert_eq!(parse(&datagram[..10]), Err(DatagramError::Invalid));
        write(Uuid::nil(), &[0; MAX_DATAGRAM], &mut datagram);
        assert_eq!(parse(&datagram), Err(DatagramError::TooLong));
    }
}
