//! How fast a recording is played.

use std::str::FromStr;

/// How many times faster than it was recorded: 0.01 to 10,000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// The nanoseconds that something takes which took so many when it was recorded.
    pub fn scale(self, nanoseconds: u64) -> u64 {
        if self.0 == 1.0 { nanoseconds } else { (nanoseconds as f64 / self.0) as u64 }
    }
}

impl FromStr for Speed {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let speed = text.parse().ok().filter(|speed| (0.01..=10_000.0).contains(speed));
        speed.map(Self).ok_or_else(|| "write a number from 0.01 to 10000, such as 10".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_sensible_number() {
        assert_eq!("10".parse::<Speed>().unwrap().scale(1_000), 100);
        assert_eq!("0.5".parse::<Speed>().unwrap().scale(1_000), 2_000);
        assert_eq!("1".parse::<Speed>().unwrap().scale(u64::MAX - 1), u64::MAX - 1);
        for text in ["0", "-1", "nan", "inf", "fast", "10001", ""] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
