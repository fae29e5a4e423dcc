//! A program that logs with `tracing` and, in older parts, with `log`. Start `make run` in another terminal, then this, and open the page:
//!
//! ```text
//! cargo run -p logging
//! ```

use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use oasis_tracing::OasisLayer;
use std::{error::Error, thread, time::Duration};
use tracing_subscriber::{
    Layer, filter::LevelFilter, fmt, layer::SubscriberExt, registry, util::SubscriberInitExt,
};

fn main() -> Result<(), Box<dyn Error>> {
    let dac = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7071".into());
    let mut builder = NodeBuilder::new("logger", NodeConfig::default());
    let layer = OasisLayer::new(&mut builder)?.with_filter(LevelFilter::INFO);
    // The program still prints what it printed before.
    registry().with(layer).with(fmt::layer().with_filter(LevelFilter::WARN)).init();
    let _node = builder.start(TcpConnector::new(dac))?;

    for turn in 1_u64.. {
        run(turn);
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

#[tracing::instrument]
fn run(turn: u64) {
    tracing::info!(pressure = 8.0 + (turn % 10) as f64 / 10.0, "the pump runs");
    log::info!("the valve is {}", if turn.is_multiple_of(2) { "open" } else { "closed" });
    tracing::debug!("nobody wants to see this");
    if turn.is_multiple_of(50) {
        tracing::error!("the filter is dirty");
    }
}
