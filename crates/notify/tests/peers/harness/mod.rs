//! Peers that end with the test, and notifications for them.

pub mod alertmanager;
#[cfg(feature = "mail")]
pub mod mail_server;
pub mod plant;
pub mod receiver;

use oasis_alarms::{AlarmKey, AlarmView};
use oasis_notify::{Configured, Event, Notification, NotifyConfig};
use oasis_rules::{Standing, program::Severity};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// Timeout on a busy machine.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(90);

/// Polls until there is a result.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < TEST_TIMEOUT, "not within {TEST_TIMEOUT:?}: {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// The only destination of a configuration.
pub fn destination(table: &str) -> Configured {
    let config: NotifyConfig = toml::from_str(table).unwrap();
    config.destinations().unwrap().remove(0)
}

/// A file that only its owner can read.
pub fn secret(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("secret");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// Whether a program is installed. Without it the test is skipped, and prints so.
pub fn has(program: &Path, make: &str) -> bool {
    let is_here = program.exists();
    if !is_here {
        eprintln!("SKIPPED: no {}: run `make {make}`", program.display());
    }
    is_here
}

/// Now, nanoseconds since 1970.
pub fn now() -> u64 {
    oasis_dac::now().0
}

/// An alarm was raised now.
pub fn raised(instance: &str, key: &str) -> Notification {
    let test = Notification::test(key.into(), "hall-1", now());
    let alarm = AlarmView {
        key: AlarmKey { rule: "Hot".into(), node: "plant".into(), instance: instance.into() },
        state: Standing::Active,
        acknowledged: false,
        severity: Severity::High,
        message: Some("Pump is hot".into()),
        value: Some(91.5),
        limit: Some(80.0),
        unit: Some("Cel".into()),
        ..test.alarm
    };
    Notification { id: 1, event: Event::Raised, alarm, ..test }
}

/// The same alarm is over.
pub fn cleared(instance: &str, key: &str) -> Notification {
    let mut one = raised(instance, key);
    one.event = Event::Cleared;
    one.alarm.state = Standing::Normal;
    one
}
