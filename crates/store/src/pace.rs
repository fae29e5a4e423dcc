//! Yielding of threads with long work, so that urgent threads run first.
//!
//! The system gives each runnable thread a time slice of some milliseconds, while samples pass the DAC in a tenth of a millisecond. So long work yields after
//! each small piece, which costs less than a microsecond if no other thread waits.

use std::thread;

/// A piece is never less than this part of all the work before it, where pieces grow.
const PART: usize = 16;

/// Work done since others were let go first.
#[derive(Debug)]
pub struct Pace {
    piece: usize,
    done: usize,
    /// All before; none where pieces stay as they are.
    before: Option<usize>,
}

impl Pace {
    /// Lets others go first after each so much of work, counted in whatever it is that takes the time.
    pub fn every(piece: usize) -> Self {
        Self { piece, done: 0, before: None }
    }

    /// The same, for work that must not fall behind: where others always have something to do each piece waits a turn of theirs, so of much work pieces become larger.
    pub fn growing_from(piece: usize) -> Self {
        Self { before: Some(0), ..Self::every(piece) }
    }

    /// So much was done.
    pub fn did(&mut self, work: usize) {
        if self.is_piece_done(work) {
            thread::yield_now();
        }
    }

    fn is_piece_done(&mut self, work: usize) -> bool {
        self.done += work;
        let is_done = self.done >= self.piece.max(self.before.unwrap_or_default() / PART);
        if is_done {
            self.before = self.before.map(|before| before + self.done);
            self.done = 0;
        }
        is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(mut pace: Pace, work: usize) -> usize {
        (0..work).filter(|_| pace.is_piece_done(1)).count()
    }

    #[test]
    fn much_work_that_must_not_fall_behind_is_done_in_few_pieces() {
        let piece = 16;
        assert_eq!(pieces(Pace::every(piece), 16_000), 1_000);
        // As many as ever of little work, and then as the logarithm.
        assert_eq!(pieces(Pace::growing_from(piece), PART * piece), PART);
        let of_much = pieces(Pace::growing_from(piece), 16_000);
        assert!((PART..6 * PART).contains(&of_much), "{of_much}");
    }
}
