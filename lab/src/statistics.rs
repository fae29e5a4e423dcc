//! Medians and spreads of repeated measurements, and tests of means.

use statrs::distribution::{ContinuousCDF, StudentsT};
use std::{cmp::Ordering, fmt};

/// Returns the median, or `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, upper))
}

/// Lowest and highest.
pub fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    Some((*sorted.first()?, *sorted.last()?))
}

/// Ratios of consecutive measurements, which have the same load of the machine.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

/// The slope of the line of least squares through some points; none if they do not spread.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len().max(1) as f64;
    let (x, y) = (
        points.iter().map(|(x, _)| x).sum::<f64>() / count,
        points.iter().map(|(_, y)| y).sum::<f64>() / count,
    );
    let spread: f64 = points.iter().map(|(at, _)| (at - x).powi(2)).sum();
    let together: f64 = points.iter().map(|(at, value)| (at - x) * (value - y)).sum();
    (spread > 0.0).then(|| together / spread)
}

/// Statistics of some measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with one degree of freedom less than measurements.
    pub deviation: f64,
    /// Number of measurements.
    pub count: usize,
}

impl Sample {
    /// Returns the statistics of some measurements.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / count.saturating_sub(1).max(1) as f64).sqrt();
        Self { mean, deviation, count }
    }

    /// Welch's test (Biometrika 34, 1947) of whether the means differ, with unknown and different variances. None if a sample is too small, or nothing varies.
    pub fn welch(&self, other: &Self) -> Option<Welch> {
        if self.count < 2 || other.count < 2 {
            return None;
        }
        let part = |sample: &Self| sample.deviation.powi(2) / sample.count as f64;
        let (one, two) = (part(self), part(other));
        let error = (one + two).sqrt();
        let freedom = (one + two).powi(2)
            / (one.powi(2) / (self.count - 1) as f64 + two.powi(2) / (other.count - 1) as f64);
        let difference = self.mean - other.mean;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let t = difference / error;
        let probability = 2.0 * student.cdf(-t.abs());
        Some(Welch { difference, t, freedom, probability })
    }
}

/// Probability below which a difference holds at 99 %.
const STRICT: f64 = 0.01;

/// Result of Welch's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// The first mean minus the second.
    pub difference: f64,
    /// The statistic.
    pub t: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// Probability of a difference as large as this, or larger, if the means are the same (two-sided).
    pub probability: f64,
}

impl Welch {
    /// Probability of a difference as large as this, or larger, in its direction: the alternative is that the smaller mean is smaller (one-sided).
    pub fn one_sided(&self) -> f64 {
        self.probability / 2.0
    }

    /// Order of the first mean and the second one, as a one-sided test at 99 % has it: equal if it cannot tell them apart.
    pub fn order(&self) -> Ordering {
        if self.one_sided() < STRICT { self.difference.total_cmp(&0.0) } else { Ordering::Equal }
    }
}

/// Verdict of a test with this probability.
pub fn verdict(probability: f64) -> &'static str {
    match probability {
        ..STRICT => "different at 99 %",
        ..0.05 => "different at 95 %, not at 99 %",
        _ => "not different at 95 %",
    }
}

impl fmt::Display for Welch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:+.2} (t = {:.2}, {:.0} degrees of freedom): one-sided {}, p = {}; two-sided {}, p = {}",
            self.difference,
            self.t,
            self.freedom,
            verdict(self.one_sided()),
            probability(self.one_sided()),
            verdict(self.probability),
            probability(self.probability)
        )
    }
}

/// A probability: `0.011`, `3.2e-6`.
pub fn probability(value: f64) -> String {
    match value {
        0.1.. => format!("{value:.2}"),
        0.01.. => format!("{value:.3}"),
        0.001.. => format!("{value:.4}"),
        ..1e-300 => "below 1e-300".into(),
        _ => format!("{value:.1e}"),
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_measurements() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(&[]), spread(&[])), (None, None));
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Some((1.0, 3.0)));
        assert_eq!(ratios(&[2.0, 9.0], &[4.0, 3.0]), [0.5, 3.0]);
    }

    #[test]
    fn the_slope_of_a_line() {
        assert_eq!(slope(&[(1.0, 5.0), (2.0, 8.0), (3.0, 11.0)]), Some(3.0));
        assert_eq!((slope(&[(1.0, 5.0), (1.0, 8.0)]), slope(&[])), (None, None));
    }

    /// The probability is the integral of the density of Student's distribution, by trapezoids.
    #[test]
    fn welchs_test() {
        let one = Sample::of(&[
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4,
        ]);
        let two = Sample::of(&[
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.1,
        ]);
        let test = one.welch(&two).expect("a test");
        assert!((test.t + 2.8353).abs() < 1e-3 && (test.freedom - 27.8806).abs() < 1e-3, "{test:?}");
        assert!((test.probability - 0.008425).abs() < 1e-5, "{test:?}");
        assert!(test.to_string().ends_with("two-sided different at 99 %, p = 0.0084"), "{test}");
        assert_eq!(test.order(), Ordering::Less);
        assert_eq!(one.welch(&Sample::of(&[1.0])), None);
        let same = Sample { mean: 1.0, deviation: 0.0, count: 9 };
        assert_eq!(same.welch(&same), None, "nothing varies");
    }

    /// A test of table 1 of WindComm, computed by scipy: `lab/tests/welch/reference.py`.
    #[derive(serde::Deserialize)]
    struct Reference {
        city: String,
        test: usize,
        pair: [String; 2],
        numbers: [f64; 6],
        t: f64,
        two_sided: f64,
        one_sided: f64,
    }

    #[test]
    fn welchs_tests_are_those_of_scipy() {
        let references: Vec<Reference> =
            serde_json::from_str(include_str!("../tests/welch/windcomm.json")).expect("the references");
        for reference in &references {
            let Reference { city, test, pair, numbers: [one, one_sd, one_n, two, two_sd, two_n], .. } =
                reference;
            let sample =
                |mean: f64, deviation: f64, count: f64| Sample { mean, deviation, count: count as usize };
            let result = sample(*one, *one_sd, *one_n).welch(&sample(*two, *two_sd, *two_n)).expect("a test");
            // Probabilities below a double's precision are 0 or nearly so on both sides.
            let is_same = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1e-6 * theirs.abs() + 1e-15;
            assert!(is_same(result.t, reference.t), "{city} {test} {pair:?}: {result:?}");
            assert!(is_same(result.probability, reference.two_sided), "{city} {test} {pair:?}: {result:?}");
            assert!(is_same(result.one_sided(), reference.one_sided), "{city} {test} {pair:?}: {result:?}");
        }
        assert_eq!(references.len(), 36);
    }
}
