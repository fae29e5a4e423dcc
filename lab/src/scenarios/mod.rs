//! Measurements. Each scenario answers a section of the report.

mod archive;
mod doors;
mod fanout;
mod idle;
mod latency;
mod probes;
mod relay;
mod slow;
mod tls;

pub use archive::Archive;
pub use doors::Doors;
pub use fanout::Fanout;
pub use idle::Idle;
pub use latency::Latency;
pub use probes::{Flush, Probes};
pub use relay::Relay;
pub use slow::Slow;
pub use tls::Tls;

/// Says how far a scenario has got: none is over at once.
fn progress(what: impl std::fmt::Display) {
    eprintln!("  {what}");
}
