//! Reports to systemd (`Type=notify`, `WatchdogSec=`; sd_notify(3)). Does nothing elsewhere.

use oasis_health::{Finding, FindingKind, Health, Watchdog};
use oasis_site::revive::RUNTIME;
use sd_notify::NotifyState;
use std::{
    io,
    time::{Duration, Instant},
};

/// Reports that the service has started.
pub fn ready() {
    notify(&[NotifyState::Ready]);
}

/// Reports that the service ends.
pub fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Starts the watchdog of the process. It also keeps systemd's watchdog quiet, unless a restart would help.
///
/// # Errors
/// If the system refuses a thread.
pub fn watchdog(health: Health) -> io::Result<Watchdog> {
    // systemd advises half of the timeout.
    let period = sd_notify::watchdog_enabled().map(|timeout| timeout / 2);
    let mut due = Instant::now();
    Watchdog::start(health, move |findings| {
        let Some(period) = period else { return };
        if Instant::now() >= due && !needs_restart(findings) {
            notify(&[NotifyState::Watchdog]);
            // A look may come half a second late.
            due = Instant::now() + period.saturating_sub(Duration::from_millis(500));
        }
    })
}

/// A hanging disk would hang after a restart too, and live data continues meanwhile.
fn needs_restart(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.kind == FindingKind::Died || &*finding.thread == RUNTIME)
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot notify systemd (NOTIFY_SOCKET)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(thread: &str, kind: FindingKind) -> Finding {
        Finding { thread: thread.into(), kind, lasts: Duration::from_secs(6) }
    }

    #[test]
    fn only_failures_that_a_restart_mends_need_one() {
        assert!(!needs_restart(&[]));
        assert!(!needs_restart(&[finding("archive", FindingKind::Hangs("syncing"))]));
        assert!(needs_restart(&[finding("archive", FindingKind::Died)]));
        assert!(needs_restart(&[finding(RUNTIME, FindingKind::Hangs("scheduling"))]));
    }
}
