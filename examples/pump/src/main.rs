//! A pump that overheats when you press Enter, and cools down when you press it again. Start a DAC in another terminal, then this:
//!
//! ```text
//! cargo run -p pump
//! ```

use oasis_probe::{Hertz, NodeBuilder, NodeConfig, Probe, TcpConnector};
use std::{
    error::Error,
    io::{self, BufRead},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Generated from `pump.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
use probes::plant::Pump;

/// Temperatures between which the bearing goes, in degrees Celsius.
const COOL: f64 = 60.0;
const HOT: f64 = 105.0;

fn main() -> Result<(), Box<dyn Error>> {
    let dac = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7071".into());
    let is_blocked = Arc::new(AtomicBool::new(false));
    let bearing = Bearing { is_blocked: is_blocked.clone(), temperature: COOL, before: Instant::now() };
    let mut builder = NodeBuilder::new("plant-7", NodeConfig::default());
    builder.periodic("pump", Hertz::new(10.0)?, bearing)?;
    let _node = builder.start(TcpConnector::new(dac))?;
    println!("The pump runs. Press Enter to block it, and again to free it; Ctrl-C stops it.");
    for line in io::stdin().lock().lines() {
        line?;
        let was_blocked = is_blocked.fetch_xor(true, Ordering::Relaxed);
        println!("The pump is {}.", if was_blocked { "free: it cools down" } else { "blocked: it heats up" });
    }
    Ok(())
}

/// Heats up while the pump is blocked.
struct Bearing {
    is_blocked: Arc<AtomicBool>,
    temperature: f64,
    before: Instant,
}

impl Probe for Bearing {
    type Sample = Pump;

    fn sample(&mut self) -> io::Result<Pump> {
        let is_blocked = self.is_blocked.load(Ordering::Relaxed);
        let seconds = self.before.elapsed().as_secs_f64();
        self.before = Instant::now();
        // Half of the way in some three seconds, whatever the rate.
        let target = if is_blocked { HOT } else { COOL };
        self.temperature += (target - self.temperature) * (1.0 - (-seconds / 4.0).exp());
        Ok(Pump { temperature: self.temperature, flow: if is_blocked { 0.5 } else { 12.0 } })
    }
}
