//! Certificates of a run: an authority of its own, and one certificate for all servers, so that each makes the same signatures.

use anyhow::Context;
use oasis_tls::{Authority, ClientFiles, Issued, Lifetime, ServerFiles, ServerTls};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig, SupportedCipherSuite,
    client::Resumption,
    crypto::{CryptoProvider, ring::default_provider},
    version::TLS13,
};
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;

/// An authority, and the certificate that it has issued for loopback.
#[derive(Debug)]
pub struct Certificates {
    _folder: TempDir,
    authority: PathBuf,
    server: Issued,
}

/// Whether a client shows the ticket of an earlier session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// Each begins with a full handshake.
    Fresh,
    /// Each but the first resumes an earlier one.
    Resumed,
}

impl Certificates {
    /// Makes them in a folder that is gone at the end.
    pub fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let authority = Authority::create(folder.path())?;
        let server = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(1))?;
        Ok(Self { authority: authority.certificate(), server, _folder: folder })
    }

    /// The flags of a server.
    pub fn flags(&self) -> anyhow::Result<[&str; 4]> {
        let [certificate, key] = [&self.server.certificate, &self.server.key].map(|path| path.to_str());
        let no_text = "the folder of temporary files is no text";
        Ok(["--tls-certificate", certificate.context(no_text)?, "--tls-key", key.context(no_text)?])
    }

    /// The settings of clients.
    pub fn client(&self, session: Session) -> anyhow::Result<Arc<ClientConfig>> {
        let files = ClientFiles { ca: Some(self.authority.clone()), ..ClientFiles::default() };
        let mut config = ClientConfig::clone(&*files.load()?);
        if session == Session::Fresh {
            config.resumption = Resumption::disabled();
        }
        Ok(Arc::new(config))
    }

    /// The settings of a client that knows one cipher suite.
    pub fn client_of(&self, suite: SupportedCipherSuite) -> anyhow::Result<Arc<ClientConfig>> {
        let files = ClientFiles { ca: Some(self.authority.clone()), ..ClientFiles::default() };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(files.authorities()?);
        let provider = CryptoProvider { cipher_suites: vec![suite], ..default_provider() };
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    /// The settings of a server in this process.
    pub fn server(&self) -> anyhow::Result<Arc<ServerConfig>> {
        let Issued { certificate, key } = self.server.clone();
        Ok(ServerTls::load(ServerFiles { certificate, key, node_ca: None })?.doors())
    }
}

/// The settings of every server but the DAC: those of its doors, so that each has the same cryptography.
pub fn of_server(files: Option<&ServerFiles>) -> anyhow::Result<Option<Arc<ServerConfig>>> {
    Ok(files.map(|files| ServerTls::load(files.clone())).transpose()?.map(|tls| tls.doors()))
}
