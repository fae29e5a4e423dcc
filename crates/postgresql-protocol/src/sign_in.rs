//! The beginning of a connection: TLS, user and password.

use crate::{
    failure::{SqlFailure, code},
    message::{BadMessage, MAX_OPENING_BYTES, Opening, Request, parse, parse_opening},
    reply::Replies,
    shared::Shared,
    state::count,
    stream::{MessageStream, Transport, read_opening},
};
use oasis_access::{Secret, TOKEN_PREFIX, Target, Verb};
use oasis_http::permissions::Caller;
use std::{io, net::SocketAddr, sync::Arc};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_rustls::TlsAcceptor;

/// Requests for encryption that a connection may send.
const MAX_ENCRYPTION_REQUESTS: usize = 2;
/// The only version of the protocol; later minor versions are negotiated down to it.
const VERSION: u16 = 3;
/// Longest name of a user or a database, bytes.
const MAX_NAME_BYTES: usize = 255;

/// A client that has signed in.
pub struct SignedIn {
    /// Its stream.
    pub stream: MessageStream,
    /// The client as a principal of the DAC.
    pub caller: Caller,
    /// The cookie of its session, if it has shown a password.
    pub cookie: Option<Secret>,
    /// Name of the user.
    pub user: String,
    /// Name of the database.
    pub database: String,
    /// Settings that it asks for.
    pub settings: Vec<(String, String)>,
    /// Options of the protocol that are unknown here, if it asks for a later version.
    pub unknown: Option<Vec<String>>,
}

/// A stream of which the first message has been read.
struct Opened {
    transport: Box<dyn Transport>,
    is_encrypted: bool,
    version: (u16, u16),
    parameters: Vec<(String, String)>,
}

/// Signs a client in. `None` if it has gone, was refused, or only asked to cancel a statement.
///
/// # Errors
/// If the stream fails.
pub async fn sign_in(shared: &Shared, stream: TcpStream, peer: SocketAddr) -> io::Result<Option<SignedIn>> {
    let Some(opened) = open(shared, stream).await? else { return Ok(None) };
    let Opened { transport, is_encrypted, version, parameters } = opened;
    let mut stream = MessageStream::new(transport);
    if version.0 != VERSION {
        let message = format!("protocol {}.{} is not supported: only 3.0 is", version.0, version.1);
        return refuse(&mut stream, &SqlFailure::new(code::UNSUPPORTED, message)).await;
    }
    let find =
        |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let user = find("user").unwrap_or_default();
    let database = find("database").filter(|name| !name.is_empty()).unwrap_or_else(|| user.clone());
    if user.is_empty() || user.len() > MAX_NAME_BYTES || database.len() > MAX_NAME_BYTES {
        let message = format!("user and database need names of at most {MAX_NAME_BYTES} bytes");
        return refuse(&mut stream, &SqlFailure::new(code::NOT_AUTHENTICATED, message)).await;
    }
    if find("replication").is_some_and(|value| !matches!(value.as_str(), "false" | "off" | "no" | "0")) {
        return refuse(&mut stream, &SqlFailure::new(code::UNSUPPORTED, "replication is not supported"))
            .await;
    }
    let authenticated = authenticate(shared, &mut stream, &user, (peer, is_encrypted)).await?;
    let (caller, cookie) = match authenticated {
        Ok(signed_in) => signed_in,
        Err(failure) => {
            count(&shared.counters.failed_sign_ins);
            return refuse(&mut stream, &failure).await;
        }
    };
    if let Err(problem) = shared.queries.authorize(&caller) {
        count(&shared.counters.failed_sign_ins);
        return refuse(&mut stream, &problem.into()).await;
    }
    let is_option = |name: &str| name.starts_with("_pq_.");
    let options: Vec<_> =
        parameters.iter().map(|(name, _)| name.clone()).filter(|name| is_option(name)).collect();
    let unknown = (version.1 > 0 || !options.is_empty()).then_some(options);
    let settings = parameters.into_iter().filter(|(name, _)| !is_option(name)).collect();
    Ok(Some(SignedIn { stream, caller, cookie, user, database, settings, unknown }))
}

/// Reads the first messages, and encrypts the stream if the client asks for it.
async fn open(shared: &Shared, stream: TcpStream) -> io::Result<Option<Opened>> {
    let mut transport: Box<dyn Transport> = Box::new(stream);
    let mut is_encrypted = false;
    for _ in 0..=MAX_ENCRYPTION_REQUESTS {
        let content = read_opening(&mut *transport).await?;
        match parse_opening(&content).map_err(io::Error::other)? {
            Opening::Tls => match shared.tls.as_ref().filter(|_| !is_encrypted) {
                Some(tls) => {
                    transport.write_all(b"S").await?;
                    let mut config = (*tls.doors()).clone();
                    config.alpn_protocols = vec![b"postgresql".to_vec()];
                    let acceptor = TlsAcceptor::from(Arc::new(config));
                    transport = Box::new(acceptor.accept(transport).await?);
                    is_encrypted = true;
                }
                None => transport.write_all(b"N").await?,
            },
            Opening::Gss => transport.write_all(b"N").await?,
            Opening::Cancel { process, secret } => {
                if !shared.cancels.cancel(process, &secret) {
                    count(&shared.counters.wrong_cancels);
                }
                return Ok(None);
            }
            Opening::Session { version, parameters } => {
                return Ok(Some(Opened { transport, is_encrypted, version, parameters }));
            }
        }
    }
    Err(io::Error::other(BadMessage::Form('S')))
}

/// Finds out who the client is.
async fn authenticate(
    shared: &Shared,
    stream: &mut MessageStream,
    user: &str,
    (peer, is_encrypted): (SocketAddr, bool),
) -> io::Result<Result<(Caller, Option<Secret>), SqlFailure>> {
    let permissions = shared.queries.permissions();
    let is_local = peer.ip().to_canonical().is_loopback();
    let is_account = permissions.access.document().users().keys().any(|name| name.as_str() == user);
    // An account and a token keep their own rights on this host too.
    if is_local && !is_account && user != TOKEN_USER {
        let caller = permissions.without_credentials(peer);
        if caller.may(Verb::Sql, Target::SomeOfDac) {
            return Ok(Ok((caller, None)));
        }
    }
    if !is_encrypted && !is_local {
        let message = match shared.tls {
            Some(_) => "passwords and tokens are taken over TLS only: connect with sslmode=require",
            None => {
                "passwords and tokens are taken over TLS only, and this DAC has no certificate: set tls.certificate and tls.key"
            }
        };
        return Ok(Err(SqlFailure::new(code::NOT_AUTHENTICATED, message)));
    }
    let mut replies = Replies::default();
    replies.ask_password();
    stream.write(&replies.0).await?;
    let Some((kind, content)) = stream.next(MAX_OPENING_BYTES).await? else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let Request::Password(password) = parse(kind, &content).map_err(io::Error::other)? else {
        return Ok(Err(SqlFailure::new(code::PROTOCOL, "a password was expected")));
    };
    let wrong = |message: String| SqlFailure::new(code::WRONG_PASSWORD, message);
    if password.starts_with(TOKEN_PREFIX) {
        let caller = permissions.with_token(password, peer).map_err(|ended| wrong(ended.to_string()));
        return Ok(caller.map(|caller| (caller, None)));
    }
    let (permissions, user, password) = (permissions.clone(), user.to_owned(), password.to_owned());
    let checked = tokio::task::spawn_blocking(move || permissions.with_password((&user, &password), peer));
    let checked = checked.await.map_err(io::Error::other)?;
    Ok(checked.map(|(caller, cookie)| (caller, Some(cookie))).map_err(|error| wrong(error.to_string())))
}

/// The user name of clients that have a token and no account.
const TOKEN_USER: &str = "token";

/// Tells the client why it is refused.
async fn refuse<T>(stream: &mut MessageStream, failure: &SqlFailure) -> io::Result<Option<T>> {
    let mut replies = Replies::default();
    replies.error(failure, true, None);
    stream.write(&replies.0).await.map(|()| None)
}
