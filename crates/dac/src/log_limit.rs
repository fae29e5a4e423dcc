//! A bound for log lines that peers cause: one that comes and goes a thousand times a second must not fill a disk.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Number of lines that were left out before one that may be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut(u64);

impl LeftOut {
    /// The value of a field `others`, which is absent if none was left out.
    pub fn others(self) -> Option<u64> {
        (self.0 > 0).then_some(self.0)
    }
}

/// Permits some lines in each period, and counts the others.
#[derive(Debug)]
pub struct LogLimit {
    most: u32,
    period: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the present period began.
    began: Option<Instant>,
    /// Lines in it.
    logged: u32,
    /// Lines left out since the last one.
    left_out: u64,
}

impl LogLimit {
    /// Permits at most `most` lines in each `period`.
    pub const fn new(most: u32, period: Duration) -> Self {
        Self { most, period, state: Mutex::new(State { began: None, logged: 0, left_out: 0 }) }
    }

    /// Whether one more line may be logged.
    pub fn admit(&self, now: Instant) -> Option<LeftOut> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.began.is_none_or(|began| now.saturating_duration_since(began) >= self.period) {
            (state.began, state.logged) = (Some(now), 0);
        }
        if state.logged == self.most {
            state.left_out = state.left_out.saturating_add(1);
            return None;
        }
        state.logged += 1;
        Some(LeftOut(std::mem::take(&mut state.left_out)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted_in_the_next_one() {
        let (period, start) = (Duration::from_secs(10), Instant::now());
        let limit = LogLimit::new(2, period);
        let at = |seconds| limit.admit(start + Duration::from_secs(seconds)).map(LeftOut::others);
        assert_eq!([0, 1, 2, 9].map(at), [Some(None), Some(None), None, None]);
        assert_eq!([10, 19, 19, 20].map(at), [Some(Some(2)), Some(None), None, Some(Some(1))]);
    }
}
