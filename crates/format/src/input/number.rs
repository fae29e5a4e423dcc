//! Numbers in texts, exactly.

/// The notation of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NumberForm {
    /// A comma in place of the point.
    pub has_comma: bool,
    /// The character between groups of three digits, in numbers that have it.
    pub thousands: Thousands,
}

/// A thousands separator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thousands {
    /// `1234.5`
    #[default]
    None,
    /// `1,234.5`
    Comma,
    /// `1.234,5`
    Point,
    /// `1 234,5`, also with a space that does not break.
    Space,
    /// `1'234.5`, also with a typographic apostrophe.
    Apostrophe,
}

impl Thousands {
    /// Every separator, and none.
    pub const ALL: [Self; 5] = [Self::Comma, Self::Point, Self::Space, Self::Apostrophe, Self::None];

    /// Returns the separator with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name)
    }

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Comma => "comma",
            Self::Point => "point",
            Self::Space => "space",
            Self::Apostrophe => "apostrophe",
        }
    }

    /// Its decimal mark, if it leaves no choice: whether it is a comma.
    pub fn has_comma(self) -> Option<bool> {
        match self {
            Self::Comma => Some(false),
            Self::Point => Some(true),
            Self::None | Self::Space | Self::Apostrophe => None,
        }
    }

    fn characters(self) -> &'static [char] {
        match self {
            Self::None => &[],
            Self::Comma => &[','],
            Self::Point => &['.'],
            Self::Space => &[' ', '\u{a0}', '\u{202f}'],
            Self::Apostrophe => &['\'', '\u{2019}'],
        }
    }

    /// Returns the digits of groups, of which all but the first have three, and the text after them; `None` without a separator.
    fn ungroup(self, text: &str) -> Option<(String, &str)> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let first = digits(text);
        if !(1..=3).contains(&first) || text.starts_with('0') {
            return None;
        }
        let (group, mut rest) = text.split_at(first);
        let mut ungrouped = group.to_owned();
        while let Some(after) = rest.strip_prefix(self.characters()) {
            if digits(after) != 3 {
                return None;
            }
            let (group, after) = after.split_at(3);
            ungrouped += group;
            rest = after;
        }
        (ungrouped.len() > first).then_some((ungrouped, rest))
    }
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
const POWERS_OF_TEN: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
];
/// Digits of which every number has 63 bits at most.
const MAX_INT_DIGITS: usize = 18;
/// Digits of which every number has 64 bits at most.
const MAX_DIGITS: usize = 19;
/// Whole numbers up to this one are exact as reals.
const MAX_EXACT: u64 = 1 << 53;
/// Longest text of a number.
const MAX_NUMBER_BYTES: usize = 512;

impl NumberForm {
    /// Returns the notation without separators.
    pub fn with_mark(has_comma: bool) -> Self {
        Self { has_comma, thousands: Thousands::None }
    }

    /// Parses a number without spaces around it.
    #[inline]
    pub fn parse(self, text: &[u8]) -> Option<Number> {
        self.parse_short(text).or_else(|| self.parse_any(text))
    }

    fn parse_any(self, text: &[u8]) -> Option<Number> {
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
        let real = if self.has_comma {
            with_point(text).and_then(|text| text.parse().ok())
        } else {
            text.parse().ok()
        };
        let real = real.filter(|_: &f64| digits.bytes().any(|byte| byte.is_ascii_digit())).map(Number::Real);
        real.or_else(|| self.parse_grouped(text))
    }

    /// Parses a number with thousands separators: a sign, groups, and perhaps a mark with digits.
    fn parse_grouped(self, text: &str) -> Option<Number> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (ungrouped, rest) = self.thousands.ungroup(digits)?;
        let mark = self.mark();
        let is_fraction = |rest: &str| {
            rest.strip_prefix(mark).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !rest.is_empty() && !is_fraction(rest) {
            return None;
        }
        let sign = text.get(..text.len() - digits.len())?;
        Self::with_mark(self.has_comma).parse(format!("{sign}{ungrouped}{rest}").as_bytes())
    }

    /// Returns whether a text is a number with separators.
    pub fn is_grouped(self, text: &str) -> bool {
        text.len() <= MAX_NUMBER_BYTES
            && text.contains(self.thousands.characters())
            && self.parse_grouped(text).is_some()
    }

    /// The decimal mark.
    pub fn mark(self) -> char {
        if self.has_comma { ',' } else { '.' }
    }

    /// Returns how many thousands separators a text has.
    pub fn separators(self, text: &str) -> usize {
        text.matches(self.thousands.characters()).count()
    }

    /// Parses digits with at most one mark, of which a real is an exact quotient; `None` of other texts, which may be numbers too.
    #[inline]
    fn parse_short(self, text: &[u8]) -> Option<Number> {
        let is_negative = text.first() == Some(&b'-');
        let digits = text.get(usize::from(is_negative)..)?;
        // Most numbers have few digits before the mark.
        let (whole, rest) = single_digits(digits, 0);
        let Some((mark, fraction)) = rest.split_first() else {
            let int = (1..=MAX_INT_DIGITS).contains(&digits.len()).then_some(whole as i64)?;
            return Some(Number::Int(if is_negative { -int } else { int }));
        };
        if *mark != if self.has_comma { b',' } else { b'.' } {
            return None;
        }
        let (mantissa, rest) = leading_digits(fraction, whole);
        if !rest.is_empty() || !(2..=MAX_DIGITS + 1).contains(&digits.len()) || mantissa > MAX_EXACT {
            return None;
        }
        // One division of exact numbers is rounded once, as parsing the text is.
        let real = mantissa as f64 / POWERS_OF_TEN.get(fraction.len())?;
        Some(Number::Real(f64::from_bits(real.to_bits() | u64::from(is_negative) << 63)))
    }
}

/// Appends the digits at the beginning of a text to a number. Returns it modulo 2^64, and the text after the digits.
#[inline]
pub(super) fn leading_digits(mut text: &[u8], mut number: u64) -> (u64, &[u8]) {
    while let Some((word, rest)) = text.split_first_chunk::<8>()
        && let Some(eight) = eight_digits(*word)
    {
        number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        text = rest;
    }
    single_digits(text, number)
}

#[inline]
fn single_digits(mut text: &[u8], mut number: u64) -> (u64, &[u8]) {
    while let [digit @ b'0'..=b'9', rest @ ..] = text {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        text = rest;
    }
    (number, text)
}

/// The number of eight digits, which are added in pairs: as in D. Lemire, *Number parsing at a gigabyte per second*.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(text);
    let values = word.wrapping_sub(0x3030_3030_3030_3030);
    // A byte below '0' or above '9' sets its highest bit.
    if (word.wrapping_add(0x4646_4646_4646_4646) | values) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let upper = (pairs & PAIRS).wrapping_mul(0x000f_4240_0000_0064);
    let lower = ((pairs >> 16) & PAIRS).wrapping_mul(0x0000_2710_0000_0001);
    Some(upper.wrapping_add(lower) >> 32)
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_numbers_are_those_that_the_standard_library_parses(
            text in "-?([0-9]{0,3}|[0-9]{0,22})([.,][0-9]{0,22})?x?",
        ) {
            for has_comma in [false, true] {
                let form = NumberForm::with_mark(has_comma);
                let Some(short) = form.parse_short(text.as_bytes()) else { continue };
                let any = form.parse_any(text.as_bytes());
                let bits = |number| match number {
                    Number::Real(real) => format!("{:x}", real.to_bits()),
                    other => format!("{other:?}"),
                };
                prop_assert_eq!(Some(bits(short)), any.map(bits), "{}", text);
            }
        }

        #[test]
        fn grouped_numbers_are_those_without_separators(
            whole in 1_000..=i64::MAX, fraction in "([.][0-9]{1,6})?", is_negative: bool,
        ) {
            let digits = whole.to_string();
            let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
            let sign = if is_negative { "-" } else { "" };
            let expected = NumberForm::default().parse(format!("{sign}{digits}{fraction}").as_bytes());
            for thousands in Thousands::ALL {
                for character in thousands.characters() {
                    let form = NumberForm { has_comma: thousands == Thousands::Point, thousands };
                    let fraction = fraction.replace('.', if form.has_comma { "," } else { "." });
                    let whole = String::from_utf8(groups.join(character.to_string().as_bytes())).unwrap();
                    let text = format!("{sign}{whole}{fraction}");
                    prop_assert_eq!(form.parse(text.as_bytes()), expected, "{}", text);
                    prop_assert!(form.is_grouped(&text));
                }
            }
        }
    }

    #[test]
    fn other_groups_than_of_three_are_no_numbers() {
        let form = NumberForm { has_comma: false, thousands: Thousands::Comma };
        for text in [
            "1,23",
            "1,2345",
            "1234,567",
            ",123",
            "1,234,",
            "1,234.5,678",
            "1,234.5e3",
            "1 234",
            "1,234 567",
            "0,123",
        ] {
            assert_eq!(form.parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(form.parse(b"+1,234."), Some(Number::Real(1_234.0)));
        assert_eq!(form.parse(b"12.5"), Some(Number::Real(12.5)));
    }

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
        let parse = |text: &str| NumberForm::with_mark(true).parse(text.as_bytes());
        assert_eq!(parse("-1,5"), Some(Number::Real(-1.5)));
        assert_eq!(parse("7"), Some(Number::Int(7)));
        assert_eq!(parse("1.234,5"), None);
        assert_eq!(parse("1,234,5"), None);
    }
}
