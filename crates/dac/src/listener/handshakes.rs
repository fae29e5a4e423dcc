//! TLS handshakes of a listener, within limits of number and time.

use super::Stream;
use oasis_tls::ServerTls;
use rustls::ServerConfig;
use std::{io, sync::Arc, time::Duration};
use tokio::{
    net::TcpStream,
    sync::Semaphore,
    time::{Instant, sleep_until, timeout_at},
};
use tokio_rustls::TlsAcceptor;

/// Handshakes under way at the same time; further ones wait for a place.
const MAX_HANDSHAKES: usize = 1_024;
/// Timeout of a handshake, from the connection on.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a handshake while others wait for a place.
const CONTENDED_TIMEOUT: Duration = Duration::from_secs(1);
/// RFC 8446 5.1: the first byte of a client's first record.
const HANDSHAKE: u8 = 22;

/// The settings of a listener, of all that a server has.
pub type Settings = fn(&ServerTls) -> Arc<ServerConfig>;

/// Makes TLS connections of a listener's sockets; without certificates it leaves them as they are.
#[derive(Debug)]
pub struct Handshakes {
    tls: Option<(Arc<ServerTls>, Settings)>,
    places: Semaphore,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum NoHandshake {
    /// The peer sent something else than TLS, so it can be told so. Its bytes are still in the socket.
    #[error("the peer does not speak TLS")]
    Plaintext(TcpStream),
    /// The peer took too long.
    #[error("it was not completed in time")]
    Late,
    /// The peer left, or broke the protocol, or one end refused the other's certificate.
    #[error("{0}")]
    Broken(io::Error),
}

impl NoHandshake {
    /// Returns the code for counters.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plaintext(_) => "plaintext",
            Self::Late => "handshake_timeout",
            Self::Broken(_) => "handshake",
        }
    }
}

impl Handshakes {
    /// Creates the handshakes of a listener with these settings.
    pub fn new(tls: Option<Arc<ServerTls>>, settings: Settings) -> Self {
        Self { tls: tls.map(|tls| (tls, settings)), places: Semaphore::new(MAX_HANDSHAKES) }
    }

    /// Whether connections are encrypted.
    pub fn are_required(&self) -> bool {
        self.tls.is_some()
    }

    /// Makes the handshake, if there are to be any. A slow peer costs the others nothing: it has a place for at most a second if they need it.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn accept(&self, stream: TcpStream) -> Result<Stream, NoHandshake> {
        let Some((tls, settings)) = &self.tls else { return Ok(Stream::Plain(stream)) };
        let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
        let mut first = [0];
        match timeout_at(deadline, stream.peek(&mut first)).await {
            Err(_) => return Err(NoHandshake::Late),
            Ok(Err(error)) => return Err(NoHandshake::Broken(error)),
            Ok(Ok(0)) => return Err(NoHandshake::Broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(Ok(_)) if first != [HANDSHAKE] => return Err(NoHandshake::Plaintext(stream)),
            Ok(Ok(_)) => {}
        }
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(NoHandshake::Late);
        };
        let mut handshake = Box::pin(TlsAcceptor::from(settings(tls)).accept(stream));
        loop {
            let look = (Instant::now() + CONTENDED_TIMEOUT).min(deadline);
            tokio::select! {
                ended = &mut handshake => {
                    return ended.map(|stream| Stream::Tls(Box::new(stream))).map_err(NoHandshake::Broken);
                }
                () = sleep_until(look) => {
                    if look == deadline || self.places.available_permits() == 0 {
                        return Err(NoHandshake::Late);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_tls::{Authority, ClientFiles, Lifetime, ServerFiles};
    use tempfile::TempDir;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };
    use tokio_rustls::TlsConnector;

    fn plant() -> (TempDir, Handshakes, TlsConnector) {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(folder.path()).unwrap();
        let issued = authority.issue_server(&["localhost".into()], Lifetime::days(1)).unwrap();
        let files = ServerFiles { certificate: issued.certificate, key: issued.key, node_ca: None };
        let handshakes = Handshakes::new(Some(Arc::new(ServerTls::load(files).unwrap())), ServerTls::channel);
        let client = ClientFiles { ca: Some(authority.certificate()), ..ClientFiles::default() };
        (folder, handshakes, client.load().unwrap().into())
    }

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn a_client_that_speaks_tls_is_connected_and_one_that_does_not_is_recognized() {
        let (_folder, handshakes, connector) = plant();
        let (client, server) = pair().await;
        let name = "localhost".try_into().unwrap();
        let (client, server) = tokio::join!(connector.connect(name, client), handshakes.accept(server));
        let (mut client, mut server) = (client.unwrap(), server.unwrap());
        client.write_all(b"hello").await.unwrap();
        client.flush().await.unwrap();
        let mut bytes = [0; 5];
        server.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"hello");

        let (mut client, server) = pair().await;
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let refused = handshakes.accept(server).await.unwrap_err();
        assert!(matches!(refused, NoHandshake::Plaintext(_)), "{refused:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_handshake_ends_and_gives_way_to_others_sooner() {
        let (_folder, handshakes, _) = plant();
        let began = Instant::now();
        let (_silent, server) = pair().await;
        assert_eq!(handshakes.accept(server).await.unwrap_err().code(), "handshake_timeout");
        assert_eq!(began.elapsed().as_secs(), HANDSHAKE_TIMEOUT.as_secs());

        let _others = handshakes.places.acquire_many(MAX_HANDSHAKES as u32 - 1).await.unwrap();
        let (mut slow, server) = pair().await;
        slow.write_all(&[HANDSHAKE]).await.unwrap();
        server.readable().await.unwrap();
        let began = Instant::now();
        assert_eq!(handshakes.accept(server).await.unwrap_err().code(), "handshake_timeout");
        assert_eq!(began.elapsed().as_secs(), CONTENDED_TIMEOUT.as_secs());
    }

    #[tokio::test]
    async fn without_certificates_a_connection_stays_as_it_is() {
        let (_client, server) = pair().await;
        let plain = Handshakes::new(None, ServerTls::doors).accept(server).await.unwrap();
        assert!(matches!(plain, Stream::Plain(_)));
    }
}
