//! Speed-up with the number of workers, fitted to the laws of Amdahl and Gustafson.

/// Steps of the search for the parallel share.
const STEPS: u32 = 10_000;

/// The parallel share of the work that fits measured speed-ups best, and how well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// From 0 to 1.
    pub parallel: f64,
    /// Root of the mean squared difference of the speed-ups.
    pub error: f64,
}

/// Amdahl: the problem stays the same, so the serial part limits the speed-up.
pub fn amdahl(parallel: f64, workers: f64) -> f64 {
    1.0 / ((1.0 - parallel) + parallel / workers)
}

/// Gustafson: the problem grows with the workers.
pub fn gustafson(parallel: f64, workers: f64) -> f64 {
    (1.0 - parallel) + parallel * workers
}

/// Fits one of the laws to pairs of workers and speed-up; `None` without any.
pub fn fit(law: fn(f64, f64) -> f64, measured: &[(f64, f64)]) -> Option<Fit> {
    let error = |parallel: f64| {
        let squares = measured.iter().map(|&(workers, speed_up)| (law(parallel, workers) - speed_up).powi(2));
        (squares.sum::<f64>() / measured.len() as f64).sqrt()
    };
    let candidates = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let fits = candidates.map(|parallel| Fit { parallel, error: error(parallel) });
    fits.filter(|fit| fit.error.is_finite()).min_by(|one, other| one.error.total_cmp(&other.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laws_have_the_values_of_the_paper() {
        assert!((amdahl(0.7, 4.0) - 2.1).abs() < 0.01, "section 1.4.2");
        assert!((amdahl(0.7, 1e9) - 3.33).abs() < 0.01);
        assert!((gustafson(0.7, 4.0) - 3.1).abs() < 1e-9);
    }

    #[test]
    fn a_fit_finds_the_share_that_made_the_speed_ups() {
        let made =
            |law: fn(f64, f64) -> f64| [1.0, 3.0, 5.0, 7.0].map(|workers| (workers, law(0.83, workers)));
        for law in [amdahl as fn(f64, f64) -> f64, gustafson] {
            let found = fit(law, &made(law)).unwrap();
            assert!((found.parallel - 0.83).abs() < 1e-3 && found.error < 1e-2, "{found:?}");
        }
        assert_eq!(fit(amdahl, &[]), None);
    }

    #[test]
    fn the_paper_s_half_of_the_workers_is_a_poor_fit_for_amdahl() {
        let half = [1.0, 3.0, 5.0, 7.0].map(|workers: f64| (workers, (workers / 2.0).max(1.0)));
        let (one, other) = (fit(amdahl, &half).unwrap(), fit(gustafson, &half).unwrap());
        assert!(one.error > other.error, "{one:?} {other:?}");
    }
}
