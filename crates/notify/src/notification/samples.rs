//! Notifications for tests.

use crate::notification::{Event, Notification};
use oasis_alarms::{AlarmKey, AlarmView};
use oasis_rules::{Standing, program::Severity};

/// 2026-05-04T12:00:00Z
pub const NOON: u64 = 1_777_896_000_000_000_000;

/// A pump is hot.
pub fn hot() -> Notification {
    let key = AlarmKey { rule: "Hot".into(), node: "plant".into(), instance: "pump".into() };
    let test = Notification::test(String::new(), "hall-1", NOON);
    let alarm = AlarmView {
        key,
        state: Standing::Active,
        acknowledged: false,
        severity: Severity::High,
        message: Some("Pump is hot: 91.5 Cel".into()),
        value: Some(91.5),
        limit: Some(80.0),
        unit: Some("Cel".into()),
        raised: Some(NOON - 1_000_000_000),
        sequence: Some(7),
        ..test.alarm.clone()
    };
    let key = "6f0c3a1e-52d8-4b6f-9e0b-7d2fa8c194e3".into();
    Notification { id: 17, key, event: Event::Raised, alarm, ..test }
}

/// The alarm is no longer active.
pub fn cleared() -> Notification {
    let mut one = hot();
    one.event = Event::Cleared;
    one.key = "0a0c3a1e-52d8-4b6f-9e0b-7d2fa8c194e3".into();
    one.alarm.state = Standing::Normal;
    one.alarm.cleared = Some(NOON + 59_000_000_000);
    one.written = NOON + 60_000_000_000;
    one
}

/// Texts that try to be more than text.
pub fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = [
        "a\r\nBcc: mallory@example.org\r\n\r\nbody",
        "\r\n.\r\nQUIT\r\n",
        ".\n..\n",
        "\"quoted\" \\ 'single' <b>&amp;",
        "=?utf-8?q?=0D=0ABcc:_x?=",
        "\u{202e}drowssap\u{2028}\u{0}\u{1b}[2J",
        "炉 ünïcödé 🔥",
        "",
        " ",
    ]
    .map(String::from)
    .into();
    texts.push("x".repeat(65_536));
    texts.push("é\r\n ".repeat(16_384));
    texts
}

/// A notification whose every text is this one.
pub fn with_text(text: &str) -> Notification {
    let mut one = hot();
    let key = &mut one.alarm.key;
    for place in [&mut key.rule, &mut key.node, &mut key.instance, &mut one.dac] {
        *place = text.into();
    }
    for place in [&mut one.alarm.message, &mut one.alarm.unit, &mut one.alarm.cause, &mut one.alarm.comment] {
        *place = Some(text.into());
    }
    one
}
