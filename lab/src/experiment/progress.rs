//! Lines of progress on standard error, with the time left.

use std::time::{Duration, Instant};

/// Compares the time that cells take with the time that was expected.
#[derive(Debug)]
pub struct Progress {
    cells: usize,
    done: usize,
    /// Expected for what is not done.
    left: Duration,
    /// Expected for what is done, and taken.
    expected: Duration,
    taken: Duration,
    began: Instant,
}

impl Progress {
    /// Begins the progress of a run with these cells to do.
    pub fn new(expected: &[Duration]) -> Self {
        let left = expected.iter().sum();
        Self {
            cells: expected.len(),
            done: 0,
            left,
            expected: Duration::ZERO,
            taken: Duration::ZERO,
            began: Instant::now(),
        }
    }

    /// A cell begins.
    pub fn begin(&mut self, name: &str) {
        self.began = Instant::now();
        eprintln!("[{}/{}] {name}; {} left", self.done + 1, self.cells, span(self.left()));
    }

    /// Ends the cell.
    pub fn end(&mut self, expected: Duration, said: &str) {
        let taken = self.began.elapsed();
        self.done += 1;
        self.left = self.left.saturating_sub(expected);
        self.expected += expected;
        self.taken += taken;
        eprintln!("      {said} ({})", span(taken));
    }

    /// The estimate of the time left: cells to come take as much longer than expected as those before.
    fn left(&self) -> Duration {
        if self.expected.is_zero() {
            return self.left;
        }
        self.left.mul_f64(self.taken.as_secs_f64() / self.expected.as_secs_f64())
    }
}

/// `4 s`, `2 min 20 s`, `32 h 30 min`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_take_longer_make_the_rest_longer() {
        let second = Duration::from_secs(1);
        let mut progress = Progress::new(&[second, second, second]);
        progress.done = 1;
        (progress.left, progress.expected, progress.taken) = (2 * second, second, 2 * second);
        assert_eq!(progress.left(), 4 * second);
    }

    #[test]
    fn spans_have_two_units() {
        assert_eq!(
            [4, 140, 117_000].map(|seconds| span(Duration::from_secs(seconds))),
            ["4 s", "2 min 20 s", "32 h 30 min"]
        );
    }
}
