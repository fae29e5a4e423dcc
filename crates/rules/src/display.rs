//! Values as the page writes them: in few digits, with the common notations of units.

use std::borrow::Cow;

/// UCUM symbols whose common notation differs, without prefix.
const SYMBOLS: [(&str, &str); 5] =
    [("By", "B"), ("Cel", "\u{b0}C"), ("deg", "\u{b0}"), ("Ohm", "\u{3a9}"), ("[degF]", "\u{b0}F")];
const BYTE_PREFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// From here on no decimal is of interest.
const MIN_WHOLE_MAGNITUDE: f64 = 1000.0;
const MIN_DECIMAL_MAGNITUDE: f64 = 1e-4;

/// A value for people, in three digits and the common notation of its UCUM unit. Bytes are in the unit in which they are
/// short.
///
/// ```
/// use oasis_rules::displayed;
///
/// assert_eq!(displayed(93.3926, Some("Cel")), "93.4 \u{b0}C");
/// assert_eq!(displayed(0.5, Some("%")), "0.500%");
/// assert_eq!(displayed(3_000_000.0, Some("By")), "2.86 MiB");
/// assert_eq!(displayed(-1e9, None), "-1000000000");
/// ```
pub fn displayed(value: f64, unit: Option<&str>) -> String {
    match unit {
        Some("By") => bytes(value),
        Some(unit) if unit.starts_with('%') => format!("{}{unit}", digits(value)),
        Some("1") | None => digits(value),
        Some(unit) => format!("{} {}", digits(value), notation(unit)),
    }
}

fn bytes(value: f64) -> String {
    let mut scaled = value;
    let mut prefixes = BYTE_PREFIXES.iter();
    let mut prefix = prefixes.next();
    while scaled.abs() >= 1024.0
        && let Some(next) = prefixes.next()
    {
        scaled /= 1024.0;
        prefix = Some(next);
    }
    format!("{} {}B", digits(scaled), prefix.unwrap_or(&""))
}

/// Three significant digits; whole numbers, and large ones, without decimals.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size < MIN_DECIMAL_MAGNITUDE {
        return format!("{value:.1e}");
    }
    if size >= MIN_WHOLE_MAGNITUDE || value.fract() == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

/// `Cel` as `\u{b0}C`, `m/s2` as `m/s\u{b2}`, `mOhm` as `m\u{3a9}`, `{packet}` as `packet`.
fn notation(unit: &str) -> String {
    let mut found = String::with_capacity(unit.len() + 4);
    for part in unit.split_inclusive(['.', '/']) {
        let (symbol, sign) = match part.char_indices().next_back() {
            Some((at, sign @ ('.' | '/'))) => (&part[..at], Some(sign)),
            _ => (part, None),
        };
        found.push_str(&factor(symbol));
        match sign {
            Some('.') => found.push('\u{b7}'),
            Some(sign) => found.push(sign),
            None => {}
        }
    }
    if found.starts_with('/') { format!("1{found}") } else { found }
}

/// A symbol and its exponent.
fn factor(text: &str) -> String {
    if let Some(counted) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return counted.to_owned();
    }
    let end = text.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let base = end.strip_suffix(['-', '+']).unwrap_or(end);
    let raised = text[base.len()..].chars().map(raised).collect::<String>();
    format!("{}{raised}", common(base))
}

fn common(symbol: &str) -> Cow<'_, str> {
    for (ucum, shown) in SYMBOLS {
        let Some(prefix) = symbol.strip_suffix(ucum) else { continue };
        if prefix.is_empty() || (prefix.len() <= 2 && prefix.is_ascii() && ucum != "deg") {
            return format!("{}{shown}", prefix.replace('u', "\u{b5}")).into();
        }
    }
    match symbol.strip_prefix('u') {
        // The symbols that stay as they are do not begin with `u`, except the atomic mass.
        Some(rest) if !rest.is_empty() => format!("\u{b5}{rest}").into(),
        _ => symbol.trim_start_matches('[').trim_end_matches(']').into(),
    }
}

fn raised(sign: char) -> char {
    const DIGITS: [char; 10] = [
        '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}',
        '\u{2079}',
    ];
    match sign {
        '-' => '\u{207b}',
        '+' => '\u{207a}',
        digit => digit.to_digit(10).and_then(|digit| DIGITS.get(digit as usize).copied()).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_their_common_notation() {
        for (unit, shown) in [
            ("m/s2", "m/s\u{b2}"),
            ("s-1", "s\u{207b}\u{b9}"),
            ("mOhm", "m\u{3a9}"),
            ("KiBy/s", "KiB/s"),
            ("us", "\u{b5}s"),
            ("N.m", "N\u{b7}m"),
            ("{packet}/s", "packet/s"),
            ("/min", "1/min"),
            ("[psi]", "psi"),
            ("uCel", "\u{b5}\u{b0}C"),
            ("rad", "rad"),
            ("", ""),
        ] {
            assert_eq!(notation(unit), shown, "{unit}");
        }
    }

    #[test]
    fn values_have_three_digits() {
        let shown = |value| displayed(value, None);
        assert_eq!(
            [93.3926, 9.33926, 0.93392, 933.926, 9339.26, 95.0].map(shown),
            ["93.4", "9.34", "0.934", "934", "9339", "95"]
        );
        assert_eq!([-0.25, 0.0, 2e-7, f64::INFINITY].map(shown), ["-0.250", "0", "2.0e-7", "inf"]);
        assert_eq!(displayed(1023.0, Some("By")), "1023 B");
    }
}
