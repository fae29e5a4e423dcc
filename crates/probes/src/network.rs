//! `LinuxNetworkProbe`: traffic of one network interface, from `/proc/net/dev`.

use crate::{
    generated::oasis::system::LinuxNetworkProbe,
    proc_file::{ProcFile, unexpected},
};
use oasis_ei_node::{Choice, ChoiceError, Parameter, ReadyMadeProbe};
use oasis_probe::{NodeBuilder, Probe};
use std::io;

const PATH: &str = "/proc/net/dev";
/// A line has about 130 bytes; this is room for five hundred interfaces.
const ROOM: usize = 64 * 1024;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "network",
    measures: "bytes, packets, errors, drops",
    instances: "`network/eth0`, one for each interface that has carried traffic",
    parameters: &[Parameter { name: "interface", meaning: "only this interface" }],
    types: &["LinuxNetworkProbe"],
    add,
};

/// Adds one instance for each interface: `network/eth0`.
fn add(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(interface) = choice.text("interface")? {
        return choice.periodic(node, "network", Network::new(interface));
    }
    for interface in interfaces()? {
        choice.periodic_of(node, "network", &interface, Network::new(interface.clone()))?;
    }
    Ok(())
}

/// One interface.
#[derive(Debug)]
pub struct Network {
    interface: String,
    file: ProcFile,
}

impl Network {
    /// The interface need not exist yet.
    pub fn new(interface: impl Into<String>) -> Self {
        Self { interface: interface.into(), file: ProcFile::new(PATH, ROOM) }
    }
}

impl Probe for Network {
    type Sample = LinuxNetworkProbe;

    fn sample(&mut self) -> io::Result<LinuxNetworkProbe> {
        let found = lines(self.file.read()?).find(|(interface, _)| *interface == self.interface);
        let (_, counters) =
            found.ok_or_else(|| unexpected(PATH, &format!("no interface {}", self.interface)))?;
        parse(counters).ok_or_else(|| unexpected(PATH, "a line has fewer than 16 numbers"))
    }
}

/// Interfaces that have carried traffic, or the loopback if there is no other.
pub fn interfaces() -> io::Result<Vec<String>> {
    let mut file = ProcFile::new(PATH, ROOM);
    let all: Vec<(String, bool)> = lines(file.read()?)
        .map(|(name, counters)| {
            (
                name.to_owned(),
                parse(counters).is_some_and(|sample| sample.rx_packets > 0 || sample.tx_packets > 0),
            )
        })
        .collect();
    let used: Vec<String> =
        all.iter().filter(|(name, used)| *used && name != "lo").map(|(name, _)| name.clone()).collect();
    Ok(if used.is_empty() { vec!["lo".into()] } else { used })
}

/// Interface and counters of each line after the two heading lines.
fn lines(dev: &str) -> impl Iterator<Item = (&str, &str)> {
    dev.lines()
        .skip(2)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, counters)| (name.trim(), counters))
}

/// proc(5): eight counters received, then eight transmitted.
fn parse(counters: &str) -> Option<LinuxNetworkProbe> {
    let mut fields = counters.split_ascii_whitespace();
    let mut next = || fields.next()?.parse().ok();
    Some(LinuxNetworkProbe {
        rx_bytes: next()?,
        rx_packets: next()?,
        rx_errors: next()?,
        rx_dropped: next()?,
        rx_fifo_errors: next()?,
        rx_frame_errors: next()?,
        rx_compressed: next()?,
        rx_multicast: next()?,
        tx_bytes: next()?,
        tx_packets: next()?,
        tx_errors: next()?,
        tx_dropped: next()?,
        tx_fifo_errors: next()?,
        tx_collisions: next()?,
        tx_carrier_errors: next()?,
        tx_compressed: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEV: &str = "Inter-|   Receive                            |  Transmit\n face |bytes packets\n\
        \x20   lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0\n\
        eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";

    #[test]
    fn each_interface_has_its_sixteen_counters() {
        let found: Vec<_> = lines(DEV).map(|(name, counters)| (name, parse(counters).unwrap())).collect();
        assert_eq!((found[0].0, found[0].1.rx_bytes, found[0].1.tx_packets), ("lo", 3193, 29));
        assert_eq!((found[1].0, found[1].1.rx_multicast, found[1].1.tx_compressed), ("eth0", 8, 16));
    }

    #[test]
    fn an_interface_that_does_not_exist_is_an_error_that_names_it() {
        let error = Network::new("nonesuch0").sample().unwrap_err().to_string();
        assert!(error.contains("nonesuch0"), "{error}");
    }

    #[test]
    fn this_host_has_interfaces() {
        assert!(!interfaces().unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(eth0:|[0-9]{1,21}| |\n|\\PC){0,100}") {
            lines(&text).filter_map(|(_, counters)| parse(counters)).count();
        }
    }
}
