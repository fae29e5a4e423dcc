//! Yielding of threads with long work, so that urgent threads run first.
//!
//! The system gives each runnable thread a time slice of some milliseconds, while samples pass the DAC in a tenth of a millisecond. So long work yields after
//! each small piece, which costs less than a microsecond if no other thread waits.

use std::thread;

/// Growing pieces are at least this part of all earlier work.
const GROWTH_DIVISOR: usize = 16;

/// Work done since the last yield.
#[derive(Debug)]
pub struct Pace {
    piece: usize,
    done: usize,
    /// All earlier work; `None` if pieces do not grow.
    before: Option<usize>,
}

impl Pace {
    /// Yields after each piece of work of this size, in any unit that is proportional to time.
    pub fn every(piece: usize) -> Self {
        Self { piece, done: 0, before: None }
    }

    /// As [`Pace::every`], for work that must not lag: on a busy machine each piece waits for a time slice of others, so pieces of long work become larger.
    pub fn growing_from(piece: usize) -> Self {
        Self { before: Some(0), ..Self::every(piece) }
    }

    /// Counts work, and yields if a piece is done.
    pub fn did(&mut self, work: usize) {
        if self.is_piece_done(work) {
            thread::yield_now();
        }
    }

    fn is_piece_done(&mut self, work: usize) -> bool {
        self.done += work;
        let is_done = self.done >= self.piece.max(self.before.unwrap_or_default() / GROWTH_DIVISOR);
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
    fn long_work_that_must_not_lag_is_done_in_few_pieces() {
        let piece = 16;
        assert_eq!(pieces(Pace::every(piece), 16_000), 1_000);
        // Little work has as many pieces as before, long work a logarithmic number.
        assert_eq!(pieces(Pace::growing_from(piece), GROWTH_DIVISOR * piece), GROWTH_DIVISOR);
        let of_much = pieces(Pace::growing_from(piece), 16_000);
        assert!((GROWTH_DIVISOR..6 * GROWTH_DIVISOR).contains(&of_much), "{of_much}");
    }
}
