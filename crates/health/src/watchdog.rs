//! Logs what [`Health`] finds, on a thread of its own.

use crate::{Finding, FindingKind, Health};
use std::{
    collections::BTreeMap,
    io,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// Interval of checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A thread that looks for findings twice a second, and logs each of them once. Dropping it ends the thread.
#[derive(Debug)]
pub struct Watchdog {
    /// `None` once it was asked to end.
    ending: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts it. `after_look` is called after each look.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(
        health: Health,
        mut after_look: impl FnMut(&[Finding]) + Send + 'static,
    ) -> io::Result<Self> {
        let (ending, ended) = mpsc::channel();
        let mut reported = Reported::default();
        let mut look = move || {
            if ended.recv_timeout(CHECK_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return ControlFlow::Break(());
            }
            let findings = health.findings();
            reported.log(&findings);
            after_look(&findings);
            ControlFlow::Continue(())
        };
        let watch = move || {
            // The thread that watches the others must not end by a panic.
            while catch_unwind(AssertUnwindSafe(&mut look)).unwrap_or(ControlFlow::Continue(())).is_continue()
            {
            }
        };
        let thread = thread::Builder::new().name("oasis-watchdog".into()).spawn(watch)?;
        Ok(Self { ending: Some(ending), thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.ending = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Findings that are in the log already.
#[derive(Debug, Default)]
struct Reported(BTreeMap<Arc<str>, FindingKind>);

impl Reported {
    fn log(&mut self, findings: &[Finding]) {
        for finding in findings {
            if self.0.insert(finding.thread.clone(), finding.kind) != Some(finding.kind) {
                tracing::error!(%finding, "a thread does not work");
            }
        }
        self.0.retain(|thread, _| {
            let lasts = findings.iter().any(|finding| finding.thread == *thread);
            if !lasts {
                tracing::warn!(%thread, "the thread works again");
            }
            lasts
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_again_and_again_until_it_is_dropped() {
        let (looked, looks) = mpsc::channel();
        let watchdog = Watchdog::start(Health::default(), move |findings| {
            let _ = looked.send(findings.len());
        })
        .unwrap();
        assert_eq!([looks.recv().unwrap(), looks.recv().unwrap()], [0, 0]);
        drop(watchdog);
        // Ends, because the sender is gone with the thread.
        looks.iter().for_each(drop);
    }

    #[test]
    fn each_finding_is_reported_once() {
        let finding = Finding {
            thread: "archive".into(),
            kind: FindingKind::Hangs("sync"),
            lasts: Duration::from_secs(6),
        };
        let mut reported = Reported::default();
        reported.log(std::slice::from_ref(&finding));
        assert_eq!(reported.0.len(), 1);
        reported.log(&[]);
        assert!(reported.0.is_empty());
    }
}
