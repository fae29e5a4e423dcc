//! Whether the clock of this host can be right.

use super::Finding;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No host that runs this is older: 2025-01-01, in seconds since 1970.
const MIN_UNIX_SECONDS: u64 = 1_735_689_600;
const REMEDY: &str = "run a time service: chrony, systemd-timesyncd, or ptp4l";

pub(super) fn check() -> Finding {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    judge(now, error_of_the_kernel())
}

/// The largest error that the kernel estimates; none if nothing keeps the clock.
fn error_of_the_kernel() -> Option<Duration> {
    // SAFETY: all fields are numbers, for which zero is a value; `modes` of zero changes nothing.
    let (state, found) = unsafe {
        let mut found: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut found), found)
    };
    let is_kept = (0..libc::TIME_ERROR).contains(&state) && found.status & libc::STA_UNSYNC == 0;
    is_kept.then(|| Duration::from_micros(u64::try_from(found.maxerror).unwrap_or(u64::MAX)))
}

fn judge(now: Duration, error: Option<Duration>) -> Finding {
    match error {
        _ if now.as_secs() < MIN_UNIX_SECONDS => {
            Finding::problem("clock", "the clock of this host says a time before 2025", REMEDY)
        }
        Some(error) => {
            Finding::fine("clock", format!("synchronized, at most {} ms wrong", error.as_millis()))
        }
        None => Finding::warning(
            "clock",
            "nothing synchronizes the clock: times of several hosts will not fit together",
            REMEDY,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};

    #[test]
    fn a_clock_that_nobody_keeps_is_a_warning_and_one_of_1970_a_problem() {
        let today = Duration::from_secs(MIN_UNIX_SECONDS + 1);
        assert_eq!(judge(today, None).weight, Severity::Warning);
        assert_eq!(judge(Duration::ZERO, Some(Duration::ZERO)).weight, Severity::Problem);
        let kept = judge(today, Some(Duration::from_micros(2_400)));
        assert!(kept.weight == Severity::Fine && kept.says.contains("2 ms"), "{kept:?}");
    }
}
