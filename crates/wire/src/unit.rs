//! Units of measurement, in the case-sensitive form of UCUM: <https://ucum.org/ucum>.
//!
//! Symbols are a choice of UCUM's, listed in `docs/reference/pdl.md`. All of the syntax is supported except parentheses.

use alloc::{format, string::String, vec::Vec};
use core::{iter, ops::Range};

/// UCUM section 4, table 1, the likelier ones first: a suggestion takes the first that fits.
const PREFIXES: [&str; 20] =
    ["k", "M", "G", "T", "m", "u", "n", "p", "c", "d", "h", "da", "P", "E", "f", "a", "Z", "Y", "z", "y"];

/// The powers of ten of [`PREFIXES`], in their order.
const PREFIX_SCALES: [f64; 20] = [
    1e3, 1e6, 1e9, 1e12, 1e-3, 1e-6, 1e-9, 1e-12, 1e-2, 1e-1, 1e2, 1e1, 1e15, 1e18, 1e-15, 1e-18, 1e21, 1e24,
    1e-24, 1e-21,
];

/// For `bit` and `By` only, though UCUM gives them to all.
const BINARY_PREFIXES: [&str; 4] = ["Ki", "Mi", "Gi", "Ti"];

/// The powers of 1,024 of [`BINARY_PREFIXES`], in their order.
const BINARY_SCALES: [f64; 4] = [1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];

const INFORMATION: [&str; 2] = ["By", "bit"];

/// Symbols that take a prefix.
const METRIC: [&str; 42] = [
    "m", "s", "g", "rad", "K", "C", "cd", "mol", "sr", "Hz", "N", "Pa", "J", "W", "A", "V", "F", "Ohm", "S",
    "Wb", "Cel", "T", "H", "lm", "lx", "Bq", "Gy", "Sv", "l", "L", "t", "bar", "eV", "u", "cal", "G", "P",
    "St", "[g]", "Bd", "By", "bit",
];

/// Symbols without prefixes. The bel stands here with its prefix only, because people write `B` for bytes.
const PLAIN: [&str; 33] = [
    "%", "[ppth]", "[ppm]", "[ppb]", "10*", "10^", "[pi]", "dB", "dB[W]", "dB[mW]", "deg", "'", "''", "gon",
    "circ", "min", "h", "d", "wk", "mo", "a", "atm", "[degF]", "[psi]", "[in_i]", "[ft_i]", "[yd_i]",
    "[mi_i]", "[nmi_i]", "[kn_i]", "[lb_av]", "[oz_av]", "[pH]",
];

/// Common spellings with their UCUM symbols.
const OTHERWISE: [(&str, &str); 26] = [
    ("B", "By"),
    ("byte", "By"),
    ("bytes", "By"),
    ("b", "bit"),
    ("bits", "bit"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hr", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
    ("°C", "Cel"),
    ("degC", "Cel"),
    ("°", "deg"),
    ("degree", "deg"),
    ("degrees", "deg"),
    ("Ω", "Ohm"),
    ("percent", "%"),
    ("ppm", "[ppm]"),
    ("psi", "[psi]"),
    ("degF", "[degF]"),
    ("baud", "Bd"),
];

/// Spellings of units that UCUM composes. Those with `true` take prefixes.
const COMPOSED: [(&str, &str, bool); 17] = [
    ("Wh", "W.h", true),
    ("Ah", "A.h", true),
    ("VA", "V.A", true),
    ("Nm", "N.m", true),
    ("bps", "bit/s", true),
    ("Bps", "By/s", true),
    ("rpm", "{rev}/min", false),
    ("rps", "{rev}/s", false),
    ("fps", "{frame}/s", false),
    ("sps", "{sample}/s", false),
    ("pps", "{packet}/s", false),
    ("qps", "{query}/s", false),
    ("bpm", "{beat}/min", false),
    ("kph", "km/h", false),
    ("kmh", "km/h", false),
    ("mph", "[mi_i]/h", false),
    ("lpm", "l/min", false),
];

/// The symbols that units are made of: those that take prefixes, then those that do not.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    METRIC.into_iter().chain(PLAIN)
}

/// An error in a unit, with its place in the text.
#[derive(Debug, PartialEq, Eq)]
pub struct UnitError {
    /// The bytes that are wrong.
    pub at: Range<usize>,
    /// One sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// Checks a unit. Returns its first error.
pub fn check(unit: &str) -> Result<(), UnitError> {
    // UCUM section 7: a unit may begin with a division, as in `/min`.
    let leading = usize::from(unit.starts_with('/'));
    components(unit).into_iter().skip(leading).try_for_each(|range| component(unit, range))
}

/// A factor of a unit: a number, or a symbol to some power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// The number, or the scale of the prefix; not raised to the power.
    pub scale: f64,
    /// The symbol without its prefix; `None` for a number.
    pub symbol: Option<&'static str>,
    /// The power, negative after a division.
    pub exponent: i32,
}

/// Highest power of a symbol; higher ones count as this.
const MOST_POWER: i32 = 99;

/// Splits a unit into its factors. Annotations count for nothing.
///
/// # Errors
/// Its first error.
pub fn factors(unit: &str) -> Result<Vec<Factor>, UnitError> {
    check(unit)?;
    let found = components(unit).into_iter().filter_map(|at| {
        let is_divided = unit[..at.start].ends_with('/');
        let text = &unit[at];
        let factor = split(text.get(..text.find('{').unwrap_or(text.len()))?)?;
        Some(Factor { exponent: if is_divided { -factor.exponent } else { factor.exponent }, ..factor })
    });
    Ok(found.collect())
}

/// A factor without its annotation; none if there is only that.
fn split(text: &str) -> Option<Factor> {
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if base.is_empty() {
        return Some(Factor { scale: text.parse().ok()?, symbol: None, exponent: 1 });
    }
    let digits = &text[base.len()..];
    let (symbol, sign) = match base.strip_suffix('-').filter(|_| !digits.is_empty()) {
        Some(symbol) => (symbol, -1),
        None => (base.strip_suffix('+').filter(|_| !digits.is_empty()).unwrap_or(base), 1),
    };
    let power = if digits.is_empty() { 1 } else { digits.parse().unwrap_or(MOST_POWER).min(MOST_POWER) };
    let (scale, symbol) = without_prefix(symbol)?;
    Some(Factor { scale, symbol: Some(symbol), exponent: sign * power })
}

/// The scale of a symbol's prefix, and the symbol without it.
fn without_prefix(symbol: &str) -> Option<(f64, &'static str)> {
    let known =
        |units: &'static [&'static str], symbol: &str| units.iter().copied().find(|&unit| unit == symbol);
    if let Some(symbol) = known(&PLAIN, symbol).or_else(|| known(&METRIC, symbol)) {
        return Some((1.0, symbol));
    }
    let mut decimal = iter::zip(PREFIXES, PREFIX_SCALES);
    let found =
        decimal.find_map(|(prefix, scale)| Some((scale, known(&METRIC, symbol.strip_prefix(prefix)?)?)));
    let mut binary = iter::zip(BINARY_PREFIXES, BINARY_SCALES);
    found.or_else(|| {
        binary.find_map(|(prefix, scale)| Some((scale, known(&INFORMATION, symbol.strip_prefix(prefix)?)?)))
    })
}

/// The factors between `.` and `/`, which have no meaning inside braces.
fn components(unit: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut annotated) = (0, false);
    for (at, character) in unit.char_indices() {
        match character {
            '{' => annotated = true,
            '}' => annotated = false,
            '.' | '/' if !annotated => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(start..unit.len());
    found
}

/// A symbol with its exponent, or a whole number, or an annotation; an annotation may also follow either.
fn component(unit: &str, at: Range<usize>) -> Result<(), UnitError> {
    let text = &unit[at.clone()];
    if text.is_empty() {
        let help = Some("for a count, omit the unit or name the counted thing in braces: `{packet}`".into());
        return Err(UnitError { at, message: "missing unit".into(), help });
    }
    let (factor, annotation) = text.split_at(text.find('{').unwrap_or(text.len()));
    if !annotation.is_empty() && !is_annotation(annotation) {
        let help = Some("write it as `{packet}`: printable ASCII without spaces".into());
        return Err(UnitError { at, message: "invalid annotation".into(), help });
    }
    if is_factor(factor) || (factor.is_empty() && !annotation.is_empty()) {
        return Ok(());
    }
    let help = suggestion(factor);
    Err(UnitError {
        at: at.start..at.start + factor.len(),
        message: format!("unknown unit `{factor}`"),
        help,
    })
}

/// UCUM section 12: printable ASCII without blanks.
fn is_annotation(text: &str) -> bool {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    !inner.is_empty() && inner.chars().all(|c| c.is_ascii_graphic() && c != '{' && c != '}')
}

fn is_factor(text: &str) -> bool {
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_number = base.is_empty() && !text.is_empty() && !text.starts_with('0');
    // A sign without digits is not an exponent.
    let symbol = if base.len() < text.len() { base.strip_suffix(['+', '-']).unwrap_or(base) } else { text };
    is_number || is_symbol(symbol)
}

fn is_symbol(symbol: &str) -> bool {
    let with = |prefixes: &[&str], units: &[&str]| {
        let rest = prefixes.iter().filter_map(|prefix| symbol.strip_prefix(prefix));
        rest.into_iter().any(|rest| units.contains(&rest))
    };
    PLAIN.contains(&symbol)
        || METRIC.contains(&symbol)
        || with(&PREFIXES, &METRIC)
        || with(&BINARY_PREFIXES, &INFORMATION)
}

fn suggestion(factor: &str) -> Option<String> {
    let ascii = factor
        .trim()
        .replace(['µ', 'μ'], "u")
        .replace('²', "2")
        .replace('³', "3")
        .replace('^', "")
        .replace(['*', '·'], ".");
    if components(&ascii).into_iter().all(|at| is_factor(&ascii[at])) {
        return Some(format!("did you mean `{ascii}`?"));
    }
    if let Some(composed) = composed(&ascii) {
        return Some(format!("did you mean `{composed}`?"));
    }
    let same_but_for_case = |(written, _): &(String, String)| written.to_lowercase() == ascii.to_lowercase();
    let found =
        spellings().find(|(written, _)| *written == ascii).or_else(|| spellings().find(same_but_for_case));
    if let Some((_, ucum)) = found {
        return Some(format!("did you mean `{ucum}`?"));
    }
    let is_word = ascii.len() >= 3 && ascii.chars().all(|c| c.is_ascii_alphabetic());
    is_word.then(|| format!("put the counted thing in braces: `{{{ascii}}}`"))
}

/// The UCUM spelling of a unit that is written as one word: `kW.h` of `kWh`.
fn composed(text: &str) -> Option<String> {
    let prefixes =
        |takes_prefix: bool| iter::once("").chain(PREFIXES.into_iter().filter(move |_| takes_prefix));
    let all = || {
        COMPOSED.into_iter().flat_map(move |(written, ucum, takes_prefix)| {
            prefixes(takes_prefix)
                .map(move |prefix| (format!("{prefix}{written}"), format!("{prefix}{ucum}")))
        })
    };
    let exact = all().find(|(written, _)| written == text);
    // The case of a word without a prefix does not matter: `RPM`.
    let whole = || all().find(|(written, _)| written.len() == 3 && written.eq_ignore_ascii_case(text));
    exact.or_else(whole).map(|(_, ucum)| ucum)
}

/// Common spellings of units with their UCUM symbols.
fn spellings() -> impl Iterator<Item = (String, String)> {
    let prefixes = || iter::once("").chain(PREFIXES).chain(BINARY_PREFIXES);
    let symbols = PLAIN.into_iter().chain(METRIC).map(|symbol| (symbol, symbol)).chain(OTHERWISE);
    let prefixed = symbols.flat_map(move |(written, ucum)| {
        prefixes().map(move |prefix| (format!("{prefix}{written}"), format!("{prefix}{ucum}")))
    });
    prefixed.filter(|(_, ucum)| is_symbol(ucum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(unit: &str) -> (&str, String) {
        let error = check(unit).unwrap_err();
        (&unit[error.at], error.help.unwrap_or_default())
    }

    #[test]
    fn units_of_every_form_are_known() {
        let known = [
            "1",
            "%",
            "By",
            "KiBy",
            "MBy/s",
            "Gibit/s",
            "s",
            "us",
            "ms",
            "min",
            "h",
            "m/s",
            "m/s2",
            "m.s-2",
            "kg.m2.s-3",
            "/min",
            "1/min",
            "100/s",
            "{packet}",
            "{packet}/s",
            "kg{wet}",
            "{a.b/c}/min",
            "Cel",
            "K",
            "kOhm",
            "mol/l",
            "[in_i]",
            "[degF]",
            "10*3/uL",
            "10*-6",
            "m+2",
            "dB",
            "dB[mW]",
            "deg/s",
            "kW.h",
            "dam",
            "u",
            "mu",
        ];
        for unit in known {
            assert_eq!(check(unit), Ok(()), "{unit}");
        }
    }

    #[test]
    fn a_unit_has_factors() {
        let of = |unit: &str| -> Vec<_> {
            let factors = factors(unit).unwrap().into_iter();
            factors
                .map(|Factor { scale, symbol, exponent }| (scale, symbol.unwrap_or("1"), exponent))
                .collect()
        };
        assert_eq!(of("km/h"), [(1e3, "m", 1), (1.0, "h", -1)]);
        assert_eq!(of("m.s-2"), [(1.0, "m", 1), (1.0, "s", -2)]);
        assert_eq!(of("m2/s.A"), [(1.0, "m", 2), (1.0, "s", -1), (1.0, "A", 1)]);
        assert_eq!(of("100/min"), [(100.0, "1", 1), (1.0, "min", -1)]);
        assert_eq!(of("/min"), [(1.0, "min", -1)]);
        assert_eq!(of("KiBy{sent}/s"), [(1024.0, "By", 1), (1.0, "s", -1)]);
        assert_eq!(of("{packet}"), []);
        assert_eq!(of("10*-6"), [(1.0, "10*", -6)]);
        assert_eq!(of("m99999999999"), [(1.0, "m", MOST_POWER)]);
        assert!(factors("furlong").is_err());
    }

    #[test]
    fn an_invalid_unit_is_reported_with_its_place() {
        for (unit, place) in [
            ("m/sek", "sek"),
            ("xm", "xm"),
            ("kmin", "kmin"),
            ("Kim", "Kim"),
            ("m-", "m-"),
            ("0", "0"),
            ("m//s", ""),
            ("m/", ""),
            ("", ""),
            ("/", ""),
            ("{two words}", "{two words}"),
            ("{}", "{}"),
            ("{open", "{open"),
            ("{a}{b}", "{a}{b}"),
            ("J/(kg.K)", "(kg"),
            ("packet{x}", "packet"),
        ] {
            assert_eq!(refused(unit).0, place, "{unit}");
        }
    }

    #[test]
    fn common_spellings_lead_to_a_suggestion_of_the_ucum_symbol() {
        for (unit, suggested) in [
            ("B", "By"),
            ("KiB", "KiBy"),
            ("KB", "kBy"),
            ("MB/s", "MBy"),
            ("kb/s", "kbit"),
            ("°C", "Cel"),
            ("µs", "us"),
            ("kΩ", "kOhm"),
            ("m/s²", "s2"),
            ("m/s^2", "s2"),
            ("N*m", "N.m"),
            ("mhz", "MHz"),
            ("ohm", "Ohm"),
            ("m / s", "m"),
            ("seconds", "s"),
            ("rpm", "{rev}/min"),
            ("RPM", "{rev}/min"),
            ("kWh", "kW.h"),
            ("mAh", "mA.h"),
            ("Nm", "N.m"),
            ("Mbps", "Mbit/s"),
            ("fps", "{frame}/s"),
            ("km/h.rpm", "{rev}/min"),
        ] {
            assert_eq!(refused(unit).1, format!("did you mean `{suggested}`?"), "{unit}");
        }
        assert_eq!(refused("jiffies").1, "put the counted thing in braces: `{jiffies}`");
        assert_eq!(refused("xq").1, "");
    }

    #[test]
    fn suggested_units_are_units() {
        for (written, ucum, _) in COMPOSED {
            assert_eq!(check(ucum), Ok(()), "{written}");
            assert!(check(written).is_err(), "{written}");
        }
    }

    #[test]
    fn the_page_lists_the_symbols() {
        let page = include_str!("../../../docs/reference/pdl.md");
        let (_, section) = page.split_once("\n## Units\n").unwrap();
        let section = section.split("\n## ").next().unwrap();
        for symbol in METRIC.into_iter().chain(PLAIN).chain(PREFIXES).chain(BINARY_PREFIXES) {
            assert!(section.contains(&format!("`{symbol}`")), "{symbol}");
        }
    }
}
