//! The DAC's end of the TCP data channel: sockets in, sessions behind them.

use crate::{
    Dac,
    datagrams::{QUEUE, Route},
    now,
    session::NodeSession,
};
use oasis_channel::{
    DacMessage, Failure,
    frame::{Reader, write_control},
};
use oasis_wire::quantity::Nanos;
use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::{Instant, timeout_at},
};

/// Silence after which a peer is taken for dead; nodes ping each second. Also the time to say hello and to take an answer.
const SILENCE: Duration = Duration::from_secs(5);
/// Commands that wait for one node.
const OUTBOUND: usize = 64;
/// Most bytes read at once.
const READ_SIZE: usize = 64 * 1024;

/// How often samples are looked at for their age.
const EXPIRY: Duration = Duration::from_secs(1);

/// Accepts nodes until they are [let go](Dac::release_nodes).
pub async fn serve(dac: Arc<Dac>, listener: TcpListener) -> io::Result<()> {
    let mut look = tokio::time::interval(EXPIRY);
    loop {
        let accepted = tokio::select! {
            () = dac.ended() => return Ok(()),
            accepted = listener.accept() => accepted,
            _ = look.tick() => {
                dac.expire(now());
                continue;
            }
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or a peer that left while it waited: others may still come.
                tracing::warn!(%error, "accepting a node failed");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = dac.admission.try_admit() else {
            dac.admission.count_refused("too_many_connections");
            tracing::warn!(%peer, "node refused: channel.max_connections is reached");
            continue;
        };
        let dac = dac.clone();
        tokio::spawn(async move {
            connection(dac, stream, peer).await;
            drop(place);
        });
    }
}

async fn connection(dac: Arc<Dac>, mut stream: TcpStream, peer: SocketAddr) {
    // Without it a command would wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let (outbound, commands) = mpsc::channel(OUTBOUND);
    let route = Route::open(&dac);
    let offer = route.as_ref().map(|route| route.offer);
    let mut session = NodeSession::new(dac.clone(), outbound).offering(offer);
    let ended = converse(&dac, &mut stream, &mut session, commands, route).await;
    let node = session.node().map(str::to_owned);
    session.close(now());
    match ended {
        Ok(()) => tracing::info!(%peer, node = node.as_deref(), "node disconnected"),
        Err(End::Io(error)) => tracing::info!(%peer, node = node.as_deref(), %error, "node lost"),
        Err(End::Refused(failure)) => {
            dac.admission.count_refused(&failure.code);
            tracing::warn!(%peer, node = node.as_deref(), %failure, "node refused");
            let mut bytes = Vec::new();
            write_control(&DacMessage::Refused(failure), &mut bytes);
            // A courtesy: a peer that does not read it is closed all the same.
            let _ = timeout_at(Instant::now() + Duration::from_secs(1), stream.write_all(&bytes)).await;
        }
    }
}

enum End {
    Io(io::Error),
    Refused(Failure),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

async fn converse(
    dac: &Dac,
    stream: &mut TcpStream,
    session: &mut NodeSession,
    mut commands: mpsc::Receiver<DacMessage>,
    mut route: Option<Route>,
) -> Result<(), End> {
    let mut reader = Reader::new(dac.config.channel.max_message_bytes);
    let mut answers = Vec::new();
    let mut bytes = Vec::new();
    let mut deadline = Instant::now() + SILENCE;
    let mut buffer = vec![0; READ_SIZE];
    let mut ended = pin!(dac.ended());
    loop {
        tokio::select! {
            () = &mut ended => return Ok(()),
            read = stream.read(&mut buffer) => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                dac.admission.count_received(length);
                reader.extend(&buffer[..length]);
                let mut heard = false;
                while let Some(frame) = reader.next().map_err(|error| refuse(error.code(), &error))? {
                    session.handle(frame, now(), &mut answers).map_err(End::Refused)?;
                    heard = true;
                }
                // Only whole frames count as life: a peer that dribbles bytes is not one.
                if heard {
                    session.acknowledge(now(), &mut answers);
                    deadline = Instant::now() + SILENCE;
                }
            }
            batch = Route::receive(&mut route) => {
                datagrams(dac, session, batch, &mut route);
                session.acknowledge(now(), &mut answers);
            }
            () = wait_until(session.due()) => {
                session.overdue(now());
                session.acknowledge(now(), &mut answers);
            }
            command = commands.recv() => match command {
                Some(command) => answers.push(command),
                // Another connection of the same node has taken over.
                None => return Ok(()),
            },
            () = tokio::time::sleep_until(deadline) => {
                let code = if session.node().is_some() { "idle_timeout" } else { "hello_timeout" };
                return Err(refuse(code, &format!("nothing was heard for {} s", SILENCE.as_secs())));
            }
        }
        bytes.clear();
        answers.drain(..).for_each(|answer| write_control(&answer, &mut bytes));
        timeout_at(Instant::now() + SILENCE, stream.write_all(&bytes)).await.map_err(io::Error::from)??;
        if session.has_left() {
            return Ok(());
        }
    }
}

/// Takes a batch, and those that came with it: no more than wait at once, so that who sends without a pause does not keep the rest of his
/// conversation waiting.
fn datagrams(dac: &Dac, session: &mut NodeSession, first: Vec<u8>, route: &mut Option<Route>) {
    let more = std::iter::from_fn(|| route.as_mut().and_then(Route::try_receive));
    for batch in std::iter::once(first).chain(more).take(QUEUE) {
        if let Err(failure) = session.datagram(&batch, now()) {
            // Whoever knows the token may spoil what he sends, not the conversation.
            dac.admission
                .count_refused(&format!("datagram_{}", failure.code.trim_start_matches("datagram_")));
        }
    }
}

async fn wait_until(due: Option<Nanos>) {
    match due {
        Some(due) => tokio::time::sleep(Duration::from_nanos(due.0.saturating_sub(now().0))).await,
        None => std::future::pending().await,
    }
}

fn refuse(code: &str, message: &impl ToString) -> End {
    End::Refused(Failure::new(code, message.to_string()))
}
