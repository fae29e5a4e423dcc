//! Values of variables.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Values by the names of their variables.
pub type Values = BTreeMap<String, Value>;

/// Several values by the names of their variables.
pub type Lists = BTreeMap<String, Vec<Value>>;

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A whole number in the variable's unit.
    Number(i64),
    /// A word.
    Text(String),
}

impl Value {
    /// Parses a value of the same kind as this one.
    pub fn parse_like(&self, text: &str) -> anyhow::Result<Self> {
        match self {
            Self::Flag(_) => {
                text.parse().map(Self::Flag).with_context(|| format!("{text} is neither true nor false"))
            }
            Self::Number(_) => {
                text.parse().map(Self::Number).with_context(|| format!("{text} is no whole number"))
            }
            Self::Text(_) => Ok(Self::Text(text.to_owned())),
        }
    }

    /// A multiple of a number, rounded and at least 1; other values stay.
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Number(number) => Self::Number(((*number as f64 * factor).round() as i64).max(1)),
            other => other.clone(),
        }
    }
}

/// Every combination of a value from each list.
pub fn combinations(lists: &Lists) -> Vec<Values> {
    lists.iter().fold(vec![Values::new()], |combined, (name, values)| {
        let with = |known: &Values, value: &Value| {
            let mut known = known.clone();
            known.insert(name.clone(), value.clone());
            known
        };
        combined.iter().flat_map(|known| values.iter().map(move |value| with(known, value))).collect()
    })
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(out),
            Self::Number(number) => number.fmt(out),
            Self::Text(text) => text.fmt(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_parsed_as_its_default() {
        assert_eq!(Value::Number(1).parse_like("20").unwrap(), Value::Number(20));
        assert_eq!(Value::Flag(true).parse_like("false").unwrap(), Value::Flag(false));
        assert_eq!(Value::Text(String::new()).parse_like("20").unwrap(), Value::Text("20".into()));
        assert!(Value::Number(1).parse_like("many").is_err());
    }

    #[test]
    fn numbers_scale_and_words_do_not() {
        assert_eq!(Value::Number(20_000).scaled(0.1), Value::Number(2_000));
        assert_eq!(Value::Text("comet".into()).scaled(0.1), Value::Text("comet".into()));
    }
}
