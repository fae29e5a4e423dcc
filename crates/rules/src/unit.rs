//! Units of UCUM as rules calculate with them. A symbol that is not in the table is a dimension of its own.

use oasis_pdl::{UnitError, unit_factors};
use std::collections::BTreeMap;

/// A symbol in terms of others: its factor, then symbols with their powers.
type Definition = (&'static str, f64, &'static [(&'static str, i32)]);

const DEFINITIONS: [Definition; 35] = [
    ("Hz", 1.0, &[("s", -1)]),
    ("Bq", 1.0, &[("s", -1)]),
    ("min", 60.0, &[("s", 1)]),
    ("h", 3_600.0, &[("s", 1)]),
    ("d", 86_400.0, &[("s", 1)]),
    ("wk", 604_800.0, &[("s", 1)]),
    ("N", 1e3, &[("g", 1), ("m", 1), ("s", -2)]),
    ("Pa", 1e3, &[("g", 1), ("m", -1), ("s", -2)]),
    ("bar", 1e8, &[("g", 1), ("m", -1), ("s", -2)]),
    ("J", 1e3, &[("g", 1), ("m", 2), ("s", -2)]),
    ("W", 1e3, &[("g", 1), ("m", 2), ("s", -3)]),
    ("C", 1.0, &[("A", 1), ("s", 1)]),
    ("V", 1e3, &[("g", 1), ("m", 2), ("s", -3), ("A", -1)]),
    ("F", 1e-3, &[("g", -1), ("m", -2), ("s", 4), ("A", 2)]),
    ("Ohm", 1e3, &[("g", 1), ("m", 2), ("s", -3), ("A", -2)]),
    ("S", 1e-3, &[("g", -1), ("m", -2), ("s", 3), ("A", 2)]),
    ("Wb", 1e3, &[("g", 1), ("m", 2), ("s", -2), ("A", -1)]),
    ("T", 1e3, &[("g", 1), ("s", -2), ("A", -1)]),
    ("H", 1e3, &[("g", 1), ("m", 2), ("s", -2), ("A", -2)]),
    ("l", 1e-3, &[("m", 3)]),
    ("L", 1e-3, &[("m", 3)]),
    ("t", 1e6, &[("g", 1)]),
    ("Cel", 1.0, &[("K", 1)]),
    ("[degF]", 5.0 / 9.0, &[("K", 1)]),
    ("By", 8.0, &[("bit", 1)]),
    ("rad", 1.0, &[]),
    ("sr", 1.0, &[]),
    ("deg", std::f64::consts::PI / 180.0, &[]),
    ("%", 1e-2, &[]),
    ("[ppth]", 1e-3, &[]),
    ("[ppm]", 1e-6, &[]),
    ("[ppb]", 1e-9, &[]),
    ("10*", 10.0, &[]),
    ("10^", 10.0, &[]),
    ("[pi]", std::f64::consts::PI, &[]),
];

/// Zeros of scales in kelvin, of units that do not begin at absolute zero.
const ZEROS: [(&str, f64); 2] = [("Cel", 273.15), ("[degF]", 459.67 * 5.0 / 9.0)];

/// A unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Its size in base units.
    pub factor: f64,
    /// The zero of its scale in base units.
    pub zero: f64,
    /// Powers of base units; none of them is 0.
    powers: BTreeMap<&'static str, i32>,
    /// As written; empty for plain numbers.
    text: String,
}

impl Unit {
    /// Returns the unit of plain numbers.
    pub fn none() -> Self {
        Self { factor: 1.0, zero: 0.0, powers: BTreeMap::new(), text: String::new() }
    }

    /// Reads a unit. One in a pair of brackets is the unit in there, as the page writes it.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let factors = match unit_factors(text) {
            Ok(factors) => factors,
            Err(error) => {
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                return inner.and_then(|inner| Self::parse(inner).ok()).ok_or(error);
            }
        };
        let mut unit = Self { text: text.to_owned(), ..Self::none() };
        for factor in &factors {
            unit.factor *= factor.scale.powi(factor.exponent);
            let Some(symbol) = factor.symbol else { continue };
            unit.symbol(symbol, factor.exponent);
        }
        if let [only] = &*factors
            && only.exponent == 1
            && only.scale == 1.0
        {
            unit.zero =
                ZEROS.iter().find(|(symbol, _)| only.symbol == Some(symbol)).map_or(0.0, |(_, zero)| *zero);
        }
        Ok(unit)
    }

    fn symbol(&mut self, symbol: &'static str, exponent: i32) {
        let Some((_, factor, bases)) = DEFINITIONS.iter().find(|(known, ..)| *known == symbol) else {
            return self.base(symbol, exponent);
        };
        self.factor *= factor.powi(exponent);
        for (base, power) in *bases {
            self.base(base, power * exponent);
        }
    }

    fn base(&mut self, symbol: &'static str, exponent: i32) {
        let power = self.powers.entry(symbol).or_default();
        *power = power.saturating_add(exponent);
        if *power == 0 {
            self.powers.remove(symbol);
        }
    }

    /// As written, or what plain numbers are called.
    pub fn name(&self) -> String {
        if self.text.is_empty() { "no unit".into() } else { format!("`{}`", self.text) }
    }

    /// As written; none for plain numbers.
    pub fn text(&self) -> Option<&str> {
        Some(&*self.text).filter(|text| !text.is_empty())
    }

    /// Whether values of the two can be compared.
    pub fn is_same_dimension(&self, other: &Self) -> bool {
        self.powers == other.powers
    }

    /// Whether its scale does not begin at zero.
    pub fn is_affine(&self) -> bool {
        self.zero != 0.0
    }

    /// Its size in seconds, if it is a unit of time.
    pub fn seconds(&self) -> Option<f64> {
        let is_time = self.powers.len() == 1 && self.powers.get("s") == Some(&1);
        is_time.then_some(self.factor)
    }

    /// Scale and offset that convert values of this unit to another one of the same dimension.
    pub fn to(&self, other: &Self) -> (f64, f64) {
        (self.factor / other.factor, (self.zero - other.zero) / other.factor)
    }

    /// The unit of differences: `K` for `Cel`.
    pub fn of_difference(&self) -> Self {
        let text = if self.text == "Cel" { "K".into() } else { self.text.clone() };
        Self { zero: 0.0, text, ..self.clone() }
    }

    /// The unit of products.
    pub fn times(&self, other: &Self) -> Self {
        let text = match (self.text.is_empty(), other.text.is_empty()) {
            (true, _) => other.text.clone(),
            (_, true) => self.text.clone(),
            _ => format!("{}.{}", self.text, other.text),
        };
        self.combined(other, 1, text)
    }

    /// The unit of quotients.
    pub fn over(&self, other: &Self) -> Self {
        let text = match (self.text.is_empty(), other.text.is_empty()) {
            (_, true) => self.text.clone(),
            (true, _) => format!("/{}", other.text),
            _ if self.text == other.text => String::new(),
            _ => format!("{}/{}", self.text, other.text),
        };
        self.combined(other, -1, text)
    }

    /// The unit of change per second.
    pub fn per_second(&self) -> Self {
        let second = Self { powers: BTreeMap::from([("s", 1)]), text: "s".into(), ..Self::none() };
        self.of_difference().over(&second)
    }

    /// The unit of square roots, if there is one.
    pub fn root(&self) -> Option<Self> {
        if self.is_affine() || self.powers.values().any(|power| power % 2 != 0) {
            return None;
        }
        let powers = self.powers.iter().map(|(symbol, power)| (*symbol, power / 2)).collect();
        let text = if self.text.is_empty() { String::new() } else { format!("sqrt({})", self.text) };
        Some(Self { factor: self.factor.sqrt(), zero: 0.0, powers, text })
    }

    fn combined(&self, other: &Self, sign: i32, text: String) -> Self {
        let mut unit =
            Self { factor: self.factor * other.factor.powi(sign), zero: 0.0, text, ..self.clone() };
        for (symbol, power) in &other.powers {
            unit.base(symbol, power.saturating_mul(sign));
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::parse(text).unwrap()
    }

    #[test]
    fn units_of_one_dimension_convert() {
        for (value, from, to, expected) in [
            (36.0, "km/h", "m/s", 10.0),
            (1.0, "V", "mV", 1_000.0),
            (20.0, "Cel", "K", 293.15),
            (50.0, "[degF]", "Cel", 10.0),
            (5.0, "Cel/s", "K/s", 5.0),
            (50.0, "%", "{share}", 0.5),
            (1.0, "kW.h", "MJ", 3.6),
            (2.0, "[Cel]", "Cel", 2.0),
        ] {
            let (from, to) = (unit(from), unit(to));
            assert!(from.is_same_dimension(&to), "{from:?} {to:?}");
            let (factor, offset) = from.to(&to);
            assert!((value * factor + offset - expected).abs() < 1e-9, "{from:?} {to:?}");
        }
        assert!(!unit("V").is_same_dimension(&unit("A")));
        assert!(!unit("mol").is_same_dimension(&Unit::none()));
        assert!(Unit::parse("furlong").is_err());
    }

    #[test]
    fn products_and_quotients_have_the_units_of_them() {
        assert!(unit("V").times(&unit("A")).is_same_dimension(&unit("W")));
        assert!(unit("m").over(&unit("s")).is_same_dimension(&unit("km/h")));
        assert_eq!(unit("Cel").per_second().text(), Some("K/s"));
        assert_eq!(unit("V").over(&unit("V")).text(), None);
        assert!(unit("m2").root().unwrap().is_same_dimension(&unit("m")));
        assert_eq!(unit("m").root(), None);
        assert_eq!(unit("ms").seconds(), Some(1e-3));
    }
}
