//! Limits of the machine on open sockets, checked before anything is started.

use super::settings::Settings;
use crate::cpu;
use anyhow::bail;
use std::fs;

/// Files of a process besides its sockets: more than the 256 that a DAC reserves.
const OTHER_FILES: u64 = 400;
/// Files of everything else on the machine.
const SPARE_FILES: u64 = 20_000;
/// Memory of one watcher: a socket at each end, and what relay and client keep, bytes.
const WATCHER_BYTES: u64 = 16 * 1024;
/// Memory of one relay and its process of clients besides, bytes.
const RELAY_BYTES: u64 = 32 * 1024 * 1024;

/// Limits of the machine; none where there is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files of a process.
    pub open_files: u64,
    /// Files of the machine that are not in use.
    pub free_files: Option<u64>,
    /// Watches of all epolls of a user.
    pub epoll_watches: Option<u64>,
    /// Connections that the firewall tracks.
    pub tracked: Option<u64>,
    /// Available memory, bytes.
    pub memory: Option<u64>,
}

impl Limits {
    /// Reads the limits of this machine.
    pub fn here() -> anyhow::Result<Self> {
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
        let files = fs::read_to_string("/proc/sys/fs/file-nr").unwrap_or_default();
        let mut files = files.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok());
        let (used, most) = (files.next(), files.nth(1));
        Ok(Self {
            open_files: cpu::raise_open_files()?,
            free_files: most.zip(used).map(|(most, used)| most.saturating_sub(used)),
            epoll_watches: number("/proc/sys/fs/epoll/max_user_watches"),
            tracked: number("/proc/sys/net/netfilter/nf_conntrack_max"),
            memory: cpu::memory("MemAvailable"),
        })
    }

    /// # Errors
    /// If a cell needs more; the error says what to raise.
    pub fn check(&self, settings: &Settings) -> anyhow::Result<()> {
        let (watchers, relays) = (settings.watchers as u64, settings.parts().len() as u64);
        let most_of_a_relay = settings.sockets.min(settings.watchers) as u64;
        let needs = [
            (
                "open files of a process",
                Some(self.open_files),
                most_of_a_relay + OTHER_FILES,
                "ulimit -Hn, or fewer SOCKETS",
            ),
            ("open files of the machine", self.free_files, 2 * watchers + SPARE_FILES, "sysctl fs.file-max"),
            (
                "watches of epoll",
                self.epoll_watches,
                2 * watchers + SPARE_FILES,
                "sysctl fs.epoll.max_user_watches",
            ),
            (
                "tracked connections",
                self.tracked,
                watchers + SPARE_FILES,
                "sysctl net.netfilter.nf_conntrack_max",
            ),
            (
                "bytes of available memory",
                self.memory,
                watchers * WATCHER_BYTES + relays * RELAY_BYTES,
                "more memory",
            ),
        ];
        let lacks = needs.into_iter().filter_map(|(what, there, needed, raise)| {
            let there = there.filter(|there| *there < needed)?;
            Some(format!("{needed} {what} are needed, and {there} are there ({raise})"))
        });
        let lacks: Vec<_> = lacks.collect();
        if !lacks.is_empty() {
            bail!("{watchers} watchers do not fit: {}", lacks.join("; "));
        }
        Ok(())
    }
}
