//! Numbers in texts, exactly.

/// The notation of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NumberForm {
    /// A comma in place of the point.
    pub has_comma: bool,
}

/// A number of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A whole number from 2^63 on.
    Uint(u64),
    /// A number with a fraction or an exponent, NaN or an infinity.
    Real(f64),
    /// A whole number beyond 64 bits, as the nearest real.
    Long(f64),
}

/// Powers of ten that are exact as reals.
const POWERS_OF_TEN: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Digits of which every number is exact as a real.
const MAX_EXACT_DIGITS: usize = 15;
/// Longest text of a number.
const MAX_NUMBER_BYTES: usize = 512;

impl NumberForm {
    /// Parses a number without spaces around it.
    pub fn parse(self, text: &[u8]) -> Option<Number> {
        if let Some(short) = self.parse_short(text) {
            return Some(short);
        }
        let first = *text.first()?;
        if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.' | b',' | b'n' | b'N' | b'i' | b'I'))
            || text.len() > MAX_NUMBER_BYTES
        {
            return None;
        }
        let text = str::from_utf8(text).ok()?;
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return whole(text);
        }
        if digits.starts_with(['n', 'N', 'i', 'I']) {
            return word(digits).map(|real| Number::Real(if text.starts_with('-') { -real } else { real }));
        }
        let real = if self.has_comma { with_point(text)?.parse() } else { text.parse() };
        real.ok().filter(|_: &f64| digits.bytes().any(|byte| byte.is_ascii_digit())).map(Number::Real)
    }
}

impl NumberForm {
    /// Parses digits with at most one point, of which a real is an exact quotient; `None` of other texts, which may be numbers too.
    fn parse_short(self, text: &[u8]) -> Option<Number> {
        let (is_negative, digits) = match text.split_first()? {
            (b'-', digits) => (true, digits),
            _ => (false, text),
        };
        if !(1..=MAX_EXACT_DIGITS + 1).contains(&digits.len()) {
            return None;
        }
        let (mut mantissa, mut count, mut point) = (0_i64, 0, None);
        for (at, byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + i64::from(byte - b'0');
                    count += 1;
                }
                b'.' if !self.has_comma && point.is_none() => point = Some(at),
                b',' if self.has_comma && point.is_none() => point = Some(at),
                _ => return None,
            }
        }
        if !(1..=MAX_EXACT_DIGITS).contains(&count) {
            return None;
        }
        let Some(point) = point else {
            return Some(Number::Int(if is_negative { -mantissa } else { mantissa }));
        };
        // One division of exact numbers is rounded once, as parsing the text is.
        let real = mantissa as f64 / POWERS_OF_TEN.get(digits.len() - 1 - point)?;
        Some(Number::Real(if is_negative { -real } else { real }))
    }
}

fn whole(text: &str) -> Option<Number> {
    if let Ok(int) = text.parse() {
        return Some(Number::Int(int));
    }
    if let Ok(uint) = text.parse() {
        return Some(Number::Uint(uint));
    }
    text.parse().ok().map(Number::Long)
}

/// The words that Python, C, JavaScript and MATLAB write.
fn word(text: &str) -> Option<f64> {
    match text {
        "nan" | "NaN" | "NAN" => Some(f64::NAN),
        "inf" | "Inf" | "INF" | "Infinity" | "infinity" => Some(f64::INFINITY),
        _ => None,
    }
}

/// Replaces one comma by a point; `None` if the text has a point already.
fn with_point(text: &str) -> Option<String> {
    (!text.contains('.') && text.matches(',').count() <= 1).then(|| text.replacen(',', ".", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_marked() {
        let parse = |text: &str| NumberForm::default().parse(text.as_bytes());
        assert_eq!(parse("9007199254740993"), Some(Number::Int(9_007_199_254_740_993)));
        assert_eq!(parse("-9223372036854775808"), Some(Number::Int(i64::MIN)));
        assert_eq!(parse("18446744073709551615"), Some(Number::Uint(u64::MAX)));
        assert_eq!(parse("18446744073709551616"), Some(Number::Long(18_446_744_073_709_551_616.0)));
        assert_eq!(parse("-1e-300"), Some(Number::Real(-1e-300)));
        assert_eq!(parse("-Infinity"), Some(Number::Real(f64::NEG_INFINITY)));
        assert!(matches!(parse("NaN"), Some(Number::Real(real)) if real.is_nan()));
        for text in ["", "-", "+", ".", "e5", "1,5", "0x10", "nano", "info", "1 2", "--1", "1.2.3"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn short_numbers_are_those_of_the_standard_library() {
        for text in [
            "0.1",
            "-0.0",
            "123456.789012345",
            "5.",
            ".5",
            "99999.9999999999",
            "-273.15",
            "0.000000000000001",
        ] {
            let expected: f64 = text.parse().unwrap();
            let Some(Number::Real(real)) = NumberForm::default().parse(text.as_bytes()) else {
                panic!("{text}")
            };
            assert_eq!(real.to_bits(), expected.to_bits(), "{text}");
        }
    }

    #[test]
    fn a_comma_is_a_point_if_the_file_says_so() {
        let parse = |text: &str| NumberForm { has_comma: true }.parse(text.as_bytes());
        assert_eq!(parse("-1,5"), Some(Number::Real(-1.5)));
        assert_eq!(parse("7"), Some(Number::Int(7)));
        assert_eq!(parse("1.234,5"), None);
        assert_eq!(parse("1,234,5"), None);
    }
}
