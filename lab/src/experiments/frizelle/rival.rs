//! The servers of the experiment as processes: which are ready on this machine, and how each is started.

mod gc;
mod java;
mod node;

use super::test_plan::TestPlan;
use crate::nodejs;
use crate::{
    child::Child,
    cpu,
    experiment::{Downloads, Measured, Readiness},
};
use anyhow::bail;
use std::{env, fs::File, os::unix::process::CommandExt, path::Path, process::Command};

/// Builds a server if that is needed, and says whether it is ready.
pub fn prepare(server: &str, downloads: Downloads) -> Readiness {
    let version = match server {
        "oasis" | "axum" | "bare" => Ok(format!("of oasis-lab {}", env!("CARGO_PKG_VERSION"))),
        "node" | "cluster" => nodejs::program("push/main.js").and_then(|()| nodejs::version()),
        java => java::build(java, downloads),
    };
    version.map_or_else(|error| Readiness::Absent(format!("{error:#}")), Readiness::Ready)
}

/// Adds what a server of Java has logged about its memory.
pub fn measure_memory(folder: &Path, measured: &mut Measured) {
    gc::measure(&folder.join(java::GC_LOG), measured);
}

/// Starts a server; what it logs goes to a file in the folder.
pub fn start(server: &str, plan: &TestPlan, folder: &Path) -> anyhow::Result<Child> {
    let mut command = match server {
        "oasis" | "axum" | "bare" => lab(server, plan)?,
        "node" => node::command(plan, 1),
        "cluster" => node::command(plan, 2),
        "tc6" | "tc7" | "tc11" | "jetty" => java::command(server, plan, folder)?,
        other => bail!("no server {other}"),
    };
    command.stderr(File::create(folder.join("server.log"))?);
    // Ctrl-C is for the runner, which ends its processes.
    command.process_group(0);
    cpu::raise_open_files()?;
    Child::start_on(plan.server_cores.unwrap_or(usize::MAX), command)
}

/// A server of the lab's own binary.
fn lab(server: &str, plan: &TestPlan) -> anyhow::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    let cores = plan.server_cores.unwrap_or_else(cpu::count);
    command.args(["push-serve", server, "--cores", &cores.to_string()]);
    command.args(["--listen", &format!("{}:{}", plan.server_host, plan.server_port)]);
    Ok(command)
}
