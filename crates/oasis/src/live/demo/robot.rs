//! A robot on its rounds: its position, its arm, and what it logs. Its arm takes more samples than its ring holds now and then.

use super::{Connect, Stop, cycle};
use crate::live::generated::demo::{Motion, Position};
use oasis_ei_node::{
    LogLevel,
    log::{LogRecord, Logger},
};
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, Probe, PushedProbe, now_ns};
use std::{
    f64::consts::TAU,
    io,
    time::{Duration, Instant},
};

/// Seconds of one round.
const ROUND_SECONDS: f64 = 90.0;
/// Center of the hall, and its half width and length in degrees.
const HALL_CENTER: (f64, f64) = (47.376_9, 8.541_7);
const HALL_HALF_SIZE: (f64, f64) = (0.000_2, 0.000_4);
const TURN_INTERVAL: Duration = Duration::from_millis(10);
/// Turns from one burst to the next, those before the first, and those of a burst.
const BURST_INTERVAL_TURNS: u64 = 4_000;
const FIRST_BURST_TURN: u64 = 300;
const BURST_TURNS: u64 = 2_000;
/// Room for some 200 samples: a burst does not fit.
const RING_BYTES: usize = 10_000;
const LOG_BYTES: usize = 65_536;

pub(super) struct Robot {
    node: Node,
    motion: PushedProbe<Motion>,
    logger: Logger,
}

pub(super) fn start(connect: &Connect) -> anyhow::Result<Robot> {
    let mut builder = NodeBuilder::new("robot-3", NodeConfig::default());
    let rounds = Rounds { since: Instant::now() };
    builder.periodic("position", Hertz::new(5.0)?, rounds)?;
    let motion = builder.pushed("arm", RING_BYTES)?;
    let logger = Logger::new(&mut builder, "log", LOG_BYTES)?;
    Ok(Robot { node: builder.start(connect())?, motion, logger })
}

impl Robot {
    /// Moves the arm until it has to end.
    pub(super) fn run(mut self, stop: &Stop) {
        let since = Instant::now();
        let mut turns = 0;
        while !stop.within(TURN_INTERVAL) {
            let is_burst = turns % BURST_INTERVAL_TURNS == FIRST_BURST_TURN;
            let (level, said) = match turns % 1_000 {
                0 => (LogLevel::Info, "a new round begins"),
                500 => (LogLevel::Info, "at the far end of the hall"),
                _ if is_burst => (LogLevel::Warn, "the arm is calibrated: more samples than the ring holds"),
                _ => (LogLevel::Debug, ""),
            };
            if !said.is_empty() {
                let record = LogRecord::new(level, "robot::arm", said);
                self.logger.log(now_ns(), &record, [("turn", &*turns.to_string())].into_iter());
            }
            for _ in 0..if is_burst { BURST_TURNS } else { 1 } {
                turns += 1;
                self.motion.flush(&arm(since, turns));
            }
        }
        self.node.shutdown();
    }
}

fn arm(since: Instant, turns: u64) -> Motion {
    let target = if cycle(since, 6.0) < 0.5 { 30.0 } else { -30.0 };
    // A spring that comes to rest in a second or so.
    let seconds = cycle(since, 3.0) * 3.0;
    let rest = (-3.0 * seconds).exp() * (8.0 * seconds).cos();
    Motion { position: target * (1.0 - 2.0 * rest), target, turns }
}

struct Rounds {
    since: Instant,
}

impl Probe for Rounds {
    type Sample = Position;

    fn sample(&mut self) -> io::Result<Position> {
        let turn = TAU * cycle(self.since, ROUND_SECONDS);
        // A figure of eight; its derivative is where the robot heads.
        let (north, east) = ((2.0 * turn).sin(), turn.sin());
        let (to_north, to_east) =
            (2.0 * (2.0 * turn).cos() * HALL_HALF_SIZE.0, turn.cos() * HALL_HALF_SIZE.1);
        let to_east = to_east * HALL_CENTER.0.to_radians().cos();
        Ok(Position {
            latitude: HALL_CENTER.0 + HALL_HALF_SIZE.0 * north,
            longitude: HALL_CENTER.1 + HALL_HALF_SIZE.1 * east,
            heading: to_east.atan2(to_north).to_degrees().rem_euclid(360.0),
            // Degrees of latitude are 111 km; a turn takes the time of a round.
            speed: to_north.hypot(to_east) * 111_195.0 * TAU / ROUND_SECONDS,
            battery: 100.0 - 85.0 * cycle(self.since, 1_200.0),
        })
    }
}
