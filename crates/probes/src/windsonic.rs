//! `WindSonicProbe`: an ultrasonic anemometer on a serial line.
//!
//! [`message`] parses bytes, [`configuration`] changes settings; `Anemometer` keeps the line open, polls if configured, and logs an error once. It has a thread of its
//! own, because a line is slow and the node's collector must not wait for it: each message becomes a sample on arrival.

pub mod configuration;
pub mod message;

use crate::generated::oasis::weather::WindSonicProbe;
use configuration::Configuration;
use message::{Damage, Message, Messages};
use oasis_ei_node::{Choice, ChoiceError, Parameter, ReadyMadeProbe};
use oasis_probe::{Hertz, NodeBuilder, PushedProbe};
use oasis_serial::SerialPort;
use std::{
    io,
    num::NonZeroU32,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// Pause before a line that failed is opened again.
const REOPEN: Duration = Duration::from_secs(1);
/// The slowest anemometer sends once a second.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Capacity for at least a minute of messages, which wait here only while the node is busy.
const RING_BYTES: usize = 16 * 1024;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "windsonic",
    measures: "an anemometer: direction, speed, status",
    instances: "one",
    parameters: &[
        Parameter { name: "port", meaning: "tty (required)" },
        Parameter { name: "baud", meaning: "rate (9600)" },
        Parameter { name: "mode", meaning: "`continuous` or `polled`" },
        Parameter { name: "node", meaning: "address to poll (`Q`)" },
        Parameter { name: "configure", meaning: "settings like `M2 P3`" },
    ],
    types: &["WindSonicProbe"],
    add,
};

fn add(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    let wanted = "the path of a tty, such as port=/dev/ttyUSB0";
    let port = choice.text("port")?.ok_or(ChoiceError::Missing { parameter: "port", wanted })?;
    let baud = choice.parsed("baud", "the rate of the line, such as 9600")?.map_or(9_600, NonZeroU32::get);
    let mode = mode(choice)?;
    let configuration = configuration(choice)?;
    let probe = node.pushed(choice.instance_or("windsonic"), RING_BYTES)?;
    WindSonic { port: port.into(), baud, mode, configuration }.start(probe)?;
    Ok(())
}

fn configuration(choice: &Choice<'_>) -> Result<Option<Configuration>, ChoiceError> {
    let wanted = "settings of the manual's section 10 with blanks between them, such as M2 P3, without B, E and F, which change the line";
    let node = address(choice)?;
    Ok(choice.parsed("configure", wanted)?.map(|settings| Configuration { node, settings }))
}

fn address(choice: &Choice<'_>) -> Result<char, ChoiceError> {
    Ok(choice.parsed("node", "the anemometer's address, a letter such as Q")?.unwrap_or('Q'))
}

fn mode(choice: &Choice<'_>) -> Result<Mode, ChoiceError> {
    match (choice.text("mode")?, address(choice)?) {
        (None | Some("continuous"), _) => Ok(Mode::Continuous),
        (Some("polled"), node @ 'A'..='Z') => Ok(Mode::Polled { node, hertz: choice.hertz }),
        (Some("polled"), node) => {
            Err(ChoiceError::Invalid { parameter: "node", value: node.into(), wanted: "a letter, A to Z" })
        }
        (Some(other), _) => {
            let wanted = "continuous or polled";
            Err(ChoiceError::Invalid { parameter: "mode", value: other.into(), wanted })
        }
    }
}

/// The mode of the anemometer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// The anemometer sends at its own rate (M2).
    Continuous,
    /// The anemometer answers polls, at this rate (M4).
    Polled {
        /// Its address.
        node: char,
        /// Polling rate.
        hertz: Hertz,
    },
}

/// The tty of an anemometer, and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct WindSonic {
    /// The tty. It need not exist yet.
    pub port: PathBuf,
    /// Rate of the line.
    pub baud: u32,
    /// The mode of the anemometer.
    pub mode: Mode,
    /// Settings that it must have, if any.
    pub configuration: Option<Configuration>,
}

impl WindSonic {
    /// Reads until the process ends: each message becomes a sample of `probe`.
    pub fn start(self, probe: PushedProbe<WindSonicProbe>) -> io::Result<()> {
        let anemometer = Anemometer { settings: self, probe, damaged: 0, failing: false };
        thread::Builder::new().name("oasis-windsonic".into()).spawn(move || anemometer.run()).map(drop)
    }
}

struct Anemometer {
    settings: WindSonic,
    probe: PushedProbe<WindSonicProbe>,
    damaged: u64,
    failing: bool,
}

impl Anemometer {
    fn run(mut self) {
        loop {
            let Err(error) = SerialPort::open(&self.settings.port, self.settings.baud)
                .and_then(|mut port| self.configure(&mut port).and_then(|()| self.listen(&mut port)));
            self.log_once(&error);
            thread::sleep(REOPEN);
        }
    }

    /// Makes the settings. An anemometer that refuses some still measures.
    fn configure(&self, port: &mut SerialPort) -> io::Result<()> {
        let Some(configuration) = &self.settings.configuration else { return Ok(()) };
        let refused = configuration.apply(port)?;
        if !refused.is_empty() {
            let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
            let settings = refused.join(" ");
            tracing::warn!(port = %self.settings.port.display(), settings, "anemometer refuses settings");
        }
        Ok(())
    }

    /// Reads until the line fails.
    fn listen(&mut self, port: &mut SerialPort) -> io::Result<std::convert::Infallible> {
        let (mut messages, mut buffer) = (Messages::default(), [0; 256]);
        let (mut heard, mut ask_at) = (Instant::now(), Instant::now());
        loop {
            let wait = match self.settings.mode {
                Mode::Continuous => MESSAGE_TIMEOUT.saturating_sub(heard.elapsed()),
                Mode::Polled { node, hertz } => self.poll(port, node, hertz, &mut ask_at)?,
            };
            let length = port.read(&mut buffer, wait.min(MESSAGE_TIMEOUT))?;
            for &byte in buffer.iter().take(length) {
                match messages.take(byte) {
                    Some(Ok(message)) => {
                        heard = Instant::now();
                        self.publish(&message);
                    }
                    Some(Err(damage)) => self.count(damage),
                    None => {}
                }
            }
            if heard.elapsed() >= MESSAGE_TIMEOUT.max(self.longest_pause()) {
                heard = Instant::now();
                self.log_once(&io::Error::new(io::ErrorKind::TimedOut, self.silence_error()));
            }
        }
    }

    /// Polls the anemometer when it is time, and returns how long the answer may take.
    fn poll(
        &self,
        port: &mut SerialPort,
        node: char,
        hertz: Hertz,
        at: &mut Instant,
    ) -> io::Result<Duration> {
        let now = Instant::now();
        if now >= *at {
            // The ? enables polled mode: after a power failure the anemometer starts in its stored mode.
            port.write(format!("?{node}").as_bytes())?;
            *at = (*at + Duration::from_nanos(hertz.period_ns())).max(now);
        }
        Ok(at.saturating_duration_since(now))
    }

    fn longest_pause(&self) -> Duration {
        match self.settings.mode {
            Mode::Continuous => Duration::ZERO,
            Mode::Polled { hertz, .. } => Duration::from_nanos(hertz.period_ns()) * 2,
        }
    }

    fn silence_error(&self) -> String {
        let WindSonic { port, baud, mode, configuration: _ } = &self.settings;
        let expected_mode = match mode {
            Mode::Continuous => "set to continuous mode (M2)".to_owned(),
            Mode::Polled { node, .. } => format!("in polled mode (M4) with address {node}"),
        };
        format!(
            "{}: no message from the anemometer: is it switched on, at {baud} baud and {expected_mode}?",
            port.display()
        )
    }

    fn publish(&mut self, message: &Message) {
        if self.failing {
            self.failing = false;
            tracing::info!(port = %self.settings.port.display(), "anemometer works again");
        }
        // The ring counts a sample that does not fit.
        self.probe.flush(&WindSonicProbe {
            direction: message.direction.unwrap_or(f32::NAN),
            speed: message.speed.unwrap_or(f32::NAN),
            status: message.status,
            node_address: message.node.to_string(),
            damaged_messages: self.damaged,
        });
        // This thread has waited for the line, and will wait again.
        self.probe.wake_node();
    }

    /// Counts damage and logs it once: a noisy line would fill the log, and samples contain the count.
    fn count(&mut self, damage: Damage) {
        if self.damaged == 0 {
            tracing::warn!(port = %self.settings.port.display(), %damage, "anemometer sends invalid messages");
        }
        self.damaged += 1;
    }

    /// Logs an error once, until a message arrives again.
    fn log_once(&mut self, error: &io::Error) {
        if !self.failing {
            self.failing = true;
            tracing::warn!(%error, "cannot read the anemometer: retrying");
        }
    }
}
