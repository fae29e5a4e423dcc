//! State that all connections share.

use crate::{
    answer::AnswerBudget, cancel::CancelRegistry, config::PostgresqlProtocolConfig, state::ServerCounters,
};
use oasis_api::Queries;
use oasis_dac::listener::Addresses;
use oasis_tls::ServerTls;
use std::{fmt, sync::Arc};
use tokio::sync::Semaphore;

/// Most connections that have not signed in yet.
const MAX_PENDING_CONNECTIONS: usize = 64;
/// Most connections of one address that have not signed in yet.
const MAX_PENDING_OF_ADDRESS: usize = 16;

/// State that all connections share.
pub struct Shared {
    /// Queries of the DAC.
    pub queries: Queries,
    /// Certificates of the DAC.
    pub tls: Option<Arc<ServerTls>>,
    /// Counters.
    pub counters: Arc<ServerCounters>,
    /// Statements that can be canceled.
    pub cancels: Arc<CancelRegistry>,
    /// Memory for answers.
    pub budget: AnswerBudget,
    /// Permits of connections that have not signed in yet.
    pub pending: Arc<Semaphore>,
    /// The same, for each address.
    pub addresses: Arc<Addresses>,
    /// Permits of sessions.
    pub sessions: Arc<Semaphore>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// No connections.
    pub fn new(
        config: &PostgresqlProtocolConfig,
        queries: Queries,
        tls: Option<Arc<ServerTls>>,
        counters: Arc<ServerCounters>,
        budget: AnswerBudget,
    ) -> Self {
        Self {
            queries,
            tls,
            counters,
            cancels: Arc::default(),
            budget,
            pending: Arc::new(Semaphore::new(MAX_PENDING_CONNECTIONS)),
            addresses: Addresses::new(MAX_PENDING_OF_ADDRESS),
            sessions: Arc::new(Semaphore::new(config.max_connections)),
        }
    }
}
