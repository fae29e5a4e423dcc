//! The variables of the experiment, as one cell sets them.

use super::super::{browser::Kind, relay::Link};
use crate::experiment::Cell;
use anyhow::bail;
use std::{str::FromStr, time::Duration};

/// Door through which a page gets readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// A packet of 2012 in a frame.
    WebSocket,
    /// A response that is held until there is a reading, or for [`Settings::hold`].
    LongPoll,
    /// A request, a response, and [`Settings::interval`].
    Poll,
    /// Server-sent events.
    Events,
    /// Lines of a response without end.
    Stream,
    /// A WebSocket without OASIS: the limit.
    Bare,
}

impl Door {
    /// The publication's.
    pub const OF_THE_PAPER: [Self; 3] = [Self::WebSocket, Self::LongPoll, Self::Poll];
    /// Doors of a DAC.
    pub const OF_A_DAC: [Self; 5] = [Self::WebSocket, Self::LongPoll, Self::Poll, Self::Events, Self::Stream];
    /// Every door.
    pub const ALL: [Self; 6] =
        [Self::WebSocket, Self::LongPoll, Self::Poll, Self::Events, Self::Stream, Self::Bare];

    /// As the declaration and the pages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WebSocket => "websocket",
            Self::LongPoll => "longpoll",
            Self::Poll => "poll",
            Self::Events => "events",
            Self::Stream => "stream",
            Self::Bare => "bare",
        }
    }
}

impl FromStr for Door {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match Self::ALL.iter().find(|door| door.name() == name) {
            Some(door) => Ok(*door),
            None => bail!("no door {name}"),
        }
    }
}

/// The values of all variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The doors that are measured: one, or all of the publication at the same time.
    pub doors: Vec<Door>,
    /// `LINK` in `TEST`: between server and browser.
    pub link: Link,
    /// `READINGS` of each door.
    pub readings: usize,
    /// `POLL_INTERVAL`: from a response until the next request.
    pub interval: Duration,
    /// `HOLD`: the longest wait of a long poll.
    pub hold: Duration,
    /// `BROWSER`.
    pub browser: Kind,
    /// `SEED` of the link's delays.
    pub seed: u64,
}

/// From one reading of the sensor to the next.
pub const PERIOD: Duration = Duration::from_millis(250);

impl Settings {
    /// The values of a cell.
    pub fn of(cell: &Cell) -> anyhow::Result<Self> {
        let doors = match &*cell.server {
            "interleaved" => Door::OF_THE_PAPER.to_vec(),
            door => vec![door.parse()?],
        };
        Ok(Self {
            doors,
            link: Link::of_test(&cell.text("LINK")?, cell.count("TEST")?)?,
            readings: cell.count("READINGS")?.max(2),
            interval: cell.time("POLL_INTERVAL", 1)?,
            hold: cell.time("HOLD", 1)?,
            browser: cell.text("BROWSER")?.parse()?,
            seed: cell.whole("SEED")?,
        })
    }

    /// Returns the time that the sensor needs for these readings.
    pub fn length(&self) -> Duration {
        PERIOD * u32::try_from(self.readings).unwrap_or(u32::MAX)
    }
}
