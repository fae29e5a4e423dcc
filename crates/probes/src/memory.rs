//! `LinuxMemoryProbe`: the memory of this host, from `/proc/meminfo`.

use crate::{
    generated::oasis::system::LinuxMemoryProbe,
    proc_file::{ProcFile, unexpected},
};
use oasis_ei_node::ReadyMadeProbe;
use oasis_probe::Probe;
use std::io;

const PATH: &str = "/proc/meminfo";

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "memory",
    measures: "memory, swap, caches",
    instances: "one",
    parameters: &[],
    types: &["LinuxMemoryProbe"],
    add: |node, choice| choice.periodic(node, "memory", Memory::default()),
};

/// The host's memory.
#[derive(Debug)]
pub struct Memory(ProcFile);

impl Default for Memory {
    fn default() -> Self {
        // About fifty lines of thirty bytes; kernels keep adding some.
        Self(ProcFile::new(PATH, 8 * 1024))
    }
}

impl Probe for Memory {
    type Sample = LinuxMemoryProbe;

    fn sample(&mut self) -> io::Result<LinuxMemoryProbe> {
        let sample = parse(self.0.read()?);
        if sample.physical_memory_total == 0 {
            return Err(unexpected(PATH, "no line MemTotal"));
        }
        Ok(sample)
    }
}

/// proc(5). Lines that this kernel does not have (high memory on 64 bits) stay 0.
fn parse(meminfo: &str) -> LinuxMemoryProbe {
    let mut sample = LinuxMemoryProbe::default();
    for (name, value) in meminfo.lines().filter_map(line) {
        let metric = match name {
            "MemAvailable" => &mut sample.physical_memory_avail,
            "MemTotal" => &mut sample.physical_memory_total,
            "Cached" => &mut sample.system_cache,
            "CommitLimit" => &mut sample.commit_limit,
            "Committed_AS" => &mut sample.commit_total,
            "VmallocTotal" => &mut sample.virtual_total,
            "VmallocUsed" => &mut sample.virtual_used,
            "Buffers" => &mut sample.buffers,
            "SwapCached" => &mut sample.swap_cache,
            "Inactive" => &mut sample.inactive,
            "Active" => &mut sample.active,
            "HighTotal" => &mut sample.high_total,
            "HighFree" => &mut sample.high_free,
            "LowTotal" => &mut sample.low_total,
            "LowFree" => &mut sample.low_free,
            "SwapTotal" => &mut sample.swap_total,
            "SwapFree" => &mut sample.swap_free,
            "Dirty" => &mut sample.dirty,
            "Writeback" => &mut sample.write_back,
            "VmallocChunk" => &mut sample.virtual_chunk,
            _ => continue,
        };
        *metric = value;
    }
    sample
}

fn line(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.split_once(':')?;
    Some((name, value.trim().trim_end_matches(" kB").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_found_by_their_whole_name_and_missing_ones_are_zero() {
        let sample = parse(
            "MemTotal:  24684084 kB\nSwapCached: 1 kB\nCached: 2 kB\nActive(anon): 3 kB\nActive: 4 kB\nHugePages_Total: 0\nnoise\n",
        );
        assert_eq!(
            (sample.physical_memory_total, sample.swap_cache, sample.system_cache),
            (24_684_084, 1, 2)
        );
        assert_eq!((sample.active, sample.high_total), (4, 0));
    }

    #[test]
    fn this_host_can_be_sampled() {
        let sample = Memory::default().sample().unwrap();
        assert!(sample.physical_memory_avail <= sample.physical_memory_total);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(MemTotal:|Cached:| kB|[0-9]{1,21}| |\n|\\PC){0,100}") {
            parse(&text);
        }
    }
}
