//! The mean latency that a way and a door lead to.
//!
//! The publication's model has one delay v in each direction, the sensor's period M and the poll interval d. A WebSocket has v; a poll 2v + d/2; a long poll v
//! while v < M/2. Beyond that its requests come back to readings that wait already: each response leaves at once, a cycle lasts 2v, a reading waits v of it on
//! average, and takes v to the browser: 2v. (The publication expects 3v/2, the middle between v and 2v.) [`formula`] has these. [`expected`] goes through the
//! same cycles with delays that vary, as a relay has realized them, and with the time that a browser needs to hand an answer over to its page.

use super::{
    super::relay::Delays,
    settings::{Door, PERIOD, Settings},
};
use fastrand::Rng;

/// Readings of a simulated run: enough for a tenth of a percent.
const READINGS: usize = 100_000;

/// The publication's model for one delay in both directions, milliseconds.
pub fn formula(door: Door, delay: f64, settings: &Settings) -> f64 {
    let (period, interval) = (PERIOD.as_secs_f64() * 1e3, settings.interval.as_secs_f64() * 1e3);
    match door {
        Door::Poll => 2.0 * delay + interval / 2.0,
        Door::LongPoll if delay >= period / 2.0 => 2.0 * delay,
        Door::LongPoll | Door::WebSocket | Door::Events | Door::Stream => delay,
    }
}

/// The mean latency with these delays, and with this time from an answer's first byte until the page has it, milliseconds; 0 without any delays.
pub fn expected(door: Door, delays: &Delays, handover: f64, settings: &Settings) -> f64 {
    let Delays { up, down } = delays;
    if down.is_empty() || up.is_empty() {
        return 0.0;
    }
    if !matches!(door, Door::LongPoll | Door::Poll) {
        return down.iter().sum::<f64>() / down.len() as f64;
    }
    let mut random = Rng::with_seed(settings.seed);
    let period = PERIOD.as_secs_f64() * 1e3;
    let (hold, interval) = (settings.hold.as_secs_f64() * 1e3, settings.interval.as_secs_f64() * 1e3);
    // When the request leaves, and the number of the first reading that is not yet answered.
    let (mut leaves, mut first) = (random.f64() * period, 1_usize);
    let (mut sum, mut count) = (0.0, 0_usize);
    while count < READINGS {
        let arrives = leaves + pick(up, &mut random);
        let next = first as f64 * period;
        let answered = if door == Door::LongPoll { arrives.max(next.min(arrives + hold)) } else { arrives };
        let back = answered + pick(down, &mut random) + handover;
        while first as f64 * period <= answered {
            sum += back - first as f64 * period;
            (first, count) = (first + 1, count + 1);
        }
        leaves = if door == Door::Poll { back + interval } else { back };
    }
    sum / count as f64
}

fn pick(delays: &[f64], random: &mut Rng) -> f64 {
    delays[random.usize(..delays.len())]
}

#[cfg(test)]
mod tests {
    use super::{super::tests::settings, *};

    fn constant(delay: f64) -> Delays {
        Delays { up: vec![delay], down: vec![delay] }
    }

    #[test]
    fn constant_delays_lead_to_the_formulas() {
        let settings = settings("poll");
        // Not 125 ms: there both cases of a long poll meet. Cycles whose length divides the period do not sample it evenly.
        for delay in [3.0, 40.3, 91.9, 153.4, 201.7] {
            for door in Door::ALL {
                let (formula, expected) =
                    (formula(door, delay, &settings), expected(door, &constant(delay), 0.0, &settings));
                assert!(
                    (expected / formula - 1.0).abs() < 0.02,
                    "{door:?}, {delay} ms: {formula} and {expected}"
                );
            }
        }
    }

    #[test]
    fn a_browsers_handover_lengthens_cycles_too() {
        let settings = settings("poll");
        let expected = |handover| expected(Door::Poll, &constant(40.3), handover, &settings);
        // Once at the end, and half of it while a reading waits for the next request.
        assert!(
            (expected(10.0) - expected(0.0) - 15.0).abs() < 2.0,
            "{} and {}",
            expected(0.0),
            expected(10.0)
        );
    }

    #[test]
    fn varying_delays_make_a_poll_later() {
        let settings = settings("poll");
        let varying = Delays { up: vec![10.0, 290.0], down: vec![10.0, 290.0] };
        let expected = expected(Door::Poll, &varying, 0.0, &settings);
        // E[c²]/2E[c] for a cycle c of 170, 450 (twice) and 730 ms, and 150 ms for the way back.
        let cycles = [170.0, 450.0, 450.0, 730.0_f64];
        let wait = cycles.iter().map(|cycle| cycle * cycle).sum::<f64>() / cycles.iter().sum::<f64>() / 2.0;
        assert!((expected / (wait + 150.0) - 1.0).abs() < 0.02, "{expected}, not {}", wait + 150.0);
    }
}
