//! The variables of the study's test plan, as one cell sets them.

use crate::{cpu, experiment::Cell};
use anyhow::{Context, bail};
use std::{net::IpAddr, path::PathBuf, time::Duration};

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
    /// `REQUEST_EVENTS`; empty without an event: no event has the empty name.
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
    pub jvm_stack: u64,
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
        let event = cell.flag("EVENT_SET_ENABLED")?;
        let event = event
            .then(|| anyhow::Ok((cell.text("EVENT_NAME")?, cell.time("EMIT_INTERVAL", 1)?)))
            .transpose()?;
        Ok(Self {
            server_host: cell.text("SERVER_HOST")?.parse().context("SERVER_HOST is no address")?,
            server_port: cell.whole("SERVER_PORT")?.try_into().context("SERVER_PORT is no port")?,
            num_threads: cell.count("NUMTHREADS")?,
            ramp_up: cell.time("RAMPUP", 1_000)?,
            test_duration: cell.time("TEST_DURATION", 1_000)?,
            logging_enabled: cell.flag("LOGGING_ENABLED")?,
            global_log_dir: folder(cell, "GLOBAL_LOG_DIR")?,
            request_response_log_dir: folder(cell, "REQUEST_RESPONSE_LOG_DIR")?,
            request_events: if event.is_some() { cell.text("REQUEST_EVENTS")? } else { String::new() },
            event,
            request_type: match &*cell.text("REQUEST_TYPE")? {
                "comet" => RequestType::Comet,
                "poll" => RequestType::Poll,
                other => bail!("REQUEST_TYPE={other}: comet or poll"),
            },
            request_duration: cell.time("REQUEST_DURATION", 1)?,
            keeps_alive: match &*cell.text("CONNECTION")? {
                "close" => false,
                "keep-alive" => true,
                other => bail!("CONNECTION={other}: close or keep-alive"),
            },
            server_cores: Some(cell.count("SERVER_CORES")?).filter(|cores| *cores > 0),
            jvm_heap: cell.text("JVM_HEAP")?,
            jvm_stack: cell.whole("JVM_STACK")?,
        })
    }

    /// Returns the duration of a cell without its overhead: clients stop at the end of the test, then wait for their last answers.
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
        self.num_threads.min(cpu::most_connections())
    }
}

fn folder(cell: &Cell, name: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(Some(cell.text(name)?).filter(|path| !path.is_empty()).map(PathBuf::from))
}
