//! The server of the PostgreSQL protocol, if the configuration asks for one.

#[cfg(feature = "postgresql-protocol")]
pub use built::SqlDoor;
#[cfg(not(feature = "postgresql-protocol"))]
pub use not_built::SqlDoor;

#[cfg(feature = "postgresql-protocol")]
mod built {
    use crate::{config::Config, live::encryption, live::serve::sockets::listen};
    use oasis_api::Api;
    use oasis_handler::Handler;
    use oasis_postgresql_protocol::{Serving, SqlServer};
    use oasis_tls::ServerTls;
    use std::{net::TcpListener, sync::Arc};

    /// The server and its listener, until the API is there.
    pub struct SqlDoor(Option<(Arc<SqlServer>, TcpListener, String)>);

    impl SqlDoor {
        /// Listens at the configured address, if there is one.
        pub async fn open(config: &Config, is_encrypted: bool) -> anyhow::Result<Self> {
            let section = &config.postgresql_protocol;
            let Some(server) = SqlServer::configured(section.clone()) else { return Ok(Self(None)) };
            anyhow::ensure!(
                !config.archive.directory.is_empty(),
                "postgresql_protocol.listen is set, but queries need an archive: name its folder (--archive DIR or archive.directory)"
            );
            let what = "the PostgreSQL protocol";
            let listener = listen(&section.listen, what, "postgresql_protocol.listen").await?;
            let address = listener.local_addr()?;
            encryption::check(address, what, is_encrypted, config.insecure)?;
            Ok(Self(Some((Arc::new(server), listener.into_std()?, address.to_string()))))
        }

        /// The server as a handler.
        pub fn handler(&self) -> Option<Arc<dyn Handler>> {
            self.0.as_ref().map(|(server, ..)| -> Arc<dyn Handler> { server.clone() })
        }

        /// Gives the server its queries. Returns its address.
        pub fn connect(self, api: &Api, tls: Option<Arc<ServerTls>>) -> Option<String> {
            let (server, listener, address) = self.0?;
            server.connect(Serving { queries: api.queries(), tls, listener });
            Some(address)
        }
    }
}

#[cfg(not(feature = "postgresql-protocol"))]
mod not_built {
    use crate::config::Config;
    use oasis_api::Api;
    use oasis_handler::Handler;
    use oasis_tls::ServerTls;
    use std::sync::Arc;

    /// No server: settings that ask for one are refused.
    pub struct SqlDoor;

    impl SqlDoor {
        #[expect(clippy::unused_async, reason = "the other one listens")]
        pub async fn open(_: &Config, _: bool) -> anyhow::Result<Self> {
            Ok(Self)
        }

        #[expect(clippy::unused_self, reason = "the other one has a server")]
        pub fn handler(&self) -> Option<Arc<dyn Handler>> {
            None
        }

        #[expect(clippy::unused_self, reason = "the other one has a server")]
        pub fn connect(self, _: &Api, _: Option<Arc<ServerTls>>) -> Option<String> {
            None
        }
    }
}
