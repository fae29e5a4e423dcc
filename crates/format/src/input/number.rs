//! Numbers in texts, exactly.

/// How numbers are written.
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

/// Longest text of a number.
const MAX_NUMBER_BYTES: usize = 512;

impl NumberForm {
    /// Parses a number without spaces around it.
    pub fn parse(self, text: &[u8]) -> Option<Number> {
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
    fn a_comma_is_a_point_if_the_file_says_so() {
        let parse = |text: &str| NumberForm { has_comma: true }.parse(text.as_bytes());
        assert_eq!(parse("-1,5"), Some(Number::Real(-1.5)));
        assert_eq!(parse("7"), Some(Number::Int(7)));
        assert_eq!(parse("1.234,5"), None);
        assert_eq!(parse("1,234,5"), None);
    }
}
