//! Moves all times of a recording by one duration, so that its first sample has a start that the user chooses.

use super::{
    Report,
    time::{TimeRefused, checked},
};

/// The times of a recording as an archive has them.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeShift {
    /// The time of the first sample; `None` keeps all times.
    start: Option<u64>,
    /// The time of the first sample in the recording.
    origin: Option<i128>,
}

impl TimeShift {
    /// `start` is the time of the first sample, nanoseconds since 1970; `None` keeps all times.
    pub fn new(start: Option<u64>) -> Self {
        Self { start, origin: None }
    }

    /// Returns a time as an archive has it.
    ///
    /// # Errors
    /// If it is before 1970 or after 2554.
    pub fn apply(&mut self, time: i128) -> Result<u64, TimeRefused> {
        checked(match self.start {
            Some(start) => time - *self.origin.get_or_insert(time) + i128::from(start),
            None => time,
        })
    }

    /// Reports the duration, with which the recorded times can be calculated.
    pub fn report(&self, report: &mut Report) {
        let (Some(start), Some(origin)) = (self.start, self.origin) else { return };
        let nanoseconds = i128::from(start) - origin;
        let text = format!("{nanoseconds} ns were added to all times: subtract them for the recorded ones");
        report.note(None, 1, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_becomes_the_start_and_the_others_keep_their_distance() {
        let mut shift = TimeShift::new(Some(1_000));
        assert_eq!(
            [-5, -7, 4, -1_006].map(|time| shift.apply(time)).map(Result::ok),
            [Some(1_000), Some(998), Some(1_009), None]
        );
        let mut report = Report::default();
        shift.report(&mut report);
        assert_eq!(
            report.findings[0].text,
            "1005 ns were added to all times: subtract them for the recorded ones"
        );
        assert_eq!(TimeShift::new(None).apply(-5), Err(TimeRefused::Early(-5)));
    }
}
