//! `LinuxDiskProbe`: activity of one disk or partition of this host, from its line of `/proc/diskstats`.

use crate::{
    generated::oasis::system::LinuxDiskProbe,
    proc_file::{ProcFile, unexpected},
};
use oasis_ei_node::{Choice, ChoiceError, Parameter, ReadyMadeProbe};
use oasis_probe::{NodeBuilder, Probe};
use std::{io, path::Path};

const PATH: &str = "/proc/diskstats";
/// A line has about 120 bytes; this is room for two thousand devices.
const ROOM: usize = 256 * 1024;
/// The kernel counts in these units, whatever the sector size of the disk (Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: u64 = 512;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "disk",
    measures: "bytes, operations, time, queue",
    instances: "`disk/sda`, one for each whole disk that has been used",
    parameters: &[Parameter { name: "device", meaning: "only this disk or partition" }],
    types: &["LinuxDiskProbe"],
    add,
};

/// Adds one instance for each disk: `disk/sda`.
fn add(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(device) = choice.text("device")? {
        return choice.periodic(node, "disk", Disk::new(device.trim_start_matches("/dev/")));
    }
    let devices = devices()?;
    if devices.is_empty() {
        return Err(ChoiceError::NothingToWatch {
            missing: "no disk in /proc/diskstats has been used",
            remedy: "name one with device=NAME",
        });
    }
    for device in devices {
        choice.periodic_of(node, "disk", &device, Disk::new(device.as_str()))?;
    }
    Ok(())
}

/// One device.
#[derive(Debug)]
pub struct Disk {
    device: String,
    file: ProcFile,
}

impl Disk {
    /// By the kernel's name, such as `sda`, `sda1` or `nvme0n1`. The device need not exist yet.
    pub fn new(device: impl Into<String>) -> Self {
        Self { device: device.into(), file: ProcFile::new(PATH, ROOM) }
    }
}

impl Probe for Disk {
    type Sample = LinuxDiskProbe;

    fn sample(&mut self) -> io::Result<LinuxDiskProbe> {
        let found = lines(self.file.read()?).find(|(device, _)| *device == self.device);
        let (_, counters) = found.ok_or_else(|| unexpected(PATH, &format!("no device {}", self.device)))?;
        parse(counters).ok_or_else(|| unexpected(PATH, &format!("unexpected line for {}", self.device)))
    }
}

/// Whole disks that have been read or written.
fn devices() -> io::Result<Vec<String>> {
    let mut file = ProcFile::new(PATH, ROOM);
    let used = lines(file.read()?).filter(|(_, counters)| {
        parse(counters).is_some_and(|sample| sample.read_bytes > 0 || sample.written_bytes > 0)
    });
    // Partitions have no folder there. The kernel writes ! for the / of names such as cciss/c0d0.
    let whole = |device: &str| Path::new("/sys/block").join(device.replace('/', "!")).exists();
    Ok(used.map(|(device, _)| device.to_owned()).filter(|device| whole(device)).collect())
}

/// Device and counters of each line.
fn lines(diskstats: &str) -> impl Iterator<Item = (&str, &str)> {
    diskstats.lines().filter_map(|line| {
        let (_major, rest) = line.trim_start().split_once(' ')?;
        let (_minor, rest) = rest.trim_start().split_once(' ')?;
        rest.trim_start().split_once(' ')
    })
}

/// Documentation/admin-guide/iostats.rst: eleven numbers, four more since 4.18, two more since 5.5. A partition had four before 2.6.25.
fn parse(counters: &str) -> Option<LinuxDiskProbe> {
    let numbers: Vec<u64> =
        counters.split_ascii_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    if let [reads, sectors_read, writes, sectors_written] = numbers[..] {
        let (read_bytes, written_bytes) = (bytes(sectors_read), bytes(sectors_written));
        return Some(LinuxDiskProbe { reads, writes, read_bytes, written_bytes, ..Default::default() });
    }
    if numbers.len() < 11 {
        return None;
    }
    let mut numbers = numbers.into_iter();
    let mut next = || numbers.next().unwrap_or(0);
    let (reads, reads_merged, sectors_read, read_time) = (next(), next(), next(), next());
    let (writes, writes_merged, sectors_written, write_time) = (next(), next(), next(), next());
    Some(LinuxDiskProbe {
        read_bytes: bytes(sectors_read),
        written_bytes: bytes(sectors_written),
        reads,
        writes,
        in_flight: next(),
        busy_time: next(),
        queued_time: next(),
        read_time,
        write_time,
        reads_merged,
        writes_merged,
        discards: next(),
        discards_merged: next(),
        discarded_bytes: bytes(next()),
        discard_time: next(),
        flushes: next(),
        flush_time: next(),
    })
}

fn bytes(sectors: u64) -> u64 {
    sectors.saturating_mul(SECTOR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(text: &str, device: &str) -> LinuxDiskProbe {
        parse(lines(text).find(|(found, _)| *found == device).unwrap().1).unwrap()
    }

    #[test]
    fn a_current_kernel_counts_discards_and_flushes() {
        let disk = line(include_str!("../recorded/diskstats-6.1"), "nvme0n1");
        assert_eq!((disk.reads, disk.read_bytes, disk.read_time), (187_512, 14_532_098 * 512, 63_218));
        assert_eq!(
            (disk.writes, disk.written_bytes, disk.write_time),
            (902_331, 51_220_144 * 512, 1_020_442)
        );
        assert_eq!((disk.in_flight, disk.busy_time, disk.queued_time), (2, 402_112, 1_131_905));
        assert_eq!((disk.discards, disk.flushes, disk.flush_time), (4_011, 50_310, 40_117));
    }

    #[test]
    fn older_kernels_count_less() {
        let disk = line(include_str!("../recorded/diskstats-4.4"), "sda");
        assert_eq!((disk.reads, disk.in_flight, disk.queued_time), (44_112, 0, 391_240));
        assert_eq!((disk.discards, disk.flushes), (0, 0));
        let partition = line(include_str!("../recorded/diskstats-2.6.9"), "hda1");
        assert_eq!((partition.reads, partition.read_bytes), (35_486, 38_030 * 512));
        assert_eq!((partition.writes, partition.written_bytes), (38_030, 38_030 * 512));
        assert_eq!(line(include_str!("../recorded/diskstats-2.6.9"), "cciss/c0d0").reads, 446_216);
    }

    #[test]
    fn an_unknown_device_is_an_error_that_names_it() {
        let error = Disk::new("nonesuch0").sample().unwrap_err().to_string();
        assert!(error.contains(PATH) && error.contains("nonesuch0"), "{error}");
    }

    #[test]
    fn each_disk_of_this_host_can_be_sampled() {
        for device in devices().unwrap_or_default() {
            Disk::new(device).sample().unwrap();
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "([0-9]{1,21}| |sda|\n|\\PC){0,100}") {
            lines(&text).filter_map(|(_, counters)| parse(counters)).count();
        }
    }
}
