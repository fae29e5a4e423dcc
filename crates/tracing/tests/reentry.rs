//! Values that log. A program of its own: its subscriber is that of the whole process.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

#[path = "integration/dac.rs"]
mod dac;

use dac::WatchedNode;
use oasis_probe::{NodeBuilder, NodeConfig};
use oasis_tracing::OasisLayer;
use serde_json::{Value, json};
use std::fmt;
use tracing::{error, info, info_span};
use tracing_subscriber::{layer::SubscriberExt, registry, util::SubscriberInitExt};

/// A value that logs while it is formatted.
struct Chatty;

impl fmt::Debug for Chatty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        error!("formatting");
        f.write_str("chatty")
    }
}

#[test]
fn a_value_that_logs_while_it_is_formatted_disturbs_no_record() {
    let mut builder = NodeBuilder::new("test", NodeConfig::default());
    // For the whole process: under a subscriber of one thread, tracing leaves out what is logged meanwhile.
    registry().with(OasisLayer::new(&mut builder).unwrap()).init();
    let watched = WatchedNode::start(builder);
    {
        let span = info_span!("work", value = tracing::field::Empty).entered();
        span.record("value", tracing::field::debug(Chatty));
        info!(value = ?Chatty, "said");
    }
    let samples = watched.finish().samples;
    let messages: Vec<&Value> = samples["log"].iter().map(|sample| &sample["message"]).collect();
    assert_eq!(messages, ["formatting", "formatting", "said"]);
    assert_eq!(samples["log"][2]["fields"], json!([{"name": "value", "value": "chatty"}]));
    assert_eq!(samples["spans"][0]["fields"], json!([{"name": "value", "value": "chatty"}]));
}
