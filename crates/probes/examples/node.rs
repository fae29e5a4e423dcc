//! A node with the ready-made probes of a configuration file: `cargo run -p oasis-probes --example node -- node.toml`

use oasis_ei_node::NodeSettings;
use std::{env, error::Error, path::PathBuf, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args_os().nth(1).map(PathBuf::from);
    let settings = NodeSettings::load(file.as_deref())?;
    let _node = settings.builder(oasis_probes::PROBES)?.start(settings.connector())?;
    loop {
        thread::park();
    }
}
