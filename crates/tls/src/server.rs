//! The settings of a server, loaded again when their files change.

use crate::{Facts, NodeCertificate, Peer, TlsError, files, has_aes, itself::Itself, provider};
use rustls::{
    ClientConfig, ServerConfig,
    crypto::{CryptoProvider, ring::Ticketer},
    pki_types::{CertificateDer, PrivateKeyDer},
    server::{NoServerSessionStorage, WebPkiClientVerifier, danger::ClientCertVerifier},
    sign::CertifiedKey,
};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Files of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFiles {
    /// The server's certificate, followed by those between it and its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Authorities of nodes. With this, a node must have a certificate of one of them.
    pub node_ca: Option<PathBuf>,
}

/// The settings of a server. Connections keep those that they began with; later ones get those of the files as they are then.
#[derive(Debug)]
pub struct ServerTls {
    files: ServerFiles,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    /// Stamps of the files when they were read last, whether they were good or bad.
    seen: Vec<Option<Stamp>>,
    loaded: Loaded,
}

/// Stamp that distinguishes a file from an earlier one of the same name: inode, size and time of change.
type Stamp = (u64, u64, i64, i64);

/// Everything that is made of the files.
#[derive(Debug, Clone)]
struct Loaded {
    doors: Arc<ServerConfig>,
    grpc: Arc<ServerConfig>,
    channel: Arc<ServerConfig>,
    itself: Arc<ClientConfig>,
    own: Option<CertificateDer<'static>>,
    facts: Option<Facts>,
}

/// A certificate chain and its key.
#[derive(Debug)]
pub struct Pair {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

impl ServerTls {
    /// Reads the files. An expired certificate is accepted here: clients refuse it, and the DAC continues to store samples.
    ///
    /// # Errors
    /// If a file cannot be used, others can read the key, or it does not belong to the certificate.
    pub fn load(files: ServerFiles) -> Result<Self, TlsError> {
        let seen = stamps(&files);
        let loaded = Loaded::read(&files)?;
        Ok(Self { files, current: Mutex::new(Current { seen, loaded }) })
    }

    /// Settings of HTTP and WebSocket: ALPN `http/1.1`, no certificates of clients.
    pub fn doors(&self) -> Arc<ServerConfig> {
        self.current().loaded.doors.clone()
    }

    /// Settings of gRPC: as of the doors, but with ALPN `h2`, which clients of gRPC require.
    pub fn grpc(&self) -> Arc<ServerConfig> {
        self.current().loaded.grpc.clone()
    }

    /// Settings of the data channel, with certificates of nodes if they are required.
    pub fn channel(&self) -> Arc<ServerConfig> {
        self.current().loaded.channel.clone()
    }

    /// Settings of clients in the server's own process: they accept exactly its certificate, and prove that they have its key.
    pub fn itself(&self) -> Arc<ClientConfig> {
        self.current().loaded.itself.clone()
    }

    /// Returns the client of the data channel, by the certificates of its handshake; none if its certificate names no node.
    pub fn peer(&self, shown: Option<&[CertificateDer<'_>]>) -> Option<Peer> {
        let Some(certificate) = shown.and_then(<[_]>::first) else { return Some(Peer::Anonymous) };
        if self.current().loaded.own.as_ref() == Some(certificate) {
            return Some(Peer::Itself);
        }
        NodeCertificate::of(certificate).map(Peer::Node)
    }

    /// Returns the facts of the certificate, if it can be parsed.
    pub fn facts(&self) -> Option<Facts> {
        self.current().loaded.facts.clone()
    }

    /// Reads files that have changed since they were read last. Returns whether there are new settings. Bad files change nothing, and are read again
    /// when they change again.
    ///
    /// # Errors
    /// As [`ServerTls::load`], and if the certificate has expired.
    pub fn reload_if_changed(&self) -> Result<bool, TlsError> {
        let seen = stamps(&self.files);
        if self.current().seen == seen {
            return Ok(false);
        }
        let loaded =
            Loaded::read(&self.files).and_then(|loaded| loaded.refuse_expired(&self.files.certificate));
        let mut current = self.current();
        current.seen = seen;
        current.loaded = loaded?;
        Ok(true)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loaded {
    fn read(files: &ServerFiles) -> Result<Self, TlsError> {
        let provider = provider();
        let chain = files::certificates("certificate", &files.certificate)?;
        let pair = Arc::new(Pair { chain, key: files::private_key(&files.key)? });
        pair.check(files, &provider)?;
        let facts = pair.chain.first().and_then(Facts::of);
        let mut doors = builder(&provider)?
            .with_no_client_auth()
            .with_single_cert(pair.chain.clone(), pair.key.clone_key())?;
        doors.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Tickets contain the session, encrypted: a client that comes back needs no signature, however many there were, and no memory here.
        doors.ticketer = Ticketer::new()?;
        let channel = match &files.node_ca {
            Some(path) => builder(&provider)?.with_client_cert_verifier(nodes(path, &pair, &provider)?),
            None => builder(&provider)?.with_no_client_auth(),
        };
        let mut channel = channel.with_single_cert(pair.chain.clone(), pair.key.clone_key())?;
        // The server encrypts far more than each client decrypts: its hardware decides, if it has no AES.
        doors.ignore_client_order = !has_aes();
        // A resumed session would not show its certificate again, which may have expired meanwhile.
        channel.session_storage = Arc::new(NoServerSessionStorage {});
        channel.send_tls13_tickets = 0;
        let verifier = Arc::new(Itself { pair: pair.clone(), provider: provider.clone(), others: None });
        let itself = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_auth_cert(pair.chain.clone(), pair.key.clone_key())?;
        let own = pair.chain.first().cloned();
        let mut grpc = doors.clone();
        grpc.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self {
            doors: Arc::new(doors),
            grpc: Arc::new(grpc),
            channel: Arc::new(channel),
            itself: Arc::new(itself),
            own,
            facts,
        })
    }

    fn refuse_expired(self, path: &Path) -> Result<Self, TlsError> {
        match &self.facts {
            Some(facts) if facts.ends < SystemTime::now() => {
                Err(TlsError::Expired { path: path.to_owned(), day: facts.last_day.clone() })
            }
            _ => Ok(self),
        }
    }
}

impl Pair {
    /// Files that are written one after the other may not belong together for a moment.
    fn check(&self, files: &ServerFiles, provider: &CryptoProvider) -> Result<(), TlsError> {
        match CertifiedKey::from_der(self.chain.clone(), self.key.clone_key(), provider) {
            Ok(_) => Ok(()),
            Err(rustls::Error::InconsistentKeys(_)) => {
                let ServerFiles { certificate, key, .. } = files.clone();
                Err(TlsError::NoPair { certificate, key })
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn builder(
    provider: &Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier>, TlsError> {
    Ok(ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?)
}

/// Accepts the nodes of an authority, and those of the server's own process.
fn nodes(
    path: &Path,
    pair: &Arc<Pair>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let what = "CA certificate of the nodes";
    let roots = Arc::new(files::authorities(what, path)?);
    let others = WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build();
    let others =
        others.map_err(|error| TlsError::Content { what, path: path.to_owned(), why: error.to_string() })?;
    Ok(Arc::new(Itself { pair: pair.clone(), provider: provider.clone(), others: Some(others) }))
}

fn stamps(files: &ServerFiles) -> Vec<Option<Stamp>> {
    let all = [Some(&files.certificate), Some(&files.key), files.node_ca.as_ref()];
    all.into_iter().flatten().map(|path| stamp(path)).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
}
