//! The mean latency that a way and a door lead to.
//!
//! The publication's model has one delay v in each direction, the sensor's period M and the poll interval d. A WebSocket has v; a poll 2v + d/2; a long poll v
//! while v < M/2. Beyond that its requests come back to readings that wait already: each response leaves at once, a cycle lasts 2v, a reading waits v of it on
//! average, and takes v to the browser: 2v. (The publication expects 3v/2, the middle between v and 2v.) [`formula`] has these. [`expected`] goes through the
//! same cycles with delays that vary, as a relay has realized them one exchange after the other, and with the time that a browser needs to hand an answer over
//! to its page. What is left to chance is when the sensor sends.

use super::{
    super::relay::Delays,
    settings::{Door, PERIOD, Settings},
};
use fastrand::Rng;

/// Readings of a simulated run: enough for a tenth of a percent.
const READINGS: usize = 100_000;
/// Fewer exchanges than this do not stand for a run: the delays of any two pieces make one then.
const FEWEST: usize = 20;

/// The publication's model for one delay in both directions, milliseconds.
pub fn formula(door: Door, delay: f64, settings: &Settings) -> f64 {
    let (period, interval) = (PERIOD.as_secs_f64() * 1e3, settings.interval.as_secs_f64() * 1e3);
    match door {
        Door::Poll => 2.0 * delay + interval / 2.0,
        Door::LongPoll if delay >= period / 2.0 => 2.0 * delay,
        Door::LongPoll | Door::WebSocket | Door::Events | Door::Stream | Door::Bare => delay,
    }
}

/// The mean latency with these delays, and with this time from an answer's first byte until the page has it, milliseconds; 0 without any delays.
pub fn expected(door: Door, delays: &Delays, handover: f64, settings: &Settings) -> f64 {
    let Delays { up, down, exchanges } = delays;
    if down.is_empty() || up.is_empty() {
        return 0.0;
    }
    if !matches!(door, Door::LongPoll | Door::Poll) {
        return down.iter().sum::<f64>() / down.len() as f64;
    }
    let mut random = Rng::with_seed(settings.seed);
    // Doors that were measured at the same time have exchanges of each other, too.
    if settings.doors.len() == 1 && exchanges.len() >= FEWEST {
        let mut turns = exchanges.iter().copied().cycle();
        mean(door, handover, settings, random.f64(), || turns.next().unwrap_or_default())
    } else {
        let phase = random.f64();
        mean(door, handover, settings, phase, || (pick(up, &mut random), pick(down, &mut random)))
    }
}

/// The mean latency of cycles with these delays of request and answer. The first request leaves at this share of the sensor's period.
fn mean(
    door: Door,
    handover: f64,
    settings: &Settings,
    phase: f64,
    mut delays: impl FnMut() -> (f64, f64),
) -> f64 {
    let period = PERIOD.as_secs_f64() * 1e3;
    let (hold, interval) = (settings.hold.as_secs_f64() * 1e3, settings.interval.as_secs_f64() * 1e3);
    // When the request leaves, and the number of the first reading that is not yet answered.
    let (mut leaves, mut first) = (phase * period, 1_usize);
    let (mut sum, mut count) = (0.0, 0_usize);
    while count < READINGS {
        let (up, down) = delays();
        let arrives = leaves + up;
        let next = first as f64 * period;
        let answered = if door == Door::LongPoll { arrives.max(next.min(arrives + hold)) } else { arrives };
        let back = answered + down + handover;
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
        Delays { up: vec![delay], down: vec![delay], exchanges: Vec::new() }
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
        let varying = Delays { up: vec![10.0, 290.0], down: vec![10.0, 290.0], exchanges: Vec::new() };
        let expected = expected(Door::Poll, &varying, 0.0, &settings);
        // E[c²]/2E[c] for a cycle c of 170, 450 (twice) and 730 ms, and 150 ms for the way back.
        let cycles = [170.0, 450.0, 450.0, 730.0_f64];
        let wait = cycles.iter().map(|cycle| cycle * cycle).sum::<f64>() / cycles.iter().sum::<f64>() / 2.0;
        assert!((expected / (wait + 150.0) - 1.0).abs() < 0.02, "{expected}, not {}", wait + 150.0);
    }

    #[test]
    fn exchanges_keep_the_order_in_which_they_were() {
        let settings = settings("poll");
        let (up, down) = (vec![13.0, 290.0], vec![13.0, 290.0]);
        // A slow answer comes before a slow request, each time.
        let exchanges = [(13.0, 290.0), (290.0, 13.0)].repeat(FEWEST);
        let expected = expected(Door::Poll, &Delays { up, down, exchanges }, 0.0, &settings);
        // From one request's arrival to the next pass 730 and 176 ms in turn: what comes in the long time gets the fast answer.
        let (long, short) = (290.0 + 150.0 + 290.0, 13.0 + 150.0 + 13.0_f64);
        let wait = (long * long + short * short) / (long + short) / 2.0;
        let answer = (long * 13.0 + short * 290.0) / (long + short);
        assert!((expected / (wait + answer) - 1.0).abs() < 0.01, "{expected}, not {}", wait + answer);
    }
}
