//! The node's end: a thread carries the stream while a connection lasts.

use super::{
    dac_subject,
    subjects::{Subjects, WINDOW, subjects},
};
use crate::{Connection, Target};
use oasis_channel::{Connector, Patience, Receiver, Sender, carried::pump, tcp};
use std::{io, os::unix::net::UnixStream, sync::mpsc, thread, time::Duration};
use tokio::time::timeout;
use uuid::Uuid;

/// Longest wait for NATS in addition to that for the DAC.
const NATS: Duration = Duration::from_secs(6);

/// Connects to a DAC through NATS.
#[derive(Debug, Clone)]
pub struct NatsConnector {
    target: Target,
    /// Any DAC if there is no name.
    dac: Option<String>,
    patience: Patience,
}

impl NatsConnector {
    /// Creates a connector to a DAC of this name, or to any.
    pub fn new(target: Target, dac: Option<String>) -> Self {
        Self { target, dac, patience: Patience::ONE_DAC }
    }

    /// Sets how long the node waits for the DAC.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }
}

impl Connector for NatsConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (near, far) = UnixStream::pair()?;
        far.set_nonblocking(true)?;
        let (ready, is_ready) = mpsc::channel();
        let (target, dac, patience) = (self.target.clone(), self.dac.clone(), self.patience);
        // The thread ends with the connection: the node closes its half, or the DAC does.
        thread::Builder::new().name("oasis-nats".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let carried = runtime.and_then(|runtime| {
                runtime.block_on(async {
                    let mut subjects = match open(&target, dac.as_deref(), patience).await {
                        Ok(opened) => opened,
                        Err(error) => {
                            let _ = ready.send(Err(error));
                            return Ok(());
                        }
                    };
                    let _ = ready.send(Ok(()));
                    pump(tokio::net::UnixStream::from_std(far)?, &mut subjects, WINDOW).await
                })
            });
            if let Err(error) = carried {
                tracing::warn!(%error, "the data channel over NATS has ended");
            }
        })?;
        let silent = |_| io::Error::new(io::ErrorKind::TimedOut, "NATS does not answer");
        is_ready.recv_timeout(NATS + patience.connect).map_err(silent)??;
        tcp::halves_of_pair(near, patience)
    }

    fn target(&self) -> String {
        format!("{} at {}", self.dac.as_deref().unwrap_or("any DAC"), self.target)
    }

    fn patience(&self) -> Patience {
        self.patience
    }
}

/// Asks a DAC for a connection.
async fn open(target: &Target, dac: Option<&str>, patience: Patience) -> io::Result<Subjects> {
    let connection = Connection::open(target, "oasis-node").await.map_err(io::Error::other)?;
    let id = Uuid::new_v4();
    let (up, down) = subjects(id);
    let from = connection.client.subscribe(down).await.map_err(io::Error::other)?;
    connection.client.flush().await.map_err(io::Error::other)?;
    let subject = dac_subject(dac);
    let asked = connection.client.request(subject.clone(), id.as_bytes().to_vec().into());
    let answer = timeout(patience.connect, asked).await.map_err(io::Error::from)?;
    let absent = |error: async_nats::RequestError| {
        let name = dac.unwrap_or("any DAC");
        io::Error::new(
            io::ErrorKind::ConnectionRefused,
            format!("{name} does not answer at {subject}: {error}"),
        )
    };
    let answer = answer.map_err(absent)?;
    match &*answer.payload {
        b"ok" => Ok(Subjects { client: connection.client, from, to: up }),
        why => Err(io::Error::new(
            io::ErrorKind::ConnectionRefused,
            String::from_utf8_lossy(why).chars().take(500).collect::<String>(),
        )),
    }
}
