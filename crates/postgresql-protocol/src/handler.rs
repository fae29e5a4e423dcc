//! The server as a handler of the DAC: started, stopped and listed like the others.

use crate::{
    answer::AnswerBudget, config::PostgresqlProtocolConfig, server::serve, shared::Shared,
    state::ServerCounters,
};
use oasis_api::Queries;
use oasis_handler::{Context, Failure, Handler, StateMetrics};
use oasis_tls::ServerTls;
use serde_json::Value;
use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::runtime;

/// Parts of the DAC that the server needs.
pub struct Serving {
    /// Queries of the DAC.
    pub queries: Queries,
    /// Certificates of the DAC.
    pub tls: Option<Arc<ServerTls>>,
    /// The listener of the first start.
    pub listener: TcpListener,
}

/// The parts that a start takes.
#[derive(Default)]
struct Parts {
    shared: Option<Arc<Shared>>,
    listener: Option<TcpListener>,
    address: Option<SocketAddr>,
}

/// Serves SQL over the PostgreSQL protocol.
pub struct SqlServer {
    config: PostgresqlProtocolConfig,
    counters: Arc<ServerCounters>,
    budget: AnswerBudget,
    /// Locked to take or copy the pointers.
    parts: Mutex<Parts>,
}

impl SqlServer {
    /// A server that has no listener yet.
    pub fn new(config: PostgresqlProtocolConfig) -> Self {
        Self { config, counters: Arc::default(), budget: AnswerBudget::default(), parts: Mutex::default() }
    }

    /// Gives it what it needs, before it starts.
    pub fn connect(&self, serving: Serving) {
        let Serving { queries, tls, listener } = serving;
        let shared = Shared::new(&self.config, queries, tls, self.counters.clone(), self.budget.clone());
        let address = listener.local_addr().ok();
        *self.parts() = Parts { shared: Some(Arc::new(shared)), listener: Some(listener), address };
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handler for SqlServer {
    fn name(&self) -> &'static str {
        "postgresql_protocol"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure(format!("cannot serve {}: {error}", self.config.listen));
        let (shared, listener, address) = {
            let mut parts = self.parts();
            (parts.shared.clone(), parts.listener.take(), parts.address)
        };
        let shared = shared.ok_or_else(|| Failure("the server is not connected to the DAC".into()))?;
        let listener = match (listener, address) {
            (Some(listener), _) => listener,
            // Stopped and started again: at the same port, also if the system chose it.
            (None, Some(address)) => TcpListener::bind(address).map_err(failed)?,
            (None, None) => TcpListener::bind(&self.config.listen).map_err(failed)?,
        };
        // A thread of its own: conversions of rows delay no door.
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let served = runtime.block_on(serve(shared, listener, context.stopping));
        runtime.shutdown_background();
        served.map_err(failed)
    }

    fn state(&self) -> Value {
        let address = self.parts().address;
        let address = address.map_or_else(|| self.config.listen.clone(), |address| address.to_string());
        self.counters.state(&address, self.budget.used())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "accepted",
                "refused",
                "failed_sign_ins",
                "queries",
                "failed",
                "canceled",
                "wrong_cancels",
                "malformed",
                "rows",
            ],
            gauges: &["open", "answer_bytes"],
        }
    }
}
