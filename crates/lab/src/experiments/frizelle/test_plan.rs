//! The variables of the study's test plan, as one cell sets them.

use crate::experiment::{Cell, Value};
use anyhow::{Context, bail};
use rustix::process::{Resource, getrlimit};
use std::{net::IpAddr, path::PathBuf, time::Duration};

/// Files that a process needs besides its connections.
const OTHER_FILES: u64 = 500;

/// The values of all variables.
#[derive(Debug, Clone)]
pub struct TestPlan {
    /// `SERVER_HOST`.
    pub server_host: IpAddr,
    /// `SERVER_PORT`.
    pub server_port: u16,
    /// `NUMTHREADS`.
    pub num_threads: usize,
    /// `RAMPUP`.
    pub ramp_up: Duration,
    /// `TEST_DURATION`.
    pub test_duration: Duration,
    /// `LOGGING_ENABLED`.
    pub logging_enabled: bool,
    /// `GLOBAL_LOG_DIR`.
    pub global_log_dir: Option<PathBuf>,
    /// `REQUEST_RESPONSE_LOG_DIR`.
    pub request_response_log_dir: Option<PathBuf>,
    /// `EVENT_NAME` and `EMIT_INTERVAL`, if `EVENT_SET_ENABLED`.
    pub event: Option<(String, Duration)>,
    /// `REQUEST_TYPE`.
    pub request_type: RequestType,
    /// `REQUEST_EVENTS`; empty without an event, whose name nobody has set.
    pub request_events: String,
    /// `REQUEST_DURATION`.
    pub request_duration: Duration,
    /// Whether a client sends all its long polls over one connection.
    pub keeps_alive: bool,
    /// Cores of the server; all if absent.
    pub server_cores: Option<usize>,
    /// Largest heap of Java.
    pub jvm_heap: String,
    /// Stack of a thread of Java, in kilobytes.
    pub jvm_stack: i64,
}

/// Types of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestType {
    /// Has no end; each event is sent as it comes.
    Comet,
    /// Ends with the first event, or after its duration.
    Poll,
}

impl RequestType {
    /// As servers and the command line call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Comet => "comet",
            Self::Poll => "poll",
        }
    }
}

impl TestPlan {
    /// The values of a cell.
    pub fn of(cell: &Cell) -> anyhow::Result<Self> {
        let event = flag(cell, "EVENT_SET_ENABLED")?;
        let event = event
            .then(|| anyhow::Ok((text(cell, "EVENT_NAME")?, time(cell, "EMIT_INTERVAL", 1)?)))
            .transpose()?;
        Ok(Self {
            server_host: text(cell, "SERVER_HOST")?.parse().context("SERVER_HOST is no address")?,
            server_port: whole(cell, "SERVER_PORT")?.try_into().context("SERVER_PORT is no port")?,
            num_threads: whole(cell, "NUMTHREADS")?.try_into().context("NUMTHREADS")?,
            ramp_up: time(cell, "RAMPUP", 1_000)?,
            test_duration: time(cell, "TEST_DURATION", 1_000)?,
            logging_enabled: flag(cell, "LOGGING_ENABLED")?,
            global_log_dir: folder(cell, "GLOBAL_LOG_DIR")?,
            request_response_log_dir: folder(cell, "REQUEST_RESPONSE_LOG_DIR")?,
            request_events: if event.is_some() { text(cell, "REQUEST_EVENTS")? } else { String::new() },
            event,
            request_type: match &*text(cell, "REQUEST_TYPE")? {
                "comet" => RequestType::Comet,
                "poll" => RequestType::Poll,
                other => bail!("REQUEST_TYPE={other}: comet or poll"),
            },
            request_duration: time(cell, "REQUEST_DURATION", 1)?,
            keeps_alive: match &*text(cell, "CONNECTION")? {
                "close" => false,
                "keep-alive" => true,
                other => bail!("CONNECTION={other}: close or keep-alive"),
            },
            server_cores: Some(whole(cell, "SERVER_CORES")?.try_into().context("SERVER_CORES")?)
                .filter(|cores| *cores > 0),
            jvm_heap: text(cell, "JVM_HEAP")?,
            jvm_stack: whole(cell, "JVM_STACK")?,
        })
    }

    /// How long a cell takes without what is around it: clients stop at the end of the test, and then wait for their last answers.
    pub fn length(&self) -> Duration {
        self.test_duration + self.longest_answer()
    }

    /// After this time every long poll has its answer.
    pub fn longest_answer(&self) -> Duration {
        match (self.request_type, &self.event) {
            (RequestType::Comet, _) => Duration::ZERO,
            (RequestType::Poll, None) => self.request_duration,
            (RequestType::Poll, Some((_, interval))) => self.request_duration.min(*interval),
        }
    }

    /// The number of connections: what was asked for, or what the limit of open files allows a server.
    pub fn connections(&self) -> usize {
        let open_files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let most = usize::try_from(open_files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
        self.num_threads.min(most)
    }
}

fn value<'a>(cell: &'a Cell, name: &str) -> anyhow::Result<&'a Value> {
    cell.settings.get(name).with_context(|| format!("the cell has no {name}"))
}

fn text(cell: &Cell, name: &str) -> anyhow::Result<String> {
    value(cell, name).map(Value::to_string)
}

fn flag(cell: &Cell, name: &str) -> anyhow::Result<bool> {
    match value(cell, name)? {
        Value::Flag(flag) => Ok(*flag),
        other => bail!("{name}={other}: true or false"),
    }
}

fn whole(cell: &Cell, name: &str) -> anyhow::Result<i64> {
    match value(cell, name)? {
        Value::Number(number) if *number >= 0 => Ok(*number),
        other => bail!("{name}={other}: a whole number"),
    }
}

fn time(cell: &Cell, name: &str, unit_millis: u64) -> anyhow::Result<Duration> {
    Ok(Duration::from_millis(unit_millis.saturating_mul(whole(cell, name)?.unsigned_abs())))
}

fn folder(cell: &Cell, name: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(Some(text(cell, name)?).filter(|path| !path.is_empty()).map(PathBuf::from))
}
