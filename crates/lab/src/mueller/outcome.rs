//! What one measurement gave.

use super::{
    plan::{Cell, Rival},
    scaling::imbalance,
    tally::Summary,
};
use crate::table::{percent, ratio, short};
use std::time::Duration;

/// Headings of a table of outcomes.
pub const HEADINGS: [&str; 13] = [
    "server",
    "workers",
    "connections",
    "ping each",
    "file",
    "refused, lost",
    "answers",
    "p50",
    "p99",
    "CPU",
    "busiest worker",
    "imbalance",
    "answers a second of its CPU",
];

/// One measurement.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the clients saw.
    pub seen: Summary,
    /// Processor time of the whole server.
    pub cpu: Duration,
    /// Processor time of each worker.
    pub workers: Vec<Duration>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Outcome {
    /// Answers for each second of the busiest worker's processor time: what the server could serve if all workers were as loaded as that one can be.
    pub fn capacity(&self) -> Option<f64> {
        let busiest = self.workers.iter().max()?.as_secs_f64();
        (busiest > 0.0).then(|| self.seen.answers as f64 / busiest)
    }

    /// Its row.
    pub fn row(&self, rival: Rival, cell: &Cell) -> Vec<String> {
        let Summary { opened, refused, lost, answers, p50, p99, .. } = self.seen;
        let share = |time: Duration| percent(time.as_secs_f64() / self.elapsed.as_secs_f64());
        let millis = |micros: u64| format!("{:.2} ms", micros as f64 / 1e3);
        let loads: Vec<f64> = self.workers.iter().map(Duration::as_secs_f64).collect();
        vec![
            rival.name().into(),
            cell.workers.to_string(),
            opened.to_string(),
            format!("{} s", cell.period.as_secs_f64()),
            if cell.file == 0 { "counter".into() } else { format!("{} B", cell.file) },
            format!("{refused}, {lost}"),
            answers.to_string(),
            millis(p50),
            millis(p99),
            share(self.cpu),
            share(self.workers.iter().max().copied().unwrap_or_default()),
            ratio(imbalance(&loads)),
            self.capacity().map_or("–".into(), short),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mueller::tally::Tally;

    #[test]
    fn the_capacity_is_that_of_the_busiest_worker() {
        let seen = Summary { answers: 3_000, ..Tally::new().unwrap().summary() };
        let workers = vec![Duration::from_millis(500), Duration::from_millis(250)];
        let (cpu, elapsed) = (Duration::from_secs(1), Duration::from_secs(10));
        let outcome = Outcome { seen, cpu, workers, elapsed };
        assert_eq!(outcome.capacity(), Some(6_000.0));
        let cell = crate::mueller::plan::EXPERIMENTS[1].cells(true)[1];
        let row = outcome.row(Rival::EngineIo, &cell);
        assert_eq!(row.len(), HEADINGS.len());
        assert_eq!([&row[9], &row[10], &row[11]], ["10 %", "5 %", "1.33"]);
    }
}
