//! The speed of a replay.

use std::str::FromStr;

/// A factor relative to the recorded speed: 0.01 to 10,000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// Converts a recorded duration to a replayed one, in nanoseconds.
    pub fn scale(self, nanoseconds: u64) -> u64 {
        if self.0 == 1.0 { nanoseconds } else { (nanoseconds as f64 / self.0) as u64 }
    }
}

impl FromStr for Speed {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let speed = text.parse().ok().filter(|speed| (0.01..=10_000.0).contains(speed));
        speed.map(Self).ok_or_else(|| "use a number from 0.01 to 10000, such as 10".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_in_its_range() {
        assert_eq!("10".parse::<Speed>().unwrap().scale(1_000), 100);
        assert_eq!("0.5".parse::<Speed>().unwrap().scale(1_000), 2_000);
        assert_eq!("1".parse::<Speed>().unwrap().scale(u64::MAX - 1), u64::MAX - 1);
        for text in ["0", "-1", "nan", "inf", "fast", "10001", ""] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
