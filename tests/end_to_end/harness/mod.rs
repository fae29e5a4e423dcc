//! The test harness: processes that end with the test, an HTTP client, WebSocket clients.

mod editor;
mod failing_syncs;
mod guarded;
mod http;
mod kills;
mod native;
pub mod plain_node;
mod process;
mod programs;
mod relaying_dacs;
mod repeating_sender;
mod set_on_drop;
mod small_disk;

pub use editor::Editor;
pub use failing_syncs::FailingSyncs;
pub use guarded::Guarded;
pub use http::{get, post, post_from, put_from, request};
pub use kills::kills;
pub use native::{Incoming, Native, open, read};
pub use plain_node::PlainNode;
pub use process::{Oasis, oasis, own_address, program, run_in_accounts};
pub use programs::{
    Program, built, compile, compile_with, finish, generate, has_program, installed, repository,
};

pub use relaying_dacs::RelayingDacs;
pub use repeating_sender::kill_beneath;
pub use set_on_drop::SetOnDrop;
pub use small_disk::SmallDisk;

use serde_json::Value;
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Timeout on a busy machine.
/// An `fdatasync` also waits for the writes of compilers.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls until there is a result. On timeout, names what was missing.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    eventually_shown(what, || look().ok_or(Value::Null))
}

/// As [`eventually`], and prints the last state.
pub fn eventually_shown<T>(what: &str, mut look: impl FnMut() -> Result<T, Value>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(shown) => {
                assert!(start.elapsed() < TEST_TIMEOUT, "not within {TEST_TIMEOUT:?}: {what}, but {shown:#}")
            }
        }
        thread::park_timeout(POLL_INTERVAL);
    }
}

/// An instance as the API shows it, with schema, latest sample and ledger.
pub fn instance(dac: &Oasis, node: &str, instance: &str) -> Option<Value> {
    let instance = instance.replace(' ', "%20");
    let list = get(dac, &format!("/api/v1/instances?node={node}&instance={instance}"));
    let id = list["instances"].get(0)?["id"].as_u64()?;
    Some(get(dac, &format!("/api/v1/instances/{id}")))
}

/// The ledger of an instance, once it matches.
pub fn ledger(dac: &Oasis, node: &str, name: &str, what: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let ledger = instance(dac, node, name).map(|instance| instance["ledger"].clone()).unwrap_or_default();
        if !ledger.is_null() && is_enough(&ledger) { Ok(ledger) } else { Err(ledger) }
    })
}

/// Arguments of a DAC with an archive and a topic log that holds a few seconds: long enough for an archive on a busy machine, short enough to evict samples
/// soon. One thread writes to all WebSockets.
pub fn small_log(folder: &Path) -> [String; 4] {
    let (config, archive) = (folder.join("oasis.toml"), folder.join("archive"));
    fs::write(&config, "[log]\ntopic_bytes = 100000\n\n[doors]\nshards = 1\n").expect("a file");
    let text = |path: &Path| path.to_str().expect("a name").to_owned();
    ["--config".into(), text(&config), "--archive".into(), text(&archive)]
}

/// Returns once the log of an instance has evicted its first samples.
pub fn wait_for_eviction(dac: &Oasis, node: &str, name: &str) {
    let has_evicted = |ledger: &Value| ledger["log"]["first_offset"].as_u64() > Some(0);
    ledger(dac, node, name, "an eviction from the log", has_evicted);
}

/// Every sample of this run was received, or its gap has a cause.
pub fn assert_explained(ledger: &Value) {
    assert_eq!(ledger["unexplained"], 0, "{ledger:#}");
    let gaps = ledger["gaps"].as_array().expect("a list of gaps");
    assert!(gaps.iter().all(|gap| gap["cause"] != "unexplained"), "{ledger:#}");
    let missing: u64 = gaps.iter().map(|gap| gap["count"].as_u64().expect("a count")).sum();
    assert_eq!(ledger["missing"], missing, "{ledger:#}");
}

/// The causes of all gaps.
pub fn causes(ledger: &Value) -> Vec<&str> {
    ledger["gaps"]
        .as_array()
        .expect("a list of gaps")
        .iter()
        .filter_map(|gap| gap["cause"].as_str())
        .collect()
}
