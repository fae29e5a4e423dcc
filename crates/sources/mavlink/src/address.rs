//! The addresses of links, as tools for MAVLink write them.

use std::{fmt, path::PathBuf};

/// The speed of serial lines if none is named, in bits a second: that of telemetry radios.
const DEFAULT_BAUD: u32 = 57_600;
/// Most characters of an address in an error.
const MAX_QUOTED_CHARACTERS: usize = 200;

/// A link to vehicles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Vehicles send to this address of this host.
    UdpIn(String),
    /// A vehicle, or a router, waits at this address for a first datagram.
    UdpOut(String),
    /// A serial line.
    Serial {
        /// The tty.
        path: PathBuf,
        /// Bits a second.
        baud: u32,
    },
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no link: write udpin:HOST:PORT, udpout:HOST:PORT, serial:PATH or serial:PATH,BAUD")]
pub struct BadAddress(String);

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.chars().take(MAX_QUOTED_CHARACTERS).collect());
        let (kind, rest) = text.split_once(':').ok_or_else(bad)?;
        if kind == "serial" {
            let (path, baud) = match rest.rsplit_once(',') {
                Some((path, baud)) => (path, baud.parse().map_err(|_| bad())?),
                None => (rest, DEFAULT_BAUD),
            };
            let is_valid = !path.is_empty() && baud > 0;
            return if is_valid { Ok(Self::Serial { path: path.into(), baud }) } else { Err(bad()) };
        }
        let (host, port) = rest.rsplit_once(':').ok_or_else(bad)?;
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(bad());
        }
        match kind {
            "udpin" => Ok(Self::UdpIn(rest.into())),
            "udpout" if port != "0" => Ok(Self::UdpOut(rest.into())),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UdpIn(at) => write!(f, "udpin:{at}"),
            Self::UdpOut(at) => write!(f, "udpout:{at}"),
            Self::Serial { path, baud } => write!(f, "serial:{},{baud}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_as_tools_for_mavlink_do() {
        for (text, shown) in [
            ("udpin:0.0.0.0:14550", "udpin:0.0.0.0:14550"),
            ("udpin:[::1]:0", "udpin:[::1]:0"),
            ("udpout:drone.local:14555", "udpout:drone.local:14555"),
            ("serial:/dev/ttyACM0", "serial:/dev/ttyACM0,57600"),
            ("serial:/dev/ttyUSB0,115200", "serial:/dev/ttyUSB0,115200"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown);
        }
        for text in [
            "",
            "14550",
            "udp:a:1",
            "udpin:14550",
            "udpin::1",
            "udpout:a:0",
            "udpin:a:x",
            "serial:",
            "serial:/a,0",
        ] {
            assert_eq!(Address::parse(text), Err(BadAddress(text.into())));
        }
    }
}
