//! The command line: one binary for every piece of OASIS, together or apart.

mod access;
mod archive;
mod archive_folder;
#[cfg(feature = "live")]
mod backup;
mod broken_pipe;
mod ca;
mod cli;
mod completions;
mod config;
mod csv_flags;
mod diagnostics;
#[cfg(all(test, feature = "live"))]
mod documented_commands;
#[cfg(all(test, feature = "live"))]
mod documented_environment;
mod exit_codes;
mod export;
mod features;
mod format_files;
mod formats;
mod groups;
mod import;
mod init;
mod lab;
#[cfg(feature = "live")]
mod live;
mod man_pages;
#[cfg(feature = "nats")]
mod nats;
mod output_format;
mod pdl;
mod private_file;
mod progress;
mod replace;
mod rules;
mod setup;
mod sql;
mod target;
mod time_flag;
mod usual_archive;

use clap::CommandFactory;
use cli::{Cli, Verb};
pub(crate) use oasis_recordings::file::explained;
use std::{io::IsTerminal, process::ExitCode};
use tracing_subscriber::EnvFilter;

/// Replaces the allocator of musl, whose one lock all threads share.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::parse();
    log_to_stderr(&cli);
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("oasis: {}", explained(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let success = |()| ExitCode::SUCCESS;
    match cli.verb {
        Verb::Init(arguments) => init::run(&arguments).map(success),
        Verb::Export(arguments) => export::run(&arguments).map(success),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Sql(arguments) => sql::run(&arguments).map(success),
        Verb::Forget(arguments) => archive::remove::run(&arguments).map(success),
        Verb::Archive(arguments) => archive::run(&arguments),
        #[cfg(feature = "live")]
        Verb::Backup(arguments) => backup::run(&arguments).map(success),
        #[cfg(feature = "live")]
        Verb::Restore(arguments) => backup::restore(&arguments).map(success),
        Verb::User(arguments) => access::user::run(arguments).map(success),
        Verb::Token(arguments) => access::token::run(arguments).map(success),
        Verb::Role(arguments) => access::role::run(arguments).map(success),
        Verb::AuditLog(arguments) => access::audit_log::run(&arguments),
        Verb::Ca(arguments) => ca::run(&arguments).map(success),
        Verb::Setup(arguments) => setup::run(&arguments).map(success),
        Verb::Pdl(arguments) => pdl::run(arguments),
        Verb::Rules(arguments) => rules::run(arguments),
        Verb::ExitCodes(_) => Ok(success(exit_codes::run()?)),
        Verb::Lab(arguments) => lab::run(&arguments).map(success),
        Verb::Completions(arguments) => completions::run(&arguments, Cli::command()).map(success),
        Verb::ManPages(arguments) => man_pages::run(&arguments, Cli::command()).map(success),
        #[cfg(feature = "live")]
        live => live::run(live).map(success),
    }
}

/// `OASIS_LOG` takes the field's usual directives: `debug`, `oasis_dac=trace,info`.
fn log_to_stderr(cli: &Cli) {
    // RustDDS warns of each packet that it sends again, ten times a second.
    let by_verbosity = match cli.verbose {
        0 => "warn,rustdds=off",
        1 => "info,rustdds=off",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("OASIS_LOG").unwrap_or_else(|_| EnvFilter::new(by_verbosity));
    let colors = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // Otherwise an unwritable log, for example on a full disk, would end the thread that logs.
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colors)
        .log_internal_errors(false)
        .init();
}
