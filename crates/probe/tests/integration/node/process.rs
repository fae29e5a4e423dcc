//! Children of `fork`: what is left in them of a node.

use super::{flush, pushing, reading};
use oasis_probe::{NodeError, PushedKind, SharedProbe, process};
use std::{
    fs::File,
    io::{Read, Write},
    os::fd::FromRawFd,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Forks, and returns what `child` returns there. It fails if the child has not ended after a minute.
fn in_child(child: impl FnOnce() -> String) -> String {
    let mut pipe = [0; 2];
    // SAFETY: the array has room for both descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    // SAFETY: the child calls code that takes no lock of another thread, and then ends without that of its parent.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: it ends a child that hangs.
            unsafe { libc::alarm(60) };
            let answer = catch_unwind(AssertUnwindSafe(child)).unwrap_or_else(|_| "panicked".into());
            // SAFETY: the bytes are there, and nothing else is done in the child.
            unsafe {
                libc::write(pipe[1], answer.as_ptr().cast(), answer.len());
                libc::_exit(0)
            }
        }
        id => {
            assert!(id > 0);
            // SAFETY: the descriptor is open, and only this process's end of the pipe is closed.
            unsafe { libc::close(pipe[1]) };
            // SAFETY: the descriptor is open and has no other owner.
            let mut answers = unsafe { File::from_raw_fd(pipe[0]) };
            let mut answer = String::new();
            answers.read_to_string(&mut answer).unwrap();
            let mut status = 0;
            // SAFETY: the child of this process, and room for its status.
            assert_eq!(unsafe { libc::waitpid(id, &raw mut status, 0) }, id);
            assert_eq!(status, 0, "{answer}");
            answer
        }
    }
}

#[test]
fn a_child_takes_no_samples_and_says_so_and_the_parent_goes_on() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 16);
    assert!(flush(&mut probe, 1.0));
    let answer = in_child(|| {
        let taken = (0..1_000).filter(|_| flush(&mut probe, 2.0)).count();
        probe.wake_node();
        let refusal = node.refusal().map(|refusal| refusal.code);
        let added = node.pushed_rows("another", reading(), PushedKind::Pushed, 4_096);
        let is_refused = matches!(added, Err(NodeError::Forked(_)));
        format!("{taken} {} {refusal:?} {is_refused} {}", probe.is_forked(), node.was_taken())
    });
    assert_eq!(answer, "0 true Some(\"forked\") true false");
    assert!(flush(&mut probe, 3.0) && !probe.is_forked());
    node.shutdown();
    let values: Vec<_> = recorder.samples("reading").iter().map(|sample| sample.value).collect();
    assert_eq!(values, [1.0, 3.0]);
}

#[test]
fn a_child_ends_without_waiting_for_the_threads_of_its_parent() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 16);
    let mut node = Some(node);
    for ends in [true, false] {
        let answer = in_child(|| {
            let node = node.take().unwrap();
            if ends { format!("{:?}", node.shutdown().map(|refusal| refusal.code)) } else { String::new() }
        });
        assert_eq!(answer, if ends { "Some(\"forked\")" } else { "" });
    }
    assert!(flush(&mut probe, 1.0));
    node.unwrap().shutdown();
    assert_eq!(recorder.samples("reading").len(), 1);
}

#[test]
fn a_node_that_starts_in_a_child_is_the_childs() {
    let mut builder = super::builder();
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
    let answer = in_child(|| {
        let (connector, recorder) = super::recorder();
        let before = flush(&mut probe, 1.0);
        let node = builder.start(connector).unwrap();
        let after = flush(&mut probe, 2.0);
        let refusal = node.shutdown();
        format!("{before} {after} {refusal:?} {} {}", recorder.samples("reading").len(), process::is_child())
    });
    assert_eq!(answer, "true true None 2 true");
}

/// Sets a flag when it is dropped.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn children_of_a_program_whose_threads_flush_all_end() {
    let (probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 16);
    let (shared, is_over) = (SharedProbe::new(probe, 64), AtomicBool::new(false));
    let row = [0_u8; 9];
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    shared.flush_at(1, &row);
                    thread::yield_now();
                }
            });
        }
        // The scope waits for its threads, also if an answer is wrong.
        let _over = SetOnDrop(&is_over);
        for _ in 0..20 {
            let answer = in_child(|| {
                (0..1_000).for_each(|_| shared.flush_at(1, &row));
                let refusal = node.refusal();
                format!("{} {}", shared.is_forked(), refusal.is_some())
            });
            assert_eq!(answer, "true true");
        }
    });
    node.shutdown();
    assert!(!recorder.samples("reading").is_empty());
}

#[test]
fn a_process_that_a_signal_ends_finishes_its_work_whatever_its_threads_do() {
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        assert_eq!(ended_by(signal), "delivered true", "{signal}");
    }
}

#[test]
fn a_signal_that_the_program_ignores_stays_ignored() {
    let answer = in_child(|| {
        // SAFETY: as `nohup` does, in a child that runs nothing else.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        let is_prepared = process::at_termination(|| {}).unwrap();
        // SAFETY: a signal to this process, which ignores it.
        unsafe { libc::raise(libc::SIGHUP) };
        format!("{is_prepared}")
    });
    assert_eq!(answer, "true");
}

/// Returns what a process says at its end by this signal, and whether that signal has ended it.
fn ended_by(signal: libc::c_int) -> String {
    in_child(|| {
        let (mut from_child, mut to_parent) = std::io::pipe().unwrap();
        // SAFETY: this process is a child that runs nothing else; it forks once more, because the signal ends it.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: the tests may run under nohup, whose children ignore SIGHUP.
                unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
                let finish = move || to_parent.write_all(b"delivered").unwrap();
                let signal = if process::at_termination(finish).unwrap() { signal } else { libc::SIGKILL };
                // SAFETY: a signal to this process, which then waits for ever.
                unsafe { libc::kill(libc::getpid(), signal) };
                loop {
                    thread::park();
                }
            }
            id => {
                drop(to_parent);
                let (mut said, mut status) = (String::new(), 0);
                from_child.read_to_string(&mut said).unwrap();
                // SAFETY: the child of this process, and room for its status.
                unsafe { libc::waitpid(id, &raw mut status, 0) };
                format!("{said} {}", libc::WTERMSIG(status) == signal)
            }
        }
    })
}
