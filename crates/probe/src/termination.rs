//! A process that ends by SIGTERM or SIGHUP without the program's doing delivers its last samples first.
//!
//! The handler of these signals wakes a thread through a pipe, and that thread works. So it does not matter where the other threads
//! are: they may wait for ever, as the processes of a pool do. The process then ends by the same signal.
//! SIGINT is left to the program: interpreters and shells give it a meaning.

use crate::node::spawn;
use std::{
    io::{self, PipeReader, Read},
    mem,
    os::fd::IntoRawFd,
    ptr,
    sync::{
        atomic::{AtomicI32, AtomicU32, Ordering},
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
/// The first signal that has arrived.
static ARRIVED: AtomicI32 = AtomicI32::new(NONE);
const NONE: libc::c_int = 0;
/// Signals of a service manager, and of a terminal that goes away.
const SIGNALS: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGHUP];

/// Calls `finish` on a thread when SIGTERM or SIGHUP arrives, waits up to five seconds for it, and ends the process by
/// that signal. A signal that the program handles or ignores, as under `nohup`, is left alone. Returns whether there is
/// another one.
///
/// # Errors
/// If the system refuses a pipe, a thread, or a handler.
pub fn at_termination(finish: impl FnOnce() + Send + 'static) -> io::Result<bool> {
    let mut free = Vec::new();
    for signal in SIGNALS {
        if is_free(signal)? {
            free.push(signal);
        }
    }
    if free.is_empty() {
        return Ok(false);
    }
    let (wakes, wake) = io::pipe()?;
    spawn("oasis-termination", move || end_when_woken(wakes, finish))?;
    ARRIVED.store(NONE, Ordering::Relaxed);
    WAKE.store(wake.into_raw_fd(), Ordering::Relaxed);
    OWNER.store(std::process::id(), Ordering::Release);
    free.into_iter().try_for_each(|signal| set_handler(signal, handler()))?;
    Ok(true)
}

/// Returns whether the program leaves the signal to the system, or to this module.
fn is_free(signal: libc::c_int) -> io::Result<bool> {
    let present = handler_of(signal)?;
    Ok(present == libc::SIG_DFL || present == handler())
}

fn handler_of(signal: libc::c_int) -> io::Result<libc::sighandler_t> {
    // SAFETY: the structure may be all zeros.
    let mut present: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: nothing is changed, and the structure has room.
    check(unsafe { libc::sigaction(signal, ptr::null(), &raw mut present) })?;
    Ok(present.sa_sigaction)
}

/// Ends what [`at_termination`] has begun, before the program ends by itself: nothing is left to deliver. If a signal has
/// arrived, it never returns, so that the process ends by that.
pub fn end_at_once() {
    let is_ours = OWNER.swap(NOBODY, Ordering::AcqRel) == std::process::id();
    if !is_ours {
        return;
    }
    release();
    while ARRIVED.load(Ordering::Acquire) != NONE {
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
    release();
    // SAFETY: a signal to this process, which ends it.
    unsafe { libc::kill(libc::getpid(), ARRIVED.load(Ordering::Acquire)) };
}

/// Lets the signals that this module handles end the process at once.
fn release() {
    for signal in SIGNALS {
        if handler_of(signal).is_ok_and(|present| present == handler()) {
            let _ = set_handler(signal, libc::SIG_DFL);
        }
    }
}

fn handler() -> libc::sighandler_t {
    on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t
}

/// Runs on any thread at any time, so it does only what a signal handler may do.
extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: `getpid` may be called in a handler.
    let is_ours = OWNER.load(Ordering::Acquire) == unsafe { libc::getpid() }.cast_unsigned();
    if is_ours {
        let _ = ARRIVED.compare_exchange(NONE, signal, Ordering::AcqRel, Ordering::Relaxed);
    }
    // SAFETY: `write` may be called in a handler; the byte is there.
    let is_woken =
        is_ours && unsafe { libc::write(WAKE.load(Ordering::Relaxed), [0_u8].as_ptr().cast(), 1) } == 1;
    if !is_woken {
        // A child without the thread: as if there were no handler. The signal is delivered when this returns.
        // SAFETY: both may be called in a handler.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

fn set_handler(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the structure may be all zeros: no flags, and no signals that are blocked meanwhile.
    let mut wanted: libc::sigaction = unsafe { mem::zeroed() };
    wanted.sa_sigaction = handler;
    wanted.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is one of this module or the default, and the structure is only read.
    check(unsafe { libc::sigaction(signal, &raw const wanted, ptr::null_mut()) })
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
