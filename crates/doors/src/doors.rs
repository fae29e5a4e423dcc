//! State that all doors share.

use crate::{
    config::DoorsConfig,
    fleet::{Fleets, StandingAlarms},
    past::ArchiveAccess,
    places::{Door, DoorPermit, Places},
    shard_choice::ShardChoice,
    shards_view::ShardsView,
    text::writers::Writers,
    websocket::{Shards, SharedContext},
};
use axum::http::HeaderMap;
use oasis_archive::Archive;
use oasis_dac::{Admission, Dac};
use oasis_http::{HttpContext, Problem, permissions::Permissions};
use oasis_tls::ServerTls;
use std::{collections::BTreeMap, io, net::IpAddr, sync::Arc};
use tokio::{runtime::Handle, sync::watch};

/// State that all doors share.
#[derive(Debug, Clone)]
pub struct Doors {
    /// The DAC that is read.
    pub dac: Arc<Dac>,
    /// Bounds.
    pub config: Arc<DoorsConfig>,
    /// Limits and counts WebSockets, and counts refused clients.
    pub admission: Arc<Admission>,
    /// Permissions of all callers.
    pub permissions: Arc<Permissions>,
    /// State that all requests share.
    pub http: HttpContext,
    pub(crate) ending: Arc<watch::Sender<bool>>,
    pub(crate) places: Arc<Places>,
    fleets: Arc<Fleets>,
    pub(crate) shards: Arc<Shards>,
    pub(crate) writers: Arc<Writers>,
    /// The archive, if there is one, and permits to read it.
    pub archived: ArchiveAccess,
}

impl Doors {
    /// Creates the doors to `dac`, and to its archive if there is one. There are no accounts: this host may do everything, others nothing.
    /// Starts the threads that own WebSockets. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(dac: Arc<Dac>, config: DoorsConfig, archive: Option<Arc<Archive>>) -> io::Result<Self> {
        Self::with_permissions(dac, config, archive, Permissions::in_memory())
    }

    /// The same, with accounts.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn with_permissions(
        dac: Arc<Dac>,
        config: DoorsConfig,
        archive: Option<Arc<Archive>>,
        permissions: Permissions,
    ) -> io::Result<Self> {
        let permissions = Arc::new(permissions);
        let admission = Arc::new(Admission::new(config.max_websockets));
        // Another set of doors to the same DAC counts for itself.
        let _ = dac.clients.set(admission.clone());
        let places = Arc::new(Places::new(&config));
        let http = HttpContext::new(config.http(), admission.clone(), permissions.clone());
        let config = Arc::new(config);
        let archived = ArchiveAccess::new(archive);
        let fleets = Arc::new(Fleets::new(dac.clone()));
        let shards = Shards::start(&SharedContext {
            dac: dac.clone(),
            config: config.clone(),
            admission: admission.clone(),
            archived: archived.clone(),
            fleets: fleets.clone(),
            permissions: permissions.clone(),
            runtime: Handle::current(),
        })?;
        Ok(Self {
            dac,
            config,
            admission,
            permissions,
            http,
            ending: Arc::default(),
            places,
            fleets,
            shards: Arc::new(shards),
            writers: Arc::new(Writers::start()?),
            archived,
        })
    }

    /// Serves HTTPS and WSS with these certificates, and nothing else.
    pub fn with_tls(self, tls: Option<Arc<ServerTls>>) -> Self {
        Self { http: self.http.with_tls(tls), ..self }
    }

    /// Whether clients need TLS.
    pub fn is_encrypted(&self) -> bool {
        self.http.is_encrypted()
    }

    /// Requests that were refused lately because their principal sent too many.
    pub fn limited_lately(&self) -> Option<u64> {
        self.http.limited_lately()
    }

    /// Readers at each text door now.
    pub fn readers(&self) -> BTreeMap<&'static str, usize> {
        self.places.open()
    }

    /// Lets fleets show standing alarms.
    pub fn show_alarms(&self, source: Arc<dyn StandingAlarms>) {
        self.fleets.show_alarms(source);
    }

    /// Returns the activity of the threads that write to WebSockets.
    pub fn shards(&self) -> ShardsView {
        self.shards.view()
    }

    /// Changes the number of threads that write to WebSockets. No connection is closed.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn choose_shards(&self, choice: ShardChoice) -> io::Result<()> {
        self.shards.choose(choice)
    }

    /// A place of the peer among the readers of server-sent events, for as long as it reads.
    ///
    /// # Errors
    /// Status 503 or 429, if all places are taken.
    pub fn event_reader(&self, peer: IpAddr) -> Result<DoorPermit, Problem> {
        self.places.enter(Door::Events, peer).map_err(|(code, problem)| {
            self.admission.count_refused(code);
            problem
        })
    }

    /// Completes when all connections have to end.
    pub async fn ended(&self) {
        // An error would mean that no `Doors` is left, and here is one.
        let _ = self.ending.subscribe().wait_for(|&ending| ending).await;
    }

    /// Admits programs, the own page and allowed origins; logs and counts the others.
    ///
    /// # Errors
    /// Status 403 with `detail`.
    pub fn admit(&self, headers: &HeaderMap, detail: &str) -> Result<(), Problem> {
        self.http.admit(headers, detail)
    }
}
