//! Cost of TLS at the doors, beside other servers with the same cryptography, and cost of sign-in.

mod arrivals;
mod bursts;
mod handshakes;
mod records;

use crate::{
    certificates::{Certificates, Session},
    entrance::Entrance,
};
use clap::Args;
use std::time::Duration;

/// Deliveries, handshakes and memory with TLS, and the age of samples with sign-in.
#[derive(Debug, Clone, Args)]
pub struct Tls {
    /// Subscribers of each server.
    #[arg(long, default_value_t = 1_000)]
    subscribers: usize,
    /// Messages that each gets in a round.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    bursts: Vec<usize>,
    /// Measurements of each kind.
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Length of one measurement of bursts, in milliseconds.
    #[arg(long, default_value_t = 400)]
    length_ms: u64,
    /// Handshakes in one measurement.
    #[arg(long, default_value_t = 300)]
    handshakes: u32,
    /// Length of one measurement of the age of samples, in seconds.
    #[arg(long, default_value_t = 3)]
    age_s: u64,
}

/// Protection of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Without TLS.
    Plain,
    /// With TLS, without accounts.
    Tls,
    /// With TLS and a token.
    Token,
    /// With TLS and the cookie of a session.
    Session,
}

impl Guard {
    /// Flags of the server.
    fn flags(self, certificates: &Certificates) -> anyhow::Result<Vec<&str>> {
        let mut flags = Vec::new();
        if self != Self::Plain {
            flags.extend(certificates.flags()?);
        }
        if matches!(self, Self::Token | Self::Session) {
            flags.push("--accounts");
        }
        Ok(flags)
    }

    /// Returns the access to a server with these addresses.
    fn entrance(self, certificates: &Certificates, places: &[String]) -> anyhow::Result<Entrance> {
        if self == Self::Plain {
            return Ok(Entrance::default());
        }
        let header = match (self, places) {
            (Self::Token, [.., token, _]) => format!("Authorization: Bearer {token}\r\n"),
            (Self::Session, [address, .., cookie]) => {
                let port = address.rsplit(':').next().unwrap_or_default();
                format!("Cookie: oasis-session-{port}={cookie}\r\n")
            }
            _ => String::new(),
        };
        Ok(Entrance { tls: Some(certificates.client(Session::Fresh)?), header })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tls => "TLS",
            Self::Token => "TLS, token",
            Self::Session => "TLS, session",
        }
    }
}

impl Tls {
    /// Measures, and returns the sections of the report.
    pub fn run(&self) -> anyhow::Result<Vec<String>> {
        let certificates = Certificates::new()?;
        Ok(vec![
            bursts::measure(self, &certificates)?,
            arrivals::measure(self, &certificates)?,
            handshakes::measure(self, &certificates)?,
            records::measure(&certificates)?,
        ])
    }

    fn length(&self) -> Duration {
        Duration::from_millis(self.length_ms)
    }
}
