//! The ready-made probes by name, as flags and configuration choose them.

use crate::{
    Cpu, CurrentProbe, Disk, FanProbe, Heartbeat, HumidityProbe, Memory, Network, PowerProbe, Process,
    Processor, Scheduling, TemperatureProbe, VoltageProbe, Which, WindSonic,
    choice::{Choice, ChoiceError},
    cpu, disk, network,
    sensors::{self, Quantity, Sensor},
    windsonic::Mode,
};
use oasis_probe::{NodeBuilder, Sample};
use std::{num::NonZeroU32, path::Path};

/// Adds a probe to a node as it was chosen.
type Add = fn(&mut NodeBuilder, &Choice<'_>) -> Result<(), ChoiceError>;

/// One ready-made probe.
#[derive(Debug, Clone, Copy)]
pub struct ReadyMade {
    /// As it is called in flags and configuration; also the default instance name.
    pub name: &'static str,
    /// What can be said about it besides name and rate.
    pub parameters: &'static [&'static str],
    add: Add,
}

/// All of them.
pub const PROBES: [ReadyMade; 10] = [
    ReadyMade {
        name: "processor",
        parameters: &[],
        add: |node, choice| choice.periodic(node, "processor", Processor::default()),
    },
    ReadyMade { name: "cpu", parameters: &["number"], add: add_cpus },
    ReadyMade {
        name: "memory",
        parameters: &[],
        add: |node, choice| choice.periodic(node, "memory", Memory::default()),
    },
    ReadyMade { name: "network", parameters: &["interface"], add: add_network },
    ReadyMade { name: "disk", parameters: &["device"], add: add_disks },
    ReadyMade {
        name: "process",
        parameters: &["name", "pid"],
        add: |node, choice| choice.periodic(node, "process", Process::new(which(choice)?)),
    },
    ReadyMade {
        name: "scheduling",
        parameters: &["name", "pid", "thread"],
        add: |node, choice| {
            let thread = choice.text("thread")?.map(str::to_owned);
            choice.periodic(node, "scheduling", Scheduling::new(which(choice)?, thread))
        },
    },
    ReadyMade { name: "sensors", parameters: &["chip"], add: add_sensors },
    ReadyMade { name: "windsonic", parameters: &["port", "baud", "mode", "node"], add: add_windsonic },
    ReadyMade {
        name: "heartbeat",
        parameters: &[],
        add: |node, choice| choice.periodic(node, "heartbeat", Heartbeat),
    },
];

/// Looks a probe up by name.
pub fn ready_made(name: &str) -> Option<&'static ReadyMade> {
    PROBES.iter().find(|probe| probe.name == name)
}

impl ReadyMade {
    /// Adds it to a node: one instance, or one for each thing of its kind that this host has.
    pub fn add(&self, node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
        let given = choice.parameters.keys().map(String::as_str);
        match given.into_iter().find(|name| !self.parameters.contains(name)) {
            Some(unknown) => Err(ChoiceError::unknown(unknown, self.name, self.parameters)),
            None => (self.add)(node, choice),
        }
    }
}

/// One instance for each processor: `cpu/0`.
fn add_cpus(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(number) = choice.parsed("number", "the number of a processor, such as 0")? {
        return choice.periodic(node, "cpu", Cpu::new(number));
    }
    for number in cpu::numbers()? {
        choice.periodic_of(node, "cpu", &number.to_string(), Cpu::new(number))?;
    }
    Ok(())
}

/// One instance for each interface: `network/eth0`.
fn add_network(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(interface) = choice.text("interface")? {
        return choice.periodic(node, "network", Network::new(interface));
    }
    for interface in network::interfaces()? {
        choice.periodic_of(node, "network", &interface, Network::new(interface.clone()))?;
    }
    Ok(())
}

/// One instance for each disk: `disk/sda`.
fn add_disks(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(device) = choice.text("device")? {
        return choice.periodic(node, "disk", Disk::new(device.trim_start_matches("/dev/")));
    }
    let devices = disk::devices()?;
    if devices.is_empty() {
        return Err(ChoiceError::Nothing {
            what: "no disk in /proc/diskstats was ever used",
            remedy: "name one with device=NAME",
        });
    }
    for device in devices {
        choice.periodic_of(node, "disk", &device, Disk::new(device.as_str()))?;
    }
    Ok(())
}

/// One instance for each sensor: `sensors/coretemp/Core 0`.
fn add_sensors(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    let chip = choice.text("chip")?;
    let mut found = sensors::sensors(Path::new(sensors::CLASSES))?;
    found.retain(|_, place| chip.is_none_or(|chip| place.chip == chip));
    if found.is_empty() {
        return Err(ChoiceError::Nothing {
            what: "no such sensor is in /sys/class/hwmon or /sys/class/thermal",
            remedy: "load the driver of the chip, or leave the probe out",
        });
    }
    for (name, place) in found {
        match place.quantity {
            Quantity::Temperature => {
                add_sensor(node, choice, &name, place, |temperature| TemperatureProbe { temperature })
            }
            Quantity::Fan => add_sensor(node, choice, &name, place, |speed| FanProbe { speed }),
            Quantity::Voltage => add_sensor(node, choice, &name, place, |voltage| VoltageProbe { voltage }),
            Quantity::Current => add_sensor(node, choice, &name, place, |current| CurrentProbe { current }),
            Quantity::Power => add_sensor(node, choice, &name, place, |power| PowerProbe { power }),
            Quantity::Humidity => {
                add_sensor(node, choice, &name, place, |humidity| HumidityProbe { humidity })
            }
        }?;
    }
    Ok(())
}

fn add_sensor<S: Sample + 'static>(
    node: &mut NodeBuilder,
    choice: &Choice<'_>,
    name: &str,
    place: sensors::Place,
    sample: fn(f64) -> S,
) -> Result<(), ChoiceError> {
    choice.periodic_of(node, "sensors", name, Sensor::new(place, sample))
}

/// The process that is meant: the node's own if nothing is said.
fn which(choice: &Choice<'_>) -> Result<Which, ChoiceError> {
    let pid = choice.parsed("pid", "the number of a process, such as 4711")?;
    match (choice.text("name")?, pid) {
        (Some(_), Some(_)) => Err(ChoiceError::Both("name", "pid")),
        (Some(name), None) => Ok(Which::Name(name.into())),
        (None, Some(pid)) => Ok(Which::Pid(pid)),
        (None, None) => Ok(Which::Own),
    }
}

/// A minute of messages at least: they wait here only while the node is busy.
const WINDSONIC_RING_BYTES: usize = 16 * 1024;

fn add_windsonic(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    let wanted = "the path of a tty, such as port=/dev/ttyUSB0";
    let port = choice.text("port")?.ok_or(ChoiceError::Missing { parameter: "port", wanted })?;
    let baud = choice.parsed("baud", "the rate of the line, such as 9600")?.map_or(9_600, NonZeroU32::get);
    let address = choice.parsed("node", "the anemometer's address, a letter such as Q")?;
    let mode = match (choice.text("mode")?, address.unwrap_or('Q')) {
        (None | Some("continuous"), _) => Mode::Continuous,
        (Some("polled"), node @ 'A'..='Z') => Mode::Polled { node, hertz: choice.hertz },
        (Some("polled"), node) => {
            return Err(ChoiceError::Invalid {
                parameter: "node",
                value: node.into(),
                wanted: "a letter, A to Z",
            });
        }
        (Some(other), _) => {
            let wanted = "continuous or polled";
            return Err(ChoiceError::Invalid { parameter: "mode", value: other.into(), wanted });
        }
    };
    let probe = node.pushed(choice.instance_or("windsonic"), WINDSONIC_RING_BYTES)?;
    WindSonic { port: port.into(), baud, mode }.start(probe)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_and_every_parameter_is_documented() {
        let page = include_str!("../../../docs/reference/probes.md");
        for probe in PROBES {
            let start = format!("| `{}` |", probe.name);
            let row = page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{start}"));
            assert!(probe.parameters.iter().all(|name| row.contains(&format!("`{name}`"))), "{row}");
        }
    }
}
