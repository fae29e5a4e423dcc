//! Node.js, alone and as a cluster.

use super::TestPlan;
use anyhow::{Context, ensure};
use std::process::Command;

/// The server; it needs no package.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node/push/main.js");

/// The version of Node.js.
pub fn version() -> anyhow::Result<String> {
    let output =
        Command::new("node").arg("--version").output().context("cannot run node: install Node.js 20")?;
    ensure!(output.status.success(), "node --version failed: {}", output.status);
    Ok(format!("Node.js {}", String::from_utf8_lossy(&output.stdout).trim()))
}

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
