//! Node.js, alone and as a cluster.

use super::TestPlan;
use std::process::Command;

/// The server; it needs no package.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node/push/main.js");

/// Serves with this number of processes.
pub fn command(plan: &TestPlan, processes: usize) -> Command {
    let mut command = Command::new("node");
    command.arg(SCRIPT).args([
        "--host",
        &plan.server_host.to_string(),
        "--port",
        &plan.server_port.to_string(),
    ]);
    if processes > 1 {
        command.args(["--cluster", &processes.to_string()]);
    }
    command
}
