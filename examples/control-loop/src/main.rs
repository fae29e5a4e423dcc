//! A control loop at 1 kHz that shows its state. Start `make run` in another terminal, then this, and open the page:
//!
//! ```text
//! cargo run --release -p control-loop
//! ```

use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use std::{
    error::Error,
    thread,
    time::{Duration, Instant},
};

/// Generated from `loop.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
use probes::example::{Axis, ControlLoop, Phase};

const PERIOD: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn Error>> {
    let dac = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7071".into());
    let mut builder = NodeBuilder::new("machine", NodeConfig::default());
    // The ring between the loop and the node's threads: room for some hundred turns, half a second.
    let mut probe = builder.pushed::<ControlLoop>("control loop", 64 * 1024)?;
    let _node = builder.start(TcpConnector::new(dac))?;

    let mut axes = ["azimuth", "elevation"].map(|name| Axis { name: name.into(), ..Axis::default() });
    let started = Instant::now();
    for turn in 1.. {
        let due = started + PERIOD * turn;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        control(&mut axes, started.elapsed().as_secs_f64());
        let tracking = axes.iter().all(|axis| (axis.position - axis.target).abs() < 5.0);
        // Wait-free: if the node cannot keep up the sample is dropped and counted, the loop is not held up.
        probe.flush(&ControlLoop {
            lateness: (began - due).as_nanos() as f64 / 1e3,
            busy: began.elapsed().as_nanos() as f64 / 1e3,
            turns: turn.into(),
            phase: if tracking { Phase::Tracking } else { Phase::Slewing },
            axes: axes.to_vec(),
        });
    }
    Ok(())
}

/// Each axis goes a hundredth of its way to a target that jumps every few seconds.
fn control(axes: &mut [Axis], seconds: f64) {
    for (index, axis) in axes.iter_mut().enumerate() {
        axis.target = 90.0 * (seconds / (4.0 + index as f64)).floor().sin();
        axis.position += (axis.target - axis.position) * 0.01;
    }
}
