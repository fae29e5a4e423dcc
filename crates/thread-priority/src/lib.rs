//! Which threads of a DAC get a processor first, when there is more work than processors.
//!
//! A thread that carries samples sleeps most of the time, and works for microseconds. If all processors are busy when it wakes, it waits until a running thread
//! has used its time slice: 0.7 to 2.8 ms, the more processors the longer. Since version 6.12, Linux takes the slice that a thread asks for (`sched_setattr(2)`, `sched_runtime`). A thread
//! with a shorter slice gets no more time than others, but gets it at once. That needs no privilege, and older kernels ignore it.
//!
//! A thread inherits the slice of the thread that starts it. Threads that compute for long therefore ask for the usual one.
//!
//! Nothing here fails: a refused setting leaves the thread as it was. On other systems than Linux these functions do nothing.

use std::cell::Cell;

/// The nice value of work without readers that wait within milliseconds: queries, roll-ups, imports, answers of old samples.
pub const BACKGROUND: i32 = 10;

thread_local! {
    static HAS_SHORT_SLICES: Cell<bool> = const { Cell::new(false) };
}

/// Lets the calling thread run as soon as it wakes: for threads that carry samples. Only the first call is a system call.
pub fn use_short_slices() {
    if !HAS_SHORT_SLICES.replace(true) {
        system::set_slice(system::SHORT_SLICE_NS);
    }
}

/// Lets the calling thread work in slices of the usual length.
pub fn use_usual_slices() {
    HAS_SHORT_SLICES.set(false);
    system::set_slice(system::USUAL_SLICE);
}

/// Lowers the priority of the calling thread for good, and gives it slices of the usual length.
pub fn lower_priority(nice: i32) {
    HAS_SHORT_SLICES.set(false);
    system::set_nice(nice);
}

#[cfg(target_os = "linux")]
mod system {
    /// The shortest slice that the kernel accepts.
    pub const SHORT_SLICE_NS: u64 = 100_000;
    /// Asks for the slice that the kernel chooses.
    pub const USUAL_SLICE: u64 = 0;
    const ATTRIBUTES_BYTES: u32 = size_of::<libc::sched_attr>() as u32;

    pub fn set_slice(nanoseconds: u64) {
        change(|attributes| attributes.sched_runtime = nanoseconds);
    }

    pub fn set_nice(nice: i32) {
        change(|attributes| {
            attributes.sched_nice = attributes.sched_nice.max(nice);
            attributes.sched_runtime = USUAL_SLICE;
        });
    }

    /// Changes the attributes of the calling thread. Whoever gave the process a real-time or batch policy wants that one.
    fn change(change: impl FnOnce(&mut libc::sched_attr)) {
        if let Some(mut attributes) = attributes()
            && attributes.sched_policy == libc::SCHED_OTHER as u32
        {
            change(&mut attributes);
            // SAFETY: 0 is the calling thread; the attributes are only read, and state their size.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
        }
    }

    /// Returns the attributes of the calling thread.
    pub fn attributes() -> Option<libc::sched_attr> {
        let mut attributes = libc::sched_attr {
            size: ATTRIBUTES_BYTES,
            sched_policy: 0,
            sched_flags: 0,
            sched_nice: 0,
            sched_priority: 0,
            sched_runtime: 0,
            sched_deadline: 0,
            sched_period: 0,
        };
        // SAFETY: 0 is the calling thread; the kernel writes no more bytes than their size.
        let status =
            unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, ATTRIBUTES_BYTES, 0) };
        (status == 0).then_some(attributes)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub const SHORT_SLICE_NS: u64 = 0;
    pub const USUAL_SLICE: u64 = 0;

    pub fn set_slice(_nanoseconds: u64) {}

    pub fn set_nice(_nice: i32) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::thread;

    /// Runs on a thread of its own: priorities cannot be raised again.
    fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    /// Returns the slice and the nice value of the calling thread.
    fn present() -> (u64, i32) {
        let attributes = system::attributes().unwrap();
        (attributes.sched_runtime, attributes.sched_nice)
    }

    /// Whether the kernel knows slices of threads: Linux 6.12 and later.
    fn has_slices() -> bool {
        present().0 > 0
    }

    #[test]
    fn a_thread_that_carries_samples_has_short_slices_and_its_priority() {
        on_a_thread(|| {
            let nice = present().1;
            use_short_slices();
            assert_eq!(present().1, nice);
            if has_slices() {
                assert_eq!(present().0, system::SHORT_SLICE_NS);
            }
        });
    }

    #[test]
    fn a_thread_that_computes_has_usual_slices_whoever_starts_it() {
        on_a_thread(|| {
            let usual = present().0;
            use_short_slices();
            on_a_thread(|| {
                use_usual_slices();
                assert_eq!(present().0, usual);
                use_short_slices();
                if has_slices() {
                    assert_eq!(present().0, system::SHORT_SLICE_NS);
                }
            });
        });
    }

    #[test]
    fn work_in_the_background_has_a_low_priority_and_usual_slices() {
        on_a_thread(|| {
            let (usual, nice) = present();
            use_short_slices();
            lower_priority(BACKGROUND);
            assert_eq!(present(), (usual, nice.max(BACKGROUND)));
        });
    }

    #[test]
    fn a_lower_priority_is_not_raised() {
        on_a_thread(|| {
            lower_priority(15);
            lower_priority(BACKGROUND);
            assert!(present().1 >= 15);
        });
    }
}
