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

impl FromStr for Link {
    type Err = anyhow::Error;

    /// The publication's ways, as its WebSocket saw them (table 1, the rows that it analyses).
    fn from_str(name: &str) -> anyhow::Result<Self> {
        let (mean, deviation) = match name {
            "none" => (0.0, 0.0),
            "edmonton" => (40.3, 7.6),
            "lund" => (91.9, 2.74),
            "caracas" => (122.9, 48.2),
            "nagaoka" => (153.4, 133.3),
            other => bail!("LINK={other}: none, edmonton, lund, caracas or nagaoka"),
        };
        Ok(Self { mean, deviation })
    }
}

impl Link {
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
        for name in ["edmonton", "lund", "caracas", "nagaoka"] {
            let link: Link = name.parse().expect("a link");
            let delays: Vec<f64> =
                (0..200_000).map(|_| link.delay(&mut random).as_secs_f64() * 1e3).collect();
            let mean = delays.iter().sum::<f64>() / delays.len() as f64;
            let variance =
                delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64;
            assert!((mean / link.mean - 1.0).abs() < 0.02, "{name}: {mean}");
            assert!((variance.sqrt() / link.deviation - 1.0).abs() < 0.05, "{name}: {}", variance.sqrt());
        }
        assert_eq!("none".parse::<Link>().expect("a link").delay(&mut random), Duration::ZERO);
    }
}
