//! A handler that publishes samples on DDS topics as they arrive.
//!
//! The handler reads each topic log from its own position, like every reader, so nothing waits for it. A probe type has a topic, and each sample of its
//! instances is
//! a sample there, in the order of the log. Only topics with subscribers cost something. `docs/guides/use-dds.md` documents the guarantees.
//!
//! In the order of a sample: a `source` reads the next samples of an instance, `topics` has the writer of its type, `room` bounds what writers keep, and
//! `running` repeats this. Without the feature `participant` there is no DDS, and settings that ask for it are refused.
//!
//! ```
//! use oasis_dds::DdsConfig;
//! use oasis_dds::handler::DdsPublish;
//! use oasis_handler::ConfiguredHandler;
//!
//! assert!(DdsPublish::configured(DdsConfig::default())?.is_none(), "nothing is published");
//! # Ok::<(), oasis_dds::BadDds>(())
//! ```

#[cfg(feature = "participant")]
mod room;
#[cfg(feature = "participant")]
mod running;
#[cfg(feature = "participant")]
mod source;
mod state;
#[cfg(feature = "participant")]
mod topics;

pub use state::{Condition, Loss, State};

use crate::{BadDds, DdsConfig};
use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, StateMetrics};
use serde_json::{Value, json};
use state::SharedState;
use std::sync::Arc;

/// Publishes samples on DDS topics.
#[derive(Debug)]
#[cfg_attr(not(feature = "participant"), allow(dead_code, reason = "without DDS nothing is published"))]
pub struct DdsPublish {
    config: DdsConfig,
    shared: Arc<SharedState>,
}

impl ConfiguredHandler for DdsPublish {
    type Config = DdsConfig;
    type Handler = Self;
    type Error = BadDds;

    fn configured(config: DdsConfig) -> Result<Option<Self>, BadDds> {
        if !config.publish {
            return Ok(None);
        }
        config.check()?;
        Ok(Some(Self { config, shared: Arc::default() }))
    }
}

impl DdsPublish {
    /// Returns how many samples it has published, and how it is.
    pub fn report(&self) -> State {
        self.shared.lock().clone()
    }
}

impl Handler for DdsPublish {
    fn name(&self) -> &'static str {
        "dds"
    }

    #[cfg(feature = "participant")]
    fn run(&self, context: Context) -> Result<(), Failure> {
        running::run(&self.config, &self.shared, context)
    }

    #[cfg(not(feature = "participant"))]
    fn run(&self, _: Context) -> Result<(), Failure> {
        Err(Failure(BadDds::NotBuilt.to_string()))
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        (state.reach.condition == Condition::Failing).then(|| state.reach.detail.clone().unwrap_or_default())
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        let lost: u64 = state.lost.values().sum();
        let sentence = |detail: &String| format!("{lost} samples were not published: {detail}");
        let lost = (lost > 0).then(|| state.loss_detail.as_ref().map(sentence)).flatten();
        lost.into_iter().chain(state.incompatible.clone()).collect()
    }

    fn state(&self) -> Value {
        json!(self.report())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics { counters: &["published", "lost{cause}"], gauges: &["behind", "kept_bytes"] }
    }
}
