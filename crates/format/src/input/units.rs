//! Units that other programs write, as UCUM.

use oasis_wire::unit;

/// Spellings of whole units that no rule below converts.
const SPELLINGS: [(&str, &str); 18] = [
    ("rpm", "/min"),
    ("RPM", "/min"),
    ("1/min", "/min"),
    ("Degree", "deg"),
    ("degrees", "deg"),
    ("Deg C", "Cel"),
    ("degC", "Cel"),
    ("\u{b0}C", "Cel"),
    ("\u{2103}", "Cel"),
    ("\u{b0}", "deg"),
    ("\u{b0}F", "[degF]"),
    ("degF", "[degF]"),
    ("mph", "[mi_i]/h"),
    ("kph", "km/h"),
    ("Nm", "N.m"),
    ("g", "g"),
    ("\u{2126}", "Ohm"),
    ("\u{3a9}", "Ohm"),
];

/// Returns the UCUM unit of a text, if it is one.
pub fn unit_of(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if let Some((_, unit)) = SPELLINGS.iter().find(|(spelling, _)| *spelling == text) {
        return Some((*unit).to_owned());
    }
    let plain = text
        .replace(['\u{b5}', '\u{3bc}'], "u")
        .replace('\u{b0}', "deg")
        .replace('\u{b2}', "2")
        .replace('\u{b3}', "3")
        .replace(['*', '\u{b7}', '\u{22c5}'], ".")
        .replace('^', "");
    let tried = [plain.clone(), factors(&plain)];
    tried.into_iter().find(|unit| unit::check(unit).is_ok())
}

/// Replaces each factor by the symbol that the check of units proposes.
fn factors(text: &str) -> String {
    let mut unit = String::new();
    for part in text.split_inclusive(['/', '.']) {
        let symbol = part.trim_end_matches(['/', '.']);
        let known = SPELLINGS.iter().find(|(spelling, _)| *spelling == symbol).map(|(_, unit)| *unit);
        let otherwise = match symbol {
            "sec" | "second" | "seconds" => Some("s"),
            "hr" | "hour" | "hours" => Some("h"),
            "B" | "byte" | "bytes" => Some("By"),
            "bits" => Some("bit"),
            "meter" | "meters" | "metre" => Some("m"),
            "percent" => Some("%"),
            "ohm" => Some("Ohm"),
            _ => None,
        };
        unit += known.or(otherwise).unwrap_or(symbol);
        unit += &part[symbol.len()..];
    }
    unit
}

/// Splits `speed [m/s]` and `speed (m/s)` into name and unit; the name stays whole if that is no unit.
pub fn split_unit(header: &str) -> (String, Option<String>) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let Some((name, unit)) = header.strip_suffix(close).and_then(|rest| rest.rsplit_once(open)) else {
            continue;
        };
        let name = name.trim_end_matches([' ', '_']);
        if let Some(unit) = unit_of(unit).filter(|_| !name.is_empty()) {
            return (name.to_owned(), Some(unit_of_column(name, unit)));
        }
    }
    (header.to_owned(), None)
}

/// Returns the unit of a column: the degrees of a temperature where the symbol alone is one of electricity, `temp (C)`.
pub fn unit_of_column(name: &str, unit: String) -> String {
    if !name.to_ascii_lowercase().contains("temp") {
        return unit;
    }
    match unit.as_str() {
        "C" => "Cel".to_owned(),
        "F" => "[degF]".to_owned(),
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_become_ucum() {
        let units = ["m/s", "m/s^2", "\u{b0}C", "rpm", "km/h", "\u{b5}s", "degrees/sec", "%", "B"];
        let ucum = ["m/s", "m/s2", "Cel", "/min", "km/h", "us", "deg/s", "%", "By"];
        assert_eq!(units.map(|unit| unit_of(unit).unwrap_or_default()), ucum);
        let temperature = |header| split_unit(header).1.unwrap_or_default();
        assert_eq!(temperature("Motor Temp (C)"), "Cel");
        assert_eq!(temperature("temperature [F]"), "[degF]");
        assert_eq!(temperature("charge [C]"), "C");
        for text in ["", "left", "x y", "0/1"] {
            assert_eq!(unit_of(text), None, "{text}");
        }
    }
}
