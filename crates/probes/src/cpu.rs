//! `LinuxCpuProbe`: times of one processor of this host by kind of work, from its line of `/proc/stat`.

use crate::{
    generated::oasis::system::LinuxCpuProbe,
    proc_file::{ProcFile, unexpected},
};
use oasis_ei_node::{Choice, ChoiceError, Parameter, ReadyMadeProbe};
use oasis_probe::{NodeBuilder, Probe};
use std::io;

const PATH: &str = "/proc/stat";
/// A line has a name and ten numbers; twenty digits each would be more than any host has seen.
const LINE: usize = 224;
/// Maximum processors that Linux can be built for.
const MAX_PROCESSORS: u32 = 8192;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "cpu",
    measures: "time of one processor, by kind of work; also steal and guest time",
    instances: "`cpu/0`, one for each processor",
    parameters: &[Parameter { name: "number", meaning: "only this processor" }],
    types: &["LinuxCpuProbe"],
    add,
};

/// Adds one instance for each processor: `cpu/0`.
fn add(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    if let Some(number) = choice.parsed("number", "the number of a processor, such as 0")? {
        return choice.periodic(node, "cpu", Cpu::new(number));
    }
    for number in numbers()? {
        choice.periodic_of(node, "cpu", &number.to_string(), Cpu::new(number))?;
    }
    Ok(())
}

/// One processor, by the kernel's number.
#[derive(Debug)]
pub struct Cpu {
    number: u32,
    file: ProcFile,
}

impl Cpu {
    /// The processor need not be online yet.
    pub fn new(number: u32) -> Self {
        // The line of all processors together and those before this one come first.
        let lines = number.min(MAX_PROCESSORS) as usize + 2;
        Self { number, file: ProcFile::new(PATH, lines * LINE) }
    }
}

impl Probe for Cpu {
    type Sample = LinuxCpuProbe;

    fn sample(&mut self) -> io::Result<LinuxCpuProbe> {
        let found = lines(self.file.read()?).find(|(number, _)| *number == self.number);
        let (number, times) =
            found.ok_or_else(|| unexpected(PATH, &format!("no processor {}", self.number)))?;
        parse(times)
            .ok_or_else(|| unexpected(PATH, &format!("the line cpu{number} has fewer than 7 numbers")))
    }
}

/// The processors that are online now.
fn numbers() -> io::Result<Vec<u32>> {
    let mut file = ProcFile::new(PATH, (MAX_PROCESSORS as usize + 1) * LINE);
    Ok(lines(file.read()?).map(|(number, _)| number).collect())
}

/// Number and times of each processor.
fn lines(stat: &str) -> impl Iterator<Item = (u32, &str)> {
    stat.lines().filter_map(|line| {
        let (number, times) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((number.parse().ok()?, times))
    })
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq; then steal (2.6.11), guest (2.6.24), guest_nice (2.6.33).
fn parse(times: &str) -> Option<LinuxCpuProbe> {
    let mut fields = times.split_ascii_whitespace();
    let mut next = || fields.next()?.parse().ok();
    let (user_time, nice_time, system_time, idle_time) = (next()?, next()?, next()?, next()?);
    Some(LinuxCpuProbe {
        idle_time,
        system_time,
        user_time,
        nice_time,
        iowait_time: next()?,
        irq_time: next()?,
        soft_irq_time: next()?,
        steal_time: next().unwrap_or(0),
        guest_time: next().unwrap_or(0),
        guest_nice_time: next().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINUX_2_6_9: &str = include_str!("../recorded/stat-2.6.9");
    const LINUX_6_18: &str = include_str!("../recorded/stat-6.18");

    #[test]
    fn each_processor_has_its_line() {
        let found: Vec<_> =
            lines(LINUX_6_18).map(|(number, times)| (number, parse(times).unwrap())).collect();
        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1]);
        let (_, first) = &found[0];
        assert_eq!((first.user_time, first.nice_time, first.system_time), (591_525, 79_545, 89_127));
        assert_eq!((first.idle_time, first.soft_irq_time, first.steal_time), (1_999_058, 1_783, 891));
    }

    #[test]
    fn an_old_kernel_counts_less() {
        let (number, times) = lines(LINUX_2_6_9).nth(1).unwrap();
        let sample = parse(times).unwrap();
        assert_eq!((number, sample.soft_irq_time, sample.steal_time), (1, 187, 0));
    }

    #[test]
    fn a_processor_that_is_offline_is_an_error_that_names_it() {
        let error = Cpu::new(8_000).sample().unwrap_err().to_string();
        assert!(error.contains(PATH) && error.contains("8000"), "{error}");
    }

    #[test]
    fn each_processor_of_this_host_can_be_sampled() {
        for number in numbers().unwrap() {
            assert!(Cpu::new(number).sample().unwrap().idle_time > 0);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(cpu|[0-9]| |\n|\\PC){0,200}") {
            lines(&text).filter_map(|(_, times)| parse(times)).count();
        }
    }
}
