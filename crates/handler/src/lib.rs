//! The interface of handlers, which act on samples inside the DAC.
//!
//! A [`Handler`] has a name, runs on a thread of its own until it is asked to stop, and reports its state at any time. The [`Supervisor`] starts and
//! stops handlers, restarts one that fails or panics with a growing pause, and lists them for API, command line and page. A failing handler harms no
//! other one, and nothing waits for it.
//!
//! ```
//! use oasis_handler::{Context, Failure, Handler, Supervisor};
//! use serde_json::{Value, json};
//! use std::{sync::Arc, time::Duration};
//!
//! struct Counter;
//!
//! impl Handler for Counter {
//!     fn name(&self) -> &'static str {
//!         "counter"
//!     }
//!
//!     fn run(&self, context: Context) -> Result<(), Failure> {
//!         // A handler finds its topics in the registry and reads their logs: `context.dac.registry.instances()`.
//!         while !context.stopping.wait_for(Duration::from_millis(10)) {}
//!         Ok(())
//!     }
//!
//!     fn state(&self) -> Value {
//!         json!({"counted": 0})
//!     }
//! }
//!
//! let dac = oasis_dac::Dac::new(oasis_dac::Config::default());
//! let supervisor = Supervisor::new(dac, None, vec![Arc::new(Counter)]);
//! supervisor.start_all();
//! assert_eq!(supervisor.list()[0].name, "counter");
//! supervisor.stop("counter")?;
//! # Ok::<(), oasis_handler::HandlerError>(())
//! ```

mod acknowledge;
mod inlet;
mod life;
mod metrics;
mod probe_commands;
mod reach;
mod status;
mod stopping;
mod supervisor;
mod topic_log;
mod unbuilt;

pub use acknowledge::Acknowledge;
pub use inlet::{InletAnswer, InletRequest};
pub use metrics::{HandlerMetric, HandlerMetrics, MAX_HANDLER_METRICS, MetricKind, StateMetrics};
pub use probe_commands::{CommandAnswer, CommandRefusal, ProbeCommands, TokenCommand};
pub use reach::Reach;
pub use status::{Condition, Status};
pub use stopping::Stopping;
pub use supervisor::{HandlerError, Supervisor};
pub use topic_log::{InstanceLog, series_of};
pub use unbuilt::UnbuiltSection;

use oasis_dac::Dac;
use oasis_health::Pulse;
use oasis_store::History;
use serde_json::Value;
use std::{pin::Pin, sync::Arc, time::Duration};

/// Acts on samples inside the DAC.
pub trait Handler: Send + Sync + 'static {
    /// Its name in the configuration file, the API and the log.
    fn name(&self) -> &'static str;

    /// Runs on its own thread until `context.stopping` is set. May block.
    ///
    /// # Errors
    /// If it cannot continue. The supervisor reports the failure and starts it again after a pause.
    fn run(&self, context: Context) -> Result<(), Failure>;

    /// Returns its state for the API and the page. Must neither block nor take long; called from other threads, running or not.
    fn state(&self) -> Value;

    /// Returns the members of its state that are metrics of `/metrics`.
    fn metrics(&self) -> StateMetrics {
        StateMetrics::default()
    }

    /// Returns why it does not do its work at present although it runs, such as a full disk. Must not block; called from other threads.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Returns warnings about a handler that works, one sentence each. Must not block; called from other threads.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it copies sealed segments of the archive: retention keeps a segment until its copy is safe
    /// (`History::0.copies`), as long as the disk has room.
    fn copies_segments(&self) -> bool {
        false
    }

    /// Returns the timeout of a stop; after that its thread is abandoned.
    fn stop_deadline(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Returns a document that it serves over HTTP at this path, such as `/metrics`. `accept` is the request's header. May take some
    /// milliseconds; called only while it runs. `all` has all handlers, this one too.
    fn document(&self, path: &str, accept: &str, all: &Supervisor) -> Option<Document> {
        let _ = (path, accept, all);
        None
    }

    /// Takes a request of a program that speaks another protocol; `None` if its path belongs to another handler. Called while it runs, on threads
    /// that may wait.
    fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        let _ = request;
        None
    }
}

/// A section of the configuration file, and the handler that it makes.
pub trait ConfiguredHandler {
    /// The section, with its defaults.
    type Config;
    /// The handler.
    type Handler: Handler;
    /// Why a section is wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Creates the handler of a section; `None` if the section leaves it switched off.
    ///
    /// # Errors
    /// If a setting is invalid. Problems that may be solved while the DAC runs, such as an unreachable database, are no errors.
    fn configured(config: Self::Config) -> Result<Option<Self::Handler>, Self::Error>;
}

/// The context of a handler when it starts.
#[derive(Clone)]
pub struct Context {
    /// Registry, topic logs and command bus.
    pub dac: Arc<Dac>,
    /// Samples that the topic logs have evicted, if there is an archive.
    pub archive: Option<Arc<dyn StoredSamples>>,
    /// Commands to probes, if the program that runs the handlers takes them.
    pub commands: Option<Arc<dyn ProbeCommands>>,
    /// The request to stop.
    pub stopping: Stopping,
    /// Marks calls that may hang: `context.pulse.begin("write a file")`.
    pub pulse: Arc<Pulse>,
}

/// The archive as a handler sees it.
pub trait StoredSamples: Send + Sync + 'static {
    /// The stored samples.
    fn history(&self) -> History;

    /// Completes when all samples received before the call are stored, or with the reason why they cannot be.
    fn flush(&self) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + '_>>;
}

/// Reason why a handler cannot continue, for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// A document that a handler serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub body: Vec<u8>,
}
