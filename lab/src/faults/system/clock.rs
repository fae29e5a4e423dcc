//! A wall clock that jumps, for one process: a library that shifts what `clock_gettime` returns.

use super::preload;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// The file holds a shift in seconds. Only CLOCK_REALTIME is shifted: the monotonic clock stays true.
const LIBRARY: &str = r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long long *shift;

__attribute__((constructor)) static void map_shift(void) {
    const char *path = getenv("LAB_CLOCK_SHIFT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) shift = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && shift) time->tv_sec += *shift;
    return result;
}
"#;

/// The clock of processes with its variables in their environment.
#[derive(Debug)]
pub struct ShiftedClock {
    library: PathBuf,
    shift: PathBuf,
}

impl ShiftedClock {
    /// Builds the library. Fails without a C compiler.
    pub fn build(folder: &Path) -> anyhow::Result<Self> {
        let library = preload::build(folder, "clock", LIBRARY)?;
        let clock = Self { library, shift: folder.join("clock-shift") };
        clock.write(0)?;
        Ok(clock)
    }

    /// Returns the variables of the environment of a process.
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![("LD_PRELOAD", self.library.clone()), ("LAB_CLOCK_SHIFT", self.shift.clone())]
    }

    /// Jumps forward from the true time.
    pub fn forward(&self, jump: Duration) -> anyhow::Result<()> {
        self.write(i64::try_from(jump.as_secs())?)
    }

    /// Jumps back from the true time.
    pub fn back(&self, jump: Duration) -> anyhow::Result<()> {
        self.write(-i64::try_from(jump.as_secs())?)
    }

    /// The true time again.
    pub fn mend(&self) -> anyhow::Result<()> {
        self.write(0)
    }

    fn write(&self, seconds: i64) -> anyhow::Result<()> {
        use std::os::unix::fs::FileExt;
        // In place: the process has mapped the file.
        let file = fs::File::options().create(true).truncate(false).write(true).open(&self.shift)?;
        Ok(file.write_all_at(&seconds.to_ne_bytes(), 0)?)
    }
}
