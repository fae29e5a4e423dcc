use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use std::{error::Error, thread, time::Duration};

/// Generated from `probes.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
use probes::machine::{Mode, Motor};

fn main() -> Result<(), Box<dyn Error>> {
    // The node says here what keeps it from the DAC.
    tracing_subscriber::fmt::init();
    let dac = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7071".into());
    let mut builder = NodeBuilder::new("@name@", NodeConfig::default());
    let mut motor = builder.pushed::<Motor>("motor", 64 * 1024)?;
    let _node = builder.start(TcpConnector::new(dac))?;
    println!("@name@ runs; Ctrl-C ends it.");
    for turn in 0.. {
        let seconds = f64::from(turn) / 100.0;
        // Never waits: if the ring is full, the sample is dropped and counted.
        motor.flush(&Motor {
            speed: 3000.0 + 500.0 * seconds.sin(),
            temperature: 70.0 + 15.0 * (seconds / 10.0).sin(),
            mode: Mode::Running,
        });
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
