//! Alarms on instances that send nothing. They are raised by the frontier, and cleared by the next sample.

use super::event::{Event, EventKind, Standing};
use serde::{Deserialize, Serialize};

/// Period of the ticks of the frontier, in nanoseconds: silence is noticed at one.
const TICK_NANOS: u64 = 100_000_000;

/// The state of such an alarm.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Silence {
    standing: Standing,
    /// DAC time and sample time of the newest sample, or of the start of the DAC after it.
    last: Option<(u64, u64)>,
    /// When it was raised last, on the node's clock.
    raised: u64,
}

impl Silence {
    pub fn new() -> Self {
        Self { standing: Standing::Normal, last: None, raised: 0 }
    }

    /// Its state.
    pub fn known_standing(&self) -> Standing {
        self.standing
    }

    /// In a state that is known from elsewhere.
    pub fn standing(standing: Standing) -> Self {
        Self { standing, last: None, raised: 0 }
    }

    /// The tick at which the alarm is raised unless a sample comes.
    pub fn deadline(&self, duration: u64) -> Option<u64> {
        let (dac_time, _) = self.last.filter(|_| self.standing != Standing::Active)?;
        Some(dac_time.saturating_add(duration).div_ceil(TICK_NANOS).saturating_mul(TICK_NANOS))
    }

    /// Takes samples that came at this DAC time: the time of the first and the last one, and the sequence number of the first.
    pub fn samples(
        &mut self,
        dac_time: u64,
        first: (u64, u64),
        last_time: u64,
        latch: bool,
    ) -> Option<Event> {
        self.last = Some((dac_time, last_time));
        if self.standing != Standing::Active {
            return None;
        }
        self.standing = if latch { Standing::Latched } else { Standing::Normal };
        // A sample that was late may have been taken before the alarm was raised.
        let time = first.0.max(self.raised);
        Some(Event { standing: Some(self.standing), ..Event::new(EventKind::Cleared, time, first.1) })
    }

    /// Begins anew at this DAC time: before it nothing could come.
    pub fn restart(&mut self, dac_time: u64) {
        if let Some((last_dac_time, last_time)) = &mut self.last {
            *last_time = last_time.saturating_add(dac_time.saturating_sub(*last_dac_time));
            *last_dac_time = dac_time;
        }
    }

    /// Raises the alarm if all of this DAC time has come.
    pub fn frontier(&mut self, dac_time: u64, duration: u64) -> Option<Event> {
        let deadline = self.deadline(duration).filter(|deadline| *deadline <= dac_time)?;
        let (last_dac_time, last_time) = self.last?;
        self.standing = Standing::Active;
        // On the node's clock, which stands as far from that of the DAC as at the last sample.
        let time = last_time.saturating_add(deadline - last_dac_time);
        self.raised = time;
        let event = Event::new(EventKind::Raised, time, 0);
        Some(Event { standing: Some(self.standing), sequence: None, since: Some(last_time), ..event })
    }
}
