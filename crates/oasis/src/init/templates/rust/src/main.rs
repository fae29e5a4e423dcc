use oasis_ei_node::{NodeSettings, PROBES};
use std::{error::Error, thread, time::Duration};

/// Generated from `probes.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
use probes::machine::{Mode, Motor};

fn main() -> Result<(), Box<dyn Error>> {
    // The node says here what keeps it from the DAC.
    tracing_subscriber::fmt::init();
    // The variables OASIS_DAC and OASIS_CONFIG name another DAC, or a file with all settings.
    let mut settings = NodeSettings::load(None)?;
    if settings.name.is_empty() {
        settings.name = "@name@".into();
    }
    let mut builder = settings.builder(PROBES)?;
    let mut motor = builder.pushed::<Motor>("motor", 64 * 1024)?;
    let connector = match std::env::args().nth(1) {
        Some(dac) => settings.connector_to(&dac),
        None => settings.connector(),
    };
    let _node = builder.start(connector)?;
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
