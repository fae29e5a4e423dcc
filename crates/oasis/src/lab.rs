//! `oasis lab`: runs `oasis-lab`, a program of its own that is found beside this one, as git does with subcommands.

use anyhow::{Context, ensure};
use clap::Args;
use std::{env, ffi::OsString, os::unix::process::CommandExt, process::Command};

const PROGRAM: &str = "oasis-lab";

/// Everything after `lab`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of oasis-lab: list, run, report, compare; --help lists all.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Becomes `oasis-lab`; returns only if that fails.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let oasis = env::current_exe().context("the path of oasis is unknown")?;
    let program = oasis.with_file_name(PROGRAM);
    ensure!(
        program.exists(),
        "no {} beside oasis: build it in a checkout of OASIS (make lab)",
        program.display()
    );
    let error = Command::new(&program).args(&arguments.rest).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}
