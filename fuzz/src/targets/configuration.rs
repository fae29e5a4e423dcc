//! A configuration file: any bytes are settings with which a DAC and a node can be made, or an error that names the place.

// A binary has no library that could be linked: its files are part of this target.
#[path = "../../../crates/oasis/src/config/file.rs"]
mod file;
#[path = "../../../crates/oasis/src/config/ranges.rs"]
mod ranges;
#[path = "../../../crates/oasis/src/config/removed.rs"]
mod removed;
#[path = "../../../crates/oasis/src/config/sections.rs"]
mod sections;

use oasis_dac::Dac;
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use sections::Config;
use std::sync::LazyLock;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime")
});

pub fn run(input: &[u8]) {
    match file::parse::<Config>(input) {
        Ok(config) => make(config),
        Err(error) => {
            let message = format!("{error:#}");
            let names_a_place = ["line ", "at line", "1 MiB"].iter().any(|place| message.contains(place));
            assert!(names_a_place, "no place in {message:?}");
        }
    }
}

/// Builds everything that needs no port and no file, and no thread for each core that an input claims to have.
fn make(config: Config) {
    let _guard = RUNTIME.enter();
    let _ = (config.unbuilt_sections(), config.handlers());
    let _ = config.node.builder(oasis_probes::PROBES);
    let doors = DoorsConfig { shards: ShardChoice::Fixed(1), layouts_dir: String::new(), ..config.doors };
    let (memory_bytes, log, channel) = (config.memory_bytes, config.log, config.channel);
    let dac = Dac::new(oasis_dac::Config { memory_bytes, log, channel });
    let doors = Doors::new(dac, doors, None);
    assert!(doors.is_ok(), "no threads");
    for node in ["plant", ""] {
        let _ = config.archive.rule_for(node, "counter");
    }
}
