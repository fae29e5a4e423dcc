//! The replay of all nodes, and the mapping of recorded times to the current time.

use super::{
    error::ReplayError,
    outbox::ReplayTotals,
    speed::Speed,
    stage::{Stage, Turn},
};
use oasis_probe::now_ns;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Longest pause between two steps, so that nodes send pings and Ctrl-C works.
const MAX_STEP_WAIT: Duration = Duration::from_millis(50);
/// Samples that are due within this time are sent together, as by a node.
const LINGER: Duration = Duration::from_millis(5);
/// Shortest duration of a loop: a recording of one sample must not cause constant reconnects.
const SHORTEST_LAP: Duration = Duration::from_millis(100);
/// Timeout of the last acknowledgements after a request to stop.
const FAREWELL: Duration = Duration::from_secs(2);

/// Progress of a replay.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A node lost its connection: the replay pauses.
    Lost {
        /// The replayed name of the node.
        node: String,
        /// The reason.
        why: String,
    },
    /// All nodes are connected again.
    Back {
        /// Duration of the pause.
        paused: Duration,
        /// Samples that are sent again.
        again: u64,
    },
    /// Its position, reported often.
    At {
        /// Number of the loop, from 1.
        lap: u64,
        /// Position in the recording, in seconds.
        seconds: f64,
        /// All samples played so far.
        samples: u64,
        /// Its lag, in seconds.
        lag: f64,
    },
}

/// A replay.
pub struct Playback<'a, R> {
    stages: Vec<Stage>,
    speed: Speed,
    lap: u64,
    report: R,
    has_stopped: &'a AtomicBool,
}

/// Maps recorded times to current times.
#[derive(Clone, Copy)]
struct Clock {
    speed: Speed,
    /// Time of the recording's first sample.
    first: u64,
    /// Its replayed time.
    began: u64,
}

impl Clock {
    fn live(&self, recorded: u64) -> u64 {
        self.began.saturating_add(self.speed.scale(recorded.saturating_sub(self.first)))
    }

    /// Shifts later times by a pause.
    fn pause(&mut self, pause: Duration) {
        self.began = self.began.saturating_add(u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
    }
}

impl<'a, R: FnMut(Event)> Playback<'a, R> {
    /// Creates a replay of these nodes, which stops early when the flag is set.
    pub fn new(stages: Vec<Stage>, speed: Speed, has_stopped: &'a AtomicBool, report: R) -> Self {
        Self { stages, speed, lap: 0, report, has_stopped }
    }

    /// Plays once, or in a loop.
    ///
    /// # Errors
    /// If the archive cannot be read, or the DAC refuses a node.
    pub fn play(&mut self, is_loop: bool) -> Result<(), ReplayError> {
        loop {
            self.lap += 1;
            let began = Instant::now();
            self.play_lap()?;
            if !is_loop || self.has_stopped() {
                return self.end("end of the replay");
            }
            self.end("again")?;
            self.stages.iter_mut().try_for_each(Stage::rewind)?;
            thread::sleep(SHORTEST_LAP.saturating_sub(began.elapsed()));
        }
    }

    /// Totals of a replay.
    pub fn played(&self) -> ReplayTotals {
        self.stages.iter().map(Stage::played).fold(ReplayTotals::default(), |sum, played| ReplayTotals {
            samples: sum.samples + played.samples,
            missing: sum.missing.saturating_add(played.missing),
            unacknowledged: sum.unacknowledged + played.unacknowledged,
        })
    }

    fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }

    fn next_time(&self) -> Option<u64> {
        self.stages.iter().filter_map(Stage::next_time).min()
    }

    fn play_lap(&mut self) -> Result<(), ReplayError> {
        let Some(first) = self.next_time() else { return Ok(()) };
        let mut clock = Clock { speed: self.speed, first, began: now_ns() };
        while let Some(next) = self.next_time() {
            clock.pause(self.bring_back()?);
            if self.has_stopped() {
                return Ok(());
            }
            let now = now_ns();
            let is_due = |time| clock.live(time) <= now;
            let mut turn = Turn::Later;
            for stage in &mut self.stages {
                turn = turn.max(stage.play(is_due, |time| clock.live(time))?);
            }
            self.report_position(&clock, next, now);
            match turn {
                Turn::Now => {}
                Turn::WaitsForDac => thread::sleep(LINGER),
                Turn::Later => {
                    let Some(next) = self.next_time() else { break };
                    let due = Duration::from_nanos(clock.live(next).saturating_sub(now_ns()));
                    thread::sleep(due.clamp(LINGER, MAX_STEP_WAIT));
                }
            }
        }
        Ok(())
    }

    /// Closes all nodes after the DAC has acknowledged everything; after a request to stop, with a timeout.
    fn end(&mut self, reason: &str) -> Result<(), ReplayError> {
        let mut stopped = None;
        loop {
            let mut is_over = true;
            for stage in &mut self.stages {
                is_over &= stage.end(reason)?;
            }
            if is_over {
                return Ok(());
            }
            if self.has_stopped() {
                let stopped = *stopped.get_or_insert_with(Instant::now);
                let is_away = self.stages.iter().any(|stage| stage.away().is_some());
                if is_away || stopped.elapsed() >= FAREWELL {
                    return Ok(());
                }
            }
            self.bring_back()?;
            thread::sleep(LINGER);
        }
    }

    /// Waits without limit until all nodes are connected, while playback pauses. Returns the duration of the pause.
    fn bring_back(&mut self) -> Result<Duration, ReplayError> {
        let Some((node, why)) = self.stages.iter().find_map(Stage::away) else { return Ok(Duration::ZERO) };
        let began = Instant::now();
        (self.report)(Event::Lost { node: node.into(), why: why.into() });
        while self.stages.iter().any(|stage| stage.away().is_some()) {
            if self.has_stopped() {
                return Ok(began.elapsed());
            }
            for stage in &mut self.stages {
                stage.tend()?;
                stage.try_again()?;
            }
            thread::sleep(LINGER);
        }
        let again = self.played().unacknowledged;
        let paused = began.elapsed();
        (self.report)(Event::Back { paused, again });
        Ok(paused)
    }

    /// Reports its position.
    fn report_position(&mut self, clock: &Clock, next: u64, now: u64) {
        let samples = self.played().samples;
        let seconds = next.saturating_sub(clock.first) as f64 / 1e9;
        let lag = now.saturating_sub(clock.live(next)) as f64 / 1e9;
        (self.report)(Event::At { lap: self.lap, seconds, samples, lag });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_times_are_shifted_scaled_and_paused() {
        let mut clock = Clock { speed: "10".parse().unwrap(), first: 1_000, began: 50_000 };
        assert_eq!([900, 1_000, 1_010, 2_000].map(|time| clock.live(time)), [50_000, 50_000, 50_001, 50_100]);
        clock.pause(Duration::from_nanos(500));
        assert_eq!([900, 1_000, 1_010, 2_000].map(|time| clock.live(time)), [50_500, 50_500, 50_501, 50_600]);
    }
}
