//! `LinuxProcessorProbe`: times of all processors of this host by kind of work, from the first line of `/proc/stat`.

use crate::{
    generated::oasis::system::LinuxProcessorProbe,
    proc_file::{ProcFile, unexpected},
};
use oasis_ei_node::ReadyMadeProbe;
use oasis_probe::Probe;
use std::io;

const PATH: &str = "/proc/stat";

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "processor",
    measures: "time of all processors together, by kind of work",
    instances: "one",
    parameters: &[],
    types: &["LinuxProcessorProbe"],
    add: |node, choice| choice.periodic(node, "processor", Processor::default()),
};

/// All processors together.
#[derive(Debug)]
pub struct Processor(ProcFile);

impl Default for Processor {
    fn default() -> Self {
        // The line wanted is the first and has at most eleven numbers of twenty digits.
        Self(ProcFile::new(PATH, 256))
    }
}

impl Probe for Processor {
    type Sample = LinuxProcessorProbe;

    fn sample(&mut self) -> io::Result<LinuxProcessorProbe> {
        parse(self.0.read()?).ok_or_else(|| unexpected(PATH, "the first line is not `cpu` and seven numbers"))
    }
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq.
fn parse(stat: &str) -> Option<LinuxProcessorProbe> {
    let mut fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let mut next = || fields.next()?.parse().ok();
    let (user_time, nice_time, system_time, idle_time) = (next()?, next()?, next()?, next()?);
    let (iowait_time, irq_time, soft_irq_time) = (next()?, next()?, next()?);
    Some(LinuxProcessorProbe {
        idle_time,
        system_time,
        user_time,
        nice_time,
        iowait_time,
        irq_time,
        soft_irq_time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_line_is_distinguished_from_single_processors() {
        let sample = parse("cpu  1 2 3 4 5 6 7 8 9 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n").unwrap();
        let expected = LinuxProcessorProbe {
            user_time: 1,
            nice_time: 2,
            system_time: 3,
            idle_time: 4,
            iowait_time: 5,
            irq_time: 6,
            soft_irq_time: 7,
        };
        assert_eq!(sample, expected);
        assert!(parse("cpu 1 2 3").is_none() && parse("").is_none() && parse("intr 1 2 3 4 5 6 7").is_none());
    }

    #[test]
    fn this_host_can_be_sampled_again_and_again() {
        let mut probe = Processor::default();
        let (first, second) = (probe.sample().unwrap(), probe.sample().unwrap());
        assert!(second.idle_time >= first.idle_time && first.idle_time > 0);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(cpu |[0-9]{1,21}| |\n|\\PC){0,40}") {
            parse(&text);
        }
    }
}
