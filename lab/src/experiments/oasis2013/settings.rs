//! The variables of the experiments, as one cell sets them.

use super::{
    super::{browser::Kind, relay::Link},
    arrival::Way,
    generator::Pace,
};
use crate::{experiment::Cell, outlets::OutletKind};
use anyhow::{Context, bail, ensure};
use oasis_wire::quantity::Hertz;
use std::{str::FromStr, time::Duration};

/// Which of the four experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Section 5.1: the memory of the tab.
    Memory,
    /// Section 5.2: bytes on the wire.
    Bytes,
    /// Section 5.3: as fast as possible.
    Throughput,
    /// Section 5.4: the age of what arrives.
    Age,
}

impl FromStr for Test {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match name {
            "memory" => Ok(Self::Memory),
            "bytes" => Ok(Self::Bytes),
            "throughput" => Ok(Self::Throughput),
            "age" => Ok(Self::Age),
            other => bail!("TEST={other}: memory, bytes, throughput or age"),
        }
    }
}

/// Door through which the dashboard gets samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Another way than the DAC's doors.
    Outlet(OutletKind),
    /// A text door.
    Text,
    /// Packets or batches in frames.
    WebSocket,
}

impl FromStr for Door {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "ajax-file" | "ajax-long-poll" => Self::Outlet(OutletKind::File),
            "ajax-memory" => Self::Outlet(OutletKind::Memory),
            "ajax-database" => Self::Outlet(OutletKind::Database),
            "ajax-binary" => Self::Outlet(OutletKind::Binary),
            "axum-events" => Self::Outlet(OutletKind::Events),
            "socket.io" => Self::Outlet(OutletKind::SocketIo),
            "foxglove" => Self::Outlet(OutletKind::Foxglove),
            "poll" | "long-poll" | "events" => Self::Text,
            "websocket-2012" | "websocket" => Self::WebSocket,
            other => bail!("no door {other}"),
        })
    }
}

impl Door {
    /// Returns the outlet that the DAC must have for it.
    pub fn outlet(self) -> Option<OutletKind> {
        match self {
            Self::Outlet(kind) => Some(kind),
            Self::Text | Self::WebSocket => None,
        }
    }

    /// Whether the page decodes bytes.
    pub fn needs_sdk(self) -> bool {
        matches!(self, Self::Outlet(OutletKind::Binary) | Self::WebSocket)
    }
}

/// Source of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Probes that read `/proc`, as in the publications.
    Daemon,
    /// Pushed probes of the same types that flush recorded rows: `/proc` does not limit it.
    Generator,
}

impl FromStr for Source {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match name {
            "daemon" => Ok(Self::Daemon),
            "generator" => Ok(Self::Generator),
            other => bail!("SOURCE={other}: daemon or generator"),
        }
    }
}

impl Source {
    /// As `FromStr` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Generator => "generator",
        }
    }
}

/// The values of all variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `TEST`
    pub test: Test,
    /// The door.
    pub door: Door,
    /// Its name, for the page.
    pub door_name: String,
    /// `SOURCE`
    pub source: Source,
    /// `RATE` of both probes.
    pub rate: Pace,
    /// `SAMPLES` of each probe, in the tests that end after them.
    pub samples: u64,
    /// `SECONDS` of the test that is as fast as possible.
    pub seconds: Duration,
    /// `READINGS` of the tab's memory.
    pub readings: usize,
    /// `LINK` between server and browser.
    pub link: Link,
    /// `BROWSER`
    pub browser: Kind,
}

/// From an answer of a poll until the next request of the dashboard: `INTERVAL` there.
const POLL_REST_MS: f64 = 150.0;
/// The last sample whose age counts (section 5.4.1).
const LAST_OF_AGE: u64 = 100;

impl Settings {
    /// The values of a cell.
    pub fn of(cell: &Cell) -> anyhow::Result<Self> {
        let test = cell.text("TEST")?.parse()?;
        let millihertz = cell.count("RATE")?;
        let source = cell.text("SOURCE")?.parse()?;
        let rate = Pace { hertz: (millihertz > 0).then_some(millihertz as f64 / 1e3) };
        ensure!(rate.hertz.is_some() || test == Test::Throughput, "RATE=0 is for TEST=throughput");
        if source == Source::Daemon {
            rate.hertz.map(Hertz::new).transpose().context("RATE: a higher one needs SOURCE=generator")?;
        }
        let fewest = if test == Test::Age { LAST_OF_AGE } else { 1 };
        Ok(Self {
            test,
            door: cell.server.parse()?,
            door_name: cell.server.clone(),
            source,
            rate,
            samples: cell.whole("SAMPLES")?.max(fewest),
            seconds: cell.time("SECONDS", 1_000)?,
            readings: cell.count("READINGS")?.max(2),
            link: cell.text("LINK")?.parse()?,
            browser: cell.text("BROWSER")?.parse()?,
        })
    }

    /// Returns the way of samples to the page; none for doors that the model of the page does not have.
    pub fn way(&self) -> Option<Way> {
        match &*self.door_name {
            "websocket" | "websocket-2012" | "events" => Some(Way::Pushed),
            "long-poll" => Some(Way::LongPoll),
            "poll" => Some(Way::Poll(POLL_REST_MS)),
            _ => None,
        }
    }

    /// Returns the time during which samples come.
    pub fn length(&self) -> Duration {
        match self.rate.hertz {
            Some(hertz) if self.test != Test::Throughput => {
                Duration::from_secs_f64(self.samples as f64 / hertz)
            }
            _ => self.seconds,
        }
    }

    /// The number of samples after which the probes stop.
    pub fn flushes(&self) -> Option<u64> {
        (self.test != Test::Throughput).then_some(self.samples)
    }
}
