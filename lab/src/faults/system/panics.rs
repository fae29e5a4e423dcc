//! Panics in a chosen thread of a process, without a hook in its code: its clock fails once, which the standard library
//! answers with a panic.

use super::preload;
use anyhow::bail;
use std::{
    fs,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// The file holds the name of a thread. The first thread of this name that asks for the time clears it, and panics.
const LIBRARY: &str = r#"#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile char *victim;

__attribute__((constructor)) static void map_victim(void) {
    const char *path = getenv("LAB_PANIC");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(0, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) victim = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (victim && victim[0]) {
        char name[16] = "";
        prctl(PR_GET_NAME, name);
        if (strncmp(name, (const char *)victim, 16) == 0) {
            victim[0] = 0;
            errno = EINVAL;
            return -1;
        }
    }
    return (int)syscall(SYS_clock_gettime, clock, time);
}
"#;

/// Longest name of a thread that the kernel keeps.
const MOST_NAME: usize = 15;

/// Panics in processes with its variables in their environment.
#[derive(Debug)]
pub struct Panics {
    library: PathBuf,
    victim: PathBuf,
}

impl Panics {
    /// Builds the library. Fails without a C compiler.
    pub fn build(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let library = preload::build(folder, name, LIBRARY)?;
        let panics = Self { library, victim: folder.join(name).with_extension("victim") };
        panics.write("")?;
        Ok(panics)
    }

    /// Returns the variables of the environment of a process.
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("LD_PRELOAD", self.library.clone()),
            ("LAB_PANIC", self.victim.clone()),
            ("RUST_BACKTRACE", "0".into()),
        ]
    }

    /// A thread of this name panics soon.
    pub fn plant(&self, thread: &str) -> anyhow::Result<()> {
        if thread.len() > MOST_NAME {
            bail!("the kernel cuts the name of thread {thread:?}");
        }
        self.write(thread)
    }

    /// Returns whether the thread has panicked.
    pub fn has_happened(&self) -> anyhow::Result<bool> {
        Ok(fs::read(&self.victim)?.first() == Some(&0))
    }

    fn write(&self, thread: &str) -> anyhow::Result<()> {
        let mut name = [0; MOST_NAME + 1];
        name[..thread.len()].copy_from_slice(thread.as_bytes());
        // In place: the process has mapped the file. The first byte comes last: from then on the name counts.
        let file = fs::File::options().create(true).truncate(false).write(true).open(&self.victim)?;
        file.write_all_at(&name[1..], 1)?;
        Ok(file.write_all_at(&name[..1], 0)?)
    }
}
