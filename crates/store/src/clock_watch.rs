//! Watches the wall clock for jumps. Retention by age deletes by the wall clock, and must not trust a clock that was
//! set.

use crate::clock::Clock;
use oasis_wire::quantity::Nanos;
use serde::Serialize;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A difference between the wall clock and the elapsed time that is a jump. Clocks that are adjusted gradually stay far below it.
const MIN_JUMP: Duration = Duration::from_secs(60);
/// Interval at which the trusted time is recorded, so that the next start can compare.
const RECORD_INTERVAL: Duration = Duration::from_secs(600);

/// Compares the wall clock with the time that has elapsed since it was last trusted.
#[derive(Debug)]
pub struct ClockWatch {
    clock: Arc<dyn Clock>,
    /// Locked for arithmetic.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    trusted: TrustedTime,
    /// By how much the wall clock differs from the expected time, if it has jumped.
    jump: Option<ClockJump>,
    /// The time that the catalogue has.
    recorded: Option<TrustedTime>,
}

/// A time at which the wall clock was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedTime {
    /// The run of the machine.
    pub boot: String,
    /// Time since the machine was started.
    pub since_boot: Duration,
    /// The wall clock.
    pub wall: Nanos,
    /// Whether the wall clock has jumped since, without confirmation by a user.
    pub is_frozen: bool,
}

/// A jump of the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockJump {
    /// The wall clock minus the expected time, in seconds. `None` if the machine was started again since.
    pub seconds: Option<i64>,
}

impl fmt::Display for ClockJump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            Some(seconds) => write!(f, "the wall clock has jumped by {seconds} s")?,
            None => write!(f, "the wall clock had jumped before the machine started")?,
        }
        write!(f, ": nothing is evicted by age until it returns, or `oasis archive retention confirm`")
    }
}

impl ClockWatch {
    /// Begins to watch. `recorded` is the last trusted time of an earlier process.
    pub fn new(clock: Arc<dyn Clock>, recorded: Option<TrustedTime>) -> Self {
        let now = TrustedTime {
            boot: clock.boot(),
            since_boot: clock.since_boot(),
            wall: clock.wall(),
            is_frozen: false,
        };
        let (trusted, jump) = match &recorded {
            Some(before) if before.boot == now.boot => (before.clone(), None),
            // The machine was started again: only a clock that has gone back is certainly wrong.
            Some(before) if before.is_frozen || went_back(before, &now) => {
                (now, Some(ClockJump { seconds: None }))
            }
            _ => (now, None),
        };
        Self { clock, state: Mutex::new(State { trusted, jump, recorded }) }
    }

    /// Returns the wall clock's time unless it has jumped. Logs a jump, and its end.
    pub fn trusted(&self) -> Option<Nanos> {
        let (wall, since_boot) = (self.clock.wall(), self.clock.since_boot());
        let mut state = self.state();
        let before = state.jump;
        state.update_jump(wall, since_boot);
        let jump = state.jump;
        drop(state);
        match (before, jump) {
            (None, Some(jump)) => tracing::warn!(seconds = jump.seconds, "{jump}"),
            (Some(_), None) => {
                tracing::warn!("the wall clock has returned: samples are evicted by age again")
            }
            _ => {}
        }
        jump.is_none().then_some(wall)
    }

    /// Returns the time that the wall clock would show if it had not jumped: what is stamped with it does not look old when the clock returns.
    pub fn expected(&self) -> Nanos {
        // The wall clock itself, as far as it can be trusted.
        if let Some(wall) = self.trusted() {
            return wall;
        }
        let since_boot = self.clock.since_boot();
        let state = self.state();
        let elapsed = since_boot.saturating_sub(state.trusted.since_boot).as_nanos();
        Nanos(state.trusted.wall.0.saturating_add(u64::try_from(elapsed).unwrap_or(u64::MAX)))
    }

    /// Returns its source of time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Returns the jump at the last look, if there was one.
    pub fn jump(&self) -> Option<ClockJump> {
        self.state().jump
    }

    /// Trusts the wall clock as it is now. Returns the jump that was confirmed.
    pub fn confirm(&self) -> Option<ClockJump> {
        // The clock may have jumped since the last look.
        let _ = self.trusted();
        let (wall, since_boot) = (self.clock.wall(), self.clock.since_boot());
        let mut state = self.state();
        let jump = state.jump.take();
        state.trusted = TrustedTime { boot: self.clock.boot(), since_boot, wall, is_frozen: false };
        drop(state);
        if let Some(ClockJump { seconds }) = jump {
            tracing::warn!(seconds, "the wall clock is confirmed: samples are evicted by age again");
        }
        jump
    }

    /// Returns the trusted time if the catalogue should record it now.
    pub fn to_record(&self) -> Option<TrustedTime> {
        let state = self.state();
        let now = TrustedTime { is_frozen: state.jump.is_some(), ..state.trusted.clone() };
        let is_due = |before: &TrustedTime| {
            (&before.boot, before.is_frozen) != (&now.boot, now.is_frozen)
                || now.since_boot.saturating_sub(before.since_boot) >= RECORD_INTERVAL
        };
        state.recorded.as_ref().is_none_or(is_due).then_some(now)
    }

    /// Notes what the catalogue has recorded.
    pub fn note_recorded(&self, time: TrustedTime) {
        self.state().recorded = Some(time);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn update_jump(&mut self, wall: Nanos, since_boot: Duration) {
        // After a start of the machine nothing tells whether the clock has returned.
        if self.jump.is_some_and(|jump| jump.seconds.is_none()) {
            return;
        }
        let elapsed = since_boot.saturating_sub(self.trusted.since_boot).as_nanos();
        let expected = i128::from(self.trusted.wall.0) + i128::try_from(elapsed).unwrap_or(i128::MAX);
        let ahead = i128::from(wall.0) - expected;
        if ahead.unsigned_abs() > MIN_JUMP.as_nanos() {
            // Both clocks are not read at the same time: rounded to the nearest second.
            let seconds = (ahead + 500_000_000).div_euclid(1_000_000_000);
            let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
            self.jump = Some(ClockJump { seconds: Some(seconds) });
        } else {
            self.jump = None;
            (self.trusted.wall, self.trusted.since_boot) = (wall, since_boot);
        }
    }
}

fn went_back(before: &TrustedTime, now: &TrustedTime) -> bool {
    u128::from(before.wall.0.saturating_sub(now.wall.0)) > MIN_JUMP.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3_600;

    /// A clock that tests set.
    #[derive(Debug)]
    struct Hands(Mutex<(u64, u64, &'static str)>);

    impl Hands {
        fn new() -> Arc<Self> {
            Arc::new(Self(Mutex::new((1_000 * DAY, 100, "first"))))
        }

        /// Time passes.
        fn pass(&self, seconds: u64) {
            let mut hands = self.0.lock().unwrap();
            (hands.0, hands.1) = (hands.0 + seconds, hands.1 + seconds);
        }

        /// Sets the wall clock.
        fn set(&self, by: i64) {
            let mut hands = self.0.lock().unwrap();
            hands.0 = hands.0.checked_add_signed(by).unwrap();
        }

        /// The machine starts again.
        fn reboot(&self) {
            let mut hands = self.0.lock().unwrap();
            (hands.1, hands.2) = (0, "second");
        }
    }

    impl Clock for Hands {
        fn wall(&self) -> Nanos {
            Nanos(self.0.lock().unwrap().0 * 1_000_000_000)
        }
        fn since_boot(&self) -> Duration {
            Duration::from_secs(self.0.lock().unwrap().1)
        }
        fn boot(&self) -> String {
            self.0.lock().unwrap().2.into()
        }
    }

    fn jump(seconds: i64) -> Option<ClockJump> {
        Some(ClockJump { seconds: Some(seconds) })
    }

    #[test]
    fn a_clock_that_runs_is_trusted_however_long_nobody_looks() {
        let hands = Hands::new();
        let watch = ClockWatch::new(hands.clone(), None);
        for seconds in [1, 50, 40 * DAY, 59] {
            hands.pass(seconds);
            // Adjusted within the tolerance.
            hands.set(50);
            assert_eq!(watch.trusted(), Some(hands.wall()));
        }
    }

    #[test]
    fn a_jump_is_not_trusted_until_the_clock_returns() {
        let hands = Hands::new();
        let watch = ClockWatch::new(hands.clone(), None);
        for by in [40 * DAY as i64, -3_600] {
            hands.set(by);
            hands.pass(5);
            assert_eq!((watch.trusted(), watch.jump()), (None, jump(by)));
            hands.pass(DAY);
            assert_eq!(watch.trusted(), None, "time does not heal it");
            let expected = watch.expected();
            hands.set(-by);
            assert_eq!(expected, hands.wall(), "as if it had not been set");
            assert_eq!((watch.trusted(), watch.jump()), (Some(hands.wall()), None));
        }
    }

    #[test]
    fn a_confirmed_jump_is_trusted() {
        let hands = Hands::new();
        let watch = ClockWatch::new(hands.clone(), None);
        assert_eq!(watch.confirm(), None);
        hands.set(3_600);
        assert_eq!(watch.confirm(), jump(3_600), "even if nobody has looked since");
        assert_eq!(watch.trusted(), Some(hands.wall()));
        hands.set(-3_600);
        assert_eq!((watch.trusted(), watch.jump()), (None, jump(-3_600)));
    }

    #[test]
    fn a_restart_of_the_process_does_not_confirm_a_jump() {
        let hands = Hands::new();
        let watch = ClockWatch::new(hands.clone(), None);
        let recorded = watch.to_record().unwrap();
        watch.note_recorded(recorded.clone());
        assert_eq!(watch.to_record(), None);
        hands.set(3_600);
        let again = ClockWatch::new(hands.clone(), Some(recorded));
        assert_eq!((again.trusted(), again.jump()), (None, jump(3_600)));
        let frozen = again.to_record().unwrap();
        assert!(frozen.is_frozen);
        assert_eq!(ClockWatch::new(hands.clone(), Some(frozen.clone())).trusted(), None);
        hands.set(-3_600);
        assert_eq!(ClockWatch::new(hands.clone(), Some(frozen)).trusted(), Some(hands.wall()));
    }

    #[test]
    fn a_restart_of_the_machine_keeps_a_jump_and_notices_a_clock_that_went_back() {
        let hands = Hands::new();
        let recorded = ClockWatch::new(hands.clone(), None).to_record().unwrap();
        hands.reboot();
        hands.set(40 * DAY as i64);
        let off = ClockWatch::new(hands.clone(), Some(recorded.clone()));
        assert_eq!(off.trusted(), Some(hands.wall()), "it was off for so long");
        let frozen = TrustedTime { is_frozen: true, ..recorded.clone() };
        let kept = ClockWatch::new(hands.clone(), Some(frozen));
        assert_eq!((kept.trusted(), kept.jump()), (None, Some(ClockJump { seconds: None })));
        kept.confirm();
        assert_eq!(kept.trusted(), Some(hands.wall()));
        hands.set(-41 * DAY as i64);
        assert_eq!(ClockWatch::new(hands.clone(), Some(recorded)).trusted(), None);
    }
}
