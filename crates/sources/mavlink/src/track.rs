//! The sequence numbers of a sender: losses, restarts, and frames that come late.
//!
//! Numbers have 8 bits, so that a restart looks like a loss. After a jump, frames wait until one has the time since the vehicle
//! started: if that went back, the vehicle has restarted and nothing is missing.

use std::collections::VecDeque;

/// Frames that wait for a decision.
const MAX_HELD_FRAMES: usize = 64;
/// Longest wait for a decision, in nanoseconds.
const DECISION_TIMEOUT_NANOS: u64 = 1_000_000_000;
/// Most numbers that a frame can be late.
const MAX_LATE_NUMBERS: u8 = 16;
/// Most milliseconds that the time since the start goes back without a restart: frames can overtake others.
const MAX_CLOCK_STEP_BACK: u32 = 1_000;

/// A frame as the instance `messages` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRecord {
    /// Time of receipt, nanoseconds since 1970.
    pub time: u64,
    pub message: u32,
    pub sequence: u8,
    pub payload_bytes: u8,
    pub version: u8,
    pub is_signed: bool,
}

/// A frame, and how many are missing before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedFrame {
    pub missing: u8,
    pub frame: FrameRecord,
}

/// The numbers of a sender.
#[derive(Debug, Default)]
pub struct Track {
    expected: Option<u8>,
    /// The newest time since the vehicle started, in milliseconds.
    clock: Option<u32>,
    held: VecDeque<NumberedFrame>,
    /// Restarts that were recognized.
    pub restarts: u64,
    /// Frames that came after later ones, or twice.
    pub late: u64,
}

impl Track {
    /// Takes a frame. Passes it on, and those before it, once it is known how many are missing.
    pub fn receive(
        &mut self,
        frame: FrameRecord,
        boot_time: Option<u32>,
        mut pass: impl FnMut(NumberedFrame),
    ) {
        let has_restarted = boot_time.is_some_and(|time| {
            self.clock.is_some_and(|clock| time.saturating_add(MAX_CLOCK_STEP_BACK) < clock)
        });
        if has_restarted {
            self.restarts += 1;
            self.clock = boot_time;
            // The first jump was the restart; others are losses since then.
            match self.held.front_mut() {
                Some(first) => first.missing = 0,
                None => self.expected = None,
            }
        }
        self.clock = self.clock.max(boot_time);
        let missing = self.count(frame.sequence);
        self.held.push_back(NumberedFrame { missing, frame });
        let is_plain = self.held.len() == 1 && missing == 0;
        if boot_time.is_some() || is_plain {
            self.held.drain(..).for_each(pass);
        } else if self.held.len() >= MAX_HELD_FRAMES {
            self.decide(&mut pass);
        }
    }

    /// Returns the number of frames that are missing before this one.
    fn count(&mut self, sequence: u8) -> u8 {
        let step = self.expected.map_or(0, |expected| sequence.wrapping_sub(expected));
        if step > u8::MAX - MAX_LATE_NUMBERS {
            self.late += 1;
            return 0;
        }
        self.expected = Some(sequence.wrapping_add(1));
        step
    }

    /// Passes on frames that have waited too long.
    pub fn poll(&mut self, now: u64, mut pass: impl FnMut(NumberedFrame)) {
        let oldest = self.held.front().map(|held| held.frame.time);
        if oldest.is_some_and(|oldest| now.saturating_sub(oldest) >= DECISION_TIMEOUT_NANOS) {
            self.decide(&mut pass);
        }
    }

    /// Passes on all frames without a time since the start. Senders begin with the number 0.
    fn decide(&mut self, pass: &mut impl FnMut(NumberedFrame)) {
        for mut held in self.held.drain(..) {
            if held.missing > 0 && held.frame.sequence == 0 {
                self.restarts += 1;
                held.missing = 0;
            }
            pass(held);
        }
    }

    /// Passes on all frames, and forgets the numbers: the sender is gone, and how many frames are missing is unknown.
    pub fn end(&mut self, mut pass: impl FnMut(NumberedFrame)) {
        self.decide(&mut pass);
        (self.expected, self.clock) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The missing frames before each frame, which has a number and maybe a time since the start.
    fn received(track: &mut Track, frames: &[(u8, Option<u32>)]) -> Vec<(u8, u8)> {
        let mut passed = Vec::new();
        for (sequence, boot_time) in frames {
            let frame = FrameRecord {
                time: 0,
                message: 0,
                sequence: *sequence,
                payload_bytes: 9,
                version: 2,
                is_signed: false,
            };
            track.receive(frame, *boot_time, |numbered| {
                passed.push((numbered.frame.sequence, numbered.missing))
            });
        }
        passed
    }

    #[test]
    fn a_jump_is_a_loss_if_the_clock_goes_on() {
        let mut track = Track::default();
        let passed =
            received(&mut track, &[(254, Some(9_000)), (255, None), (0, None), (3, None), (4, Some(9_100))]);
        assert_eq!(passed, [(254, 0), (255, 0), (0, 0), (3, 2), (4, 0)]);
        let passed = received(&mut track, &[(4_u8.wrapping_add(230), Some(9_200))]);
        assert_eq!(passed, [(234, 229)], "exact up to 239");
        assert_eq!((track.restarts, track.late), (0, 0));
    }

    #[test]
    fn a_restart_is_no_loss() {
        let mut track = Track::default();
        received(&mut track, &[(77, Some(90_000))]);
        let passed = received(&mut track, &[(0, None), (1, None), (4, None), (5, Some(500))]);
        assert_eq!(passed, [(0, 0), (1, 0), (4, 2), (5, 0)], "a loss after the restart is one");
        let passed = received(&mut track, &[(200, Some(90_000)), (9, Some(100)), (10, None)]);
        assert_eq!(passed, [(200, 194), (9, 0), (10, 0)]);
        assert_eq!(track.restarts, 2);
    }

    #[test]
    fn without_a_clock_a_jump_to_zero_is_a_restart() {
        let mut track = Track::default();
        assert_eq!(received(&mut track, &[(77, None), (0, None), (1, None)]), [(77, 0)]);
        let mut passed = Vec::new();
        track.poll(DECISION_TIMEOUT_NANOS - 1, |numbered| passed.push(numbered.missing));
        assert!(passed.is_empty());
        track.poll(DECISION_TIMEOUT_NANOS, |numbered| passed.push(numbered.missing));
        assert_eq!(passed, [0, 0]);
        assert_eq!(received(&mut track, &[(2, None), (50, None)]), [(2, 0)]);
        let mut missing = 0;
        track.end(|numbered| missing += numbered.missing);
        assert_eq!((missing, track.restarts), (47, 1));
        assert_eq!(received(&mut track, &[(9, None)]), [(9, 0)], "unknown");
    }

    #[test]
    fn frames_that_wait_are_bounded() {
        let mut track = Track::default();
        let frames: Vec<_> = (0..200).map(|at| ((at * 2) as u8, None)).collect();
        assert!(received(&mut track, &frames).len() >= 200 - MAX_HELD_FRAMES);
    }

    #[test]
    fn late_and_repeated_frames_are_counted_and_no_loss() {
        let mut track = Track::default();
        let passed =
            received(&mut track, &[(5, Some(1)), (7, Some(2)), (6, Some(2)), (7, Some(2)), (8, Some(3))]);
        assert_eq!(passed, [(5, 0), (7, 1), (6, 0), (7, 0), (8, 0)]);
        assert_eq!(track.late, 2);
        assert_eq!(track.restarts, 0);
    }
}
