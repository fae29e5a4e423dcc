//! A process that ends by SIGTERM without the program's doing delivers its last samples first.
//!
//! The signal's handler wakes a thread through a pipe, and that thread works. So it does not matter where the other threads
//! are: they may wait for ever, as the processes of a pool do. The process then ends by the same signal.

use crate::node::spawn;
use std::{
    io::{self, PipeReader, Read},
    mem,
    os::fd::IntoRawFd,
    ptr,
    sync::{
        atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Timeout for the last samples.
const LAST_SAMPLES: Duration = Duration::from_secs(5);

/// The pipe's end for the handler. It stays open as long as the process lives.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// The process whose thread reads the pipe. A child has the handler, and not the thread.
static OWNER: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = 0;
/// Whether the signal has arrived.
static HAS_ARRIVED: AtomicBool = AtomicBool::new(false);

/// Calls `finish` on a thread when SIGTERM arrives, waits up to five seconds for it, and ends the process by that
/// signal. Does nothing if the program handles or ignores the signal. Returns whether it does.
///
/// # Errors
/// If the system refuses a pipe, a thread, or the handler.
pub fn at_sigterm(finish: impl FnOnce() + Send + 'static) -> io::Result<bool> {
    // SAFETY: the structure may be all zeros.
    let mut present: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: nothing is changed, and the structure has room.
    check(unsafe { libc::sigaction(libc::SIGTERM, ptr::null(), &raw mut present) })?;
    if present.sa_sigaction != libc::SIG_DFL && present.sa_sigaction != handler() {
        return Ok(false);
    }
    let (wakes, wake) = io::pipe()?;
    spawn("oasis-sigterm", move || end_when_woken(wakes, finish))?;
    HAS_ARRIVED.store(false, Ordering::Relaxed);
    WAKE.store(wake.into_raw_fd(), Ordering::Relaxed);
    OWNER.store(std::process::id(), Ordering::Release);
    set_handler(handler())?;
    Ok(true)
}

/// Ends what [`at_sigterm`] has begun, before the program ends by itself: nothing is left to deliver. If the signal has
/// arrived, it never returns, so that the process ends by that.
pub fn end_at_once() {
    let is_ours = OWNER.swap(NOBODY, Ordering::AcqRel) == std::process::id();
    if !is_ours {
        return;
    }
    let _ = set_handler(libc::SIG_DFL);
    while HAS_ARRIVED.load(Ordering::Acquire) {
        thread::park();
    }
}

fn end_when_woken(mut wakes: PipeReader, finish: impl FnOnce() + Send + 'static) {
    if wakes.read_exact(&mut [0]).is_err() {
        return;
    }
    let (done, is_done) = mpsc::channel();
    let finishing = spawn("oasis-finish", move || {
        finish();
        let _ = done.send(());
    });
    if finishing.is_ok() {
        let _ = is_done.recv_timeout(LAST_SAMPLES);
    }
    let _ = set_handler(libc::SIG_DFL);
    // SAFETY: a signal to this process, which ends it.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}

fn handler() -> libc::sighandler_t {
    on_sigterm as extern "C" fn(libc::c_int) as libc::sighandler_t
}

/// Runs on any thread at any time, so it does only what a signal handler may do.
extern "C" fn on_sigterm(_signal: libc::c_int) {
    // SAFETY: `getpid` and `write` may be called in a handler; the byte is there.
    let is_woken = unsafe {
        let is_ours = OWNER.load(Ordering::Acquire) == libc::getpid().cast_unsigned();
        HAS_ARRIVED.fetch_or(is_ours, Ordering::AcqRel);
        is_ours && libc::write(WAKE.load(Ordering::Relaxed), [0_u8].as_ptr().cast(), 1) == 1
    };
    if !is_woken {
        // A child without the thread: as if there were no handler. The signal is delivered when this returns.
        // SAFETY: both may be called in a handler.
        unsafe {
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            libc::raise(libc::SIGTERM);
        }
    }
}

fn set_handler(handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the structure may be all zeros: no flags, and no signals that are blocked meanwhile.
    let mut wanted: libc::sigaction = unsafe { mem::zeroed() };
    wanted.sa_sigaction = handler;
    wanted.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is one of this module or the default, and the structure is only read.
    check(unsafe { libc::sigaction(libc::SIGTERM, &raw const wanted, ptr::null_mut()) })
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
