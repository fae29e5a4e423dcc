//! A measure over repetitions: the median, and how sure the mean is.

use crate::statistics::median;
use std::fmt;

/// Student's t for a two-sided interval of 95 %, by degrees of freedom from 1 on; the last one for more.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// Fewer repetitions have no interval.
const FEWEST: usize = 3;

/// Estimate of a measure from its repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// The interval that contains the mean with a confidence of 95 %, from three repetitions on.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Returns the estimate from the values of each repetition; none without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        Some(Self { median, interval: interval(values) })
    }
}

fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len();
    if count < FEWEST {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (count - 1) as f64 / count as f64).sqrt();
    let student = STUDENT.get(count - 2).or(STUDENT.last())?;
    Some((mean - student * error, mean + student * error))
}

impl fmt::Display for Estimate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&number(self.median))?;
        match self.interval {
            Some((low, high)) => write!(out, " ({} to {})", number(low), number(high)),
            None => Ok(()),
        }
    }
}

/// Three digits, and thousands apart: `0.42`, `6.05`, `645`, `12,500`; whole numbers without a fraction: `3`.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || size.fract() == 0.0 => thousands(value),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // 3.182 * sqrt(5 / 3 / 4) around 2.5.
        let Estimate { median, interval } = Estimate::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let (low, high) = interval.unwrap();
        assert_eq!(median, 2.5);
        assert!((low - 0.446).abs() < 1e-3 && (high - 4.554).abs() < 1e-3, "{low} to {high}");
    }

    #[test]
    fn two_repetitions_have_no_interval() {
        assert_eq!(Estimate::of(&[1.0, 3.0]), Some(Estimate { median: 2.0, interval: None }));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, -3.0, 0.4213, 6.049, 64.51, 645.2, 454_000.0].map(number),
            ["0", "-3", "0.42", "6.05", "64.5", "645", "454,000"]
        );
    }
}
