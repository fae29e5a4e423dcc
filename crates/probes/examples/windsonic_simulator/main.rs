//! An anemometer to try things with: `cargo run -p oasis-probes --example windsonic_simulator -- /tmp/wind`, then
//! `oasis up --probe 'windsonic(port=/tmp/wind)'`. With `polled` after the path it only answers polls.

mod simulator;

use simulator::Simulator;
use std::{io, path::PathBuf, thread};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let link = arguments.next().map_or_else(|| std::env::temp_dir().join("windsonic"), PathBuf::from);
    let polled = arguments.next().is_some_and(|mode| mode == "polled");
    let _simulator = Simulator::plug_in(&link, polled)?;
    println!("an anemometer is at {}; Ctrl-C unplugs it", link.display());
    loop {
        thread::park();
    }
}
