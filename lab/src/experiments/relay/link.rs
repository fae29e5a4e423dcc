//! The ways between server and browser.

use anyhow::bail;
use fastrand::Rng;
use std::{f64::consts::TAU, str::FromStr, time::Duration};

/// A way whose delay, in each direction, is log-normally distributed: never negative, and with a long tail, as measured delays are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Mean of the delay in one direction, milliseconds.
    pub mean: f64,
    /// Its standard deviation, milliseconds.
    pub deviation: f64,
}

/// Mean and deviation that the WebSocket of WindComm had to each city in the three tests of a day, milliseconds (Pimentel and Nickerson 2012, table 1).
const CITIES: [(&str, [(f64, f64); 3]); 4] = [
    ("edmonton", [(40.3, 7.6), (39.7, 2.8), (40.5, 0.52)]),
    ("caracas", [(122.9, 48.2), (124.0, 51.02), (98.8, 1.37)]),
    ("lund", [(91.92, 2.74), (95.3, 2.08), (75.1, 0.42)]),
    ("nagaoka", [(153.4, 133.3), (163.3, 161.9), (156.2, 176.0)]),
];

impl FromStr for Link {
    type Err = anyhow::Error;

    /// The way to a city in the publication's first test.
    fn from_str(name: &str) -> anyhow::Result<Self> {
        Self::of_test(name, 1)
    }
}

impl Link {
    /// The way to a city in one of the publication's tests, from 1; or none.
    pub fn of_test(name: &str, test: usize) -> anyhow::Result<Self> {
        if name == "none" {
            return Ok(Self { mean: 0.0, deviation: 0.0 });
        }
        let Some((_, tests)) = CITIES.iter().find(|(city, _)| *city == name) else {
            bail!("LINK={name}: none, edmonton, lund, caracas or nagaoka");
        };
        let Some((mean, deviation)) = test.checked_sub(1).and_then(|index| tests.get(index)).copied() else {
            bail!("TEST={test}: 1, 2 or 3");
        };
        Ok(Self { mean, deviation })
    }

    /// The delay of the next piece.
    pub fn delay(self, random: &mut Rng) -> Duration {
        if self.mean <= 0.0 {
            return Duration::ZERO;
        }
        let variance = (self.deviation / self.mean).powi(2).ln_1p();
        let location = self.mean.ln() - variance / 2.0;
        // Box and Muller 1958; the logarithm of 0 is excluded.
        let normal = (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos();
        Duration::from_secs_f64((location + variance.sqrt() * normal).exp().min(60_000.0) / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_the_links_mean_and_deviation() {
        let mut random = Rng::with_seed(7);
        let ways = CITIES.iter().flat_map(|(name, _)| (1..=3).map(move |test| (*name, test)));
        for (name, test) in ways {
            let link = Link::of_test(name, test).expect("a link");
            let delays: Vec<f64> =
                (0..200_000).map(|_| link.delay(&mut random).as_secs_f64() * 1e3).collect();
            let mean = delays.iter().sum::<f64>() / delays.len() as f64;
            let variance =
                delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64;
            assert!((mean / link.mean - 1.0).abs() < 0.02, "{name}, {test}: {mean}");
            assert!(
                (variance.sqrt() / link.deviation - 1.0).abs() < 0.07,
                "{name}, {test}: {}",
                variance.sqrt()
            );
        }
        assert_eq!("none".parse::<Link>().expect("a link").delay(&mut random), Duration::ZERO);
    }
}
