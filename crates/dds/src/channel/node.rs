//! The node's end: a thread joins the domain and carries the stream of each connection.

use super::{
    TO_DAC, TO_NODE, WINDOW,
    endpoint::{Endpoint, Incoming, WriterId},
    message::{Content, Message},
};
use crate::DdsConfig;
use oasis_channel::{
    Connector, Patience, Receiver, Sender,
    carried::{Messages, StreamMessage, pump},
    tcp,
};
use std::{
    io,
    os::unix::net::UnixStream,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use tokio::{runtime::Runtime, time::timeout};
use uuid::Uuid;

/// Longest time until participants of one domain know each other, besides the wait for the DAC.
const DISCOVERY: Duration = Duration::from_secs(3);
/// Interval at which a node asks for a DAC: a request before they know each other is lost.
const ASK: Duration = Duration::from_millis(100);
/// Time after which a participant without an answer is replaced: the network may have another address now.
const FRESH: Duration = Duration::from_secs(30);
/// Longest time in which RustDDS starts or ends a participant.
const PARTICIPANT: Duration = Duration::from_secs(5);
/// Writers whose offers are passed over.
const MOST_SILENT: usize = 16;
/// Longest wait for the thread at the end.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Connects to a DAC through DDS.
#[derive(Debug)]
pub struct DdsConnector {
    settings: Settings,
    carrier: Option<Carrier>,
}

#[derive(Debug, Clone)]
struct Settings {
    config: DdsConfig,
    /// Any DAC if it is empty.
    dac: String,
    patience: Patience,
}

/// The thread, which ends when no connections are requested any more.
#[derive(Debug)]
struct Carrier {
    requests: mpsc::Sender<Request>,
    /// Closed when it has ended.
    ended: mpsc::Receiver<()>,
}

/// A connection that the node wants.
struct Request {
    stream: UnixStream,
    ready: mpsc::Sender<io::Result<()>>,
}

impl DdsConnector {
    /// Creates a connector to a DAC of this name, or to any.
    pub fn new(config: DdsConfig, dac: Option<String>) -> Self {
        let settings = Settings { config, dac: dac.unwrap_or_default(), patience: Patience::ONE_DAC };
        Self { settings, carrier: None }
    }

    /// Sets how long the node waits for the DAC.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.settings.patience = patience;
        self
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let request = match &self.carrier {
            Some(carrier) => match carrier.requests.send(request) {
                Ok(()) => return Ok(()),
                // The thread has panicked.
                Err(mpsc::SendError(request)) => request,
            },
            None => request,
        };
        let carrier = Carrier::start(self.settings.clone())?;
        let _ = carrier.requests.send(request);
        self.carrier = Some(carrier);
        Ok(())
    }
}

impl Connector for DdsConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (near, far) = UnixStream::pair()?;
        far.set_nonblocking(true)?;
        let (ready, is_ready) = mpsc::channel();
        self.request(Request { stream: far, ready })?;
        let patience = self.settings.patience;
        let longest = DISCOVERY + 2 * patience.connect + 2 * PARTICIPANT;
        let silent =
            |_| io::Error::new(io::ErrorKind::TimedOut, "the participant of DDS hangs or has failed");
        is_ready.recv_timeout(longest).map_err(silent)??;
        tcp::halves_of_pair(near, patience)
    }

    fn target(&self) -> String {
        format!("{} in DDS domain {}", self.settings.dac_name(), self.settings.config.domain)
    }

    fn patience(&self) -> Patience {
        self.settings.patience
    }
}

impl Drop for DdsConnector {
    /// Lets the participant leave the domain, so that the DAC does not wait for its lease to end.
    fn drop(&mut self) {
        if let Some(Carrier { requests, ended }) = self.carrier.take() {
            drop(requests);
            let _ = ended.recv_timeout(LAST_CALL);
        }
    }
}

impl Carrier {
    fn start(settings: Settings) -> io::Result<Self> {
        let ((requests, requested), (alive, ended)) = (mpsc::channel(), mpsc::channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("oasis-dds".into()).spawn(move || {
            let _alive = alive;
            settings.carry(&runtime, &requested);
        })?;
        Ok(Self { requests, ended })
    }
}

impl Settings {
    fn dac_name(&self) -> &str {
        if self.dac.is_empty() { "any DAC" } else { &self.dac }
    }

    /// Carries the stream of each connection, one after the other.
    fn carry(&self, runtime: &Runtime, requests: &mpsc::Receiver<Request>) {
        let mut kept: Option<Joined> = None;
        for Request { stream, ready } in requests {
            let fresh = kept.take().filter(|joined| joined.since.elapsed() < FRESH);
            let mut joined = match fresh.map_or_else(|| self.join(), Ok) {
                Ok(joined) => joined,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    continue;
                }
            };
            match runtime.block_on(self.open(&mut joined)) {
                Ok(mut link) => {
                    let _ = ready.send(Ok(()));
                    let carried = runtime.block_on(async {
                        pump(tokio::net::UnixStream::from_std(stream)?, &mut link, WINDOW).await
                    });
                    if let Err(error) = carried {
                        tracing::warn!(%error, "the data channel over DDS has ended");
                    }
                    // The next connection has another participant: the writer of this one would wait for a DAC that is gone.
                }
                Err(error) => {
                    // The node may know the DAC by the next attempt.
                    kept = Some(joined);
                    let _ = ready.send(Err(error));
                }
            }
        }
    }

    fn join(&self) -> io::Result<Joined> {
        let endpoint = Endpoint::join(&self.config, TO_NODE, TO_DAC).map_err(io::Error::other)?;
        Ok(Joined { endpoint, since: Instant::now(), silent: Vec::new() })
    }

    /// Asks for a DAC, and opens a connection to the first one that answers.
    async fn open<'a>(&self, joined: &'a mut Joined) -> io::Result<Link<'a>> {
        let refused = |why: String| io::Error::new(io::ErrorKind::ConnectionRefused, why);
        let absent = |_| {
            let (name, domain) = (self.dac_name(), self.config.domain);
            refused(format!(
                "{name} does not answer in DDS domain {domain}: has the DAC [dds] channel = true, this domain and this network?"
            ))
        };
        let id = Uuid::new_v4();
        let asking = timeout(DISCOVERY + self.patience.connect, self.request_connection(joined, id));
        let (from, dac) = match asking.await {
            Ok(offer) => offer?,
            Err(elapsed) => {
                // No other DAC has offered: one that was slow may be the only one.
                joined.silent.clear();
                return Err(absent(elapsed));
            }
        };
        joined.avoid(from);
        let link = Link { endpoint: &joined.endpoint, id, dac: from };
        link.send_content(Content::Open(dac)).await?;
        let answer = timeout(self.patience.connect, link.answer()).await.map_err(absent)??;
        joined.silent.retain(|writer| *writer != from);
        match answer {
            Content::Refused(why) => Err(refused(why)),
            _ => Ok(Link { endpoint: &joined.endpoint, id, dac: from }),
        }
    }

    async fn request_connection(&self, joined: &Joined, connection: Uuid) -> io::Result<(WriterId, Uuid)> {
        let Joined { endpoint, silent, .. } = joined;
        let ask = Message { connection, content: Content::Ask(self.dac.clone()) };
        let mut again = tokio::time::interval(ASK);
        loop {
            tokio::select! {
                _ = again.tick() => {
                    endpoint.out.try_send(&ask).map_err(io::Error::other)?;
                }
                incoming = endpoint.next() => {
                    let Incoming { from, message } = incoming.map_err(io::Error::other)?;
                    if let Ok(Message { connection: of, content: Content::Offer(dac) }) = message
                        && of == connection
                        && !silent.contains(&from)
                    {
                        return Ok((from, dac));
                    }
                }
            }
        }
    }
}

/// The participant of a node.
struct Joined {
    endpoint: Endpoint,
    since: Instant,
    /// Writer that has offered a connection and then not answered: it is no DAC, or it has gone.
    silent: Vec<WriterId>,
}

impl Joined {
    /// Passes over later offers of this writer. The oldest one of many is forgotten.
    fn avoid(&mut self, writer: WriterId) {
        if self.silent.len() >= MOST_SILENT {
            self.silent.remove(0);
        }
        self.silent.push(writer);
    }
}

/// The node's end of a connection.
struct Link<'a> {
    endpoint: &'a Endpoint,
    id: Uuid,
    /// Messages of others are none of it.
    dac: WriterId,
}

impl Link<'_> {
    async fn send_content(&self, content: Content) -> io::Result<()> {
        self.endpoint.out.send(&Message { connection: self.id, content }).await
    }

    /// Returns the next message of this connection.
    async fn next(&self) -> io::Result<Content> {
        loop {
            let Incoming { from, message } = self.endpoint.next().await.map_err(io::Error::other)?;
            match message {
                Ok(Message { connection, content }) if connection == self.id && from == self.dac => {
                    return Ok(content);
                }
                // The message is of another connection, or garbage.
                _ => tokio::task::yield_now().await,
            }
        }
    }

    /// Returns whether the DAC takes the node.
    async fn answer(&self) -> io::Result<Content> {
        loop {
            let content = self.next().await?;
            if matches!(content, Content::Accepted | Content::Refused(_)) {
                return Ok(content);
            }
        }
    }
}

impl Messages for Link<'_> {
    async fn send(&mut self, piece: &StreamMessage) -> io::Result<()> {
        self.send_content(Content::StreamMessage(piece.clone())).await
    }

    async fn receive(&mut self) -> io::Result<StreamMessage> {
        loop {
            if let Content::StreamMessage(piece) = self.next().await? {
                return Ok(piece);
            }
        }
    }

    async fn flush(&mut self) {
        self.endpoint.out.flush().await;
    }
}
