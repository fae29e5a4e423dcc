//! Commands that talk to a DAC, or are one (feature `live`).

mod accounts;
pub mod alarms;
pub mod annotation;
mod answers;
pub mod arguments;
#[cfg(any(feature = "dds", feature = "nats"))]
mod carried;
pub mod command;
mod dacs;
mod demo;
pub mod doctor;
mod encryption;
mod generated;
mod handlers;
pub mod labels;
pub mod list;
pub mod locate;
mod loss;
pub mod mcp;
pub mod node;
mod notify;
mod own_connector;
mod own_node;
pub mod probe_choice;
mod remedy;
pub mod replay;
mod serve;
pub mod settings;
pub mod sign_in_link;
mod systemd;
mod tail;
pub mod test_run;
mod threads;
mod through_dds;
mod through_nats;
mod unknown;

use crate::cli::Verb;
use anyhow::bail;
pub use handlers::encoded;
use oasis_thread_priority::{use_short_slices, use_usual_slices};
pub use serve::Stop;
use std::time::Duration;

/// Timeout of calls that block while the process ends.
const BLOCKING_CALLS_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs one of them.
pub fn run(verb: Verb) -> anyhow::Result<()> {
    match verb {
        Verb::Up(arguments) => in_runtime(serve::up(arguments)),
        Verb::Demo(arguments) => in_runtime(serve::demo(arguments)),
        Verb::Dac(arguments) => in_runtime(serve::dac(arguments)),
        Verb::Tem(arguments) => in_runtime(serve::tem(arguments)),
        Verb::Relay(arguments) => in_runtime(serve::relay(arguments)),
        Verb::Node(mut arguments) => match arguments.verb.take() {
            Some(verb) => node::run(verb),
            None => in_runtime(serve::node(arguments)),
        },
        Verb::Tail(arguments) => in_runtime(tail::run(arguments)),
        Verb::List(arguments) => list::run(arguments),
        Verb::SignInLink(arguments) => sign_in_link::run(&arguments),
        Verb::Loss(arguments) => loss::run(arguments),
        Verb::Mcp(arguments) => mcp::run(&arguments),
        Verb::Handlers(arguments) => handlers::run(arguments),
        Verb::Notify(arguments) => notify::run(arguments),
        Verb::Threads(arguments) => threads::run(arguments),
        Verb::Command(arguments) => in_runtime(command::run(arguments)),
        Verb::Settings(arguments) => settings::run(arguments),
        Verb::Label(arguments) => labels::run(arguments),
        Verb::Run(arguments) => test_run::run(arguments),
        Verb::Annotation(arguments) => annotation::run(arguments),
        Verb::Alarms(arguments) => alarms::run(arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Replay(arguments) => in_runtime(replay::run(arguments)),
        other => bail!("{other:?} does not talk to a DAC"),
    }
}

fn in_runtime<T>(task: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Threads for calls that block start with this too. Only those that carry samples park, for the first time before they work.
        .on_thread_start(use_usual_slices)
        .on_thread_park(use_short_slices)
        .build()?;
    let result = runtime.block_on(task);
    // A disk that hangs must not keep the process.
    runtime.shutdown_timeout(BLOCKING_CALLS_TIMEOUT);
    result
}
