//! The addresses of DACs in the order in which a node tries them: in TOML a text or a list, in an environment variable a text with commas.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{convert::Infallible, fmt, str::FromStr};

/// Begins the address of a DAC with certificates.
pub(crate) const TLS: &str = "tls://";

/// Addresses of DACs, each `HOST:PORT`, or `tls://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DacAddresses(Vec<String>);

impl DacAddresses {
    /// The addresses in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The first choice.
    pub fn first(&self) -> &str {
        self.iter().next().unwrap_or_default()
    }

    /// Whether all are of DACs with certificates.
    pub fn are_encrypted(&self) -> bool {
        self.iter().all(|address| address.starts_with(TLS))
    }

    /// Whether this is the only address.
    pub fn is_only(&self, address: &str) -> bool {
        self.0.len() == 1 && self.first() == address
    }
}

impl FromStr for DacAddresses {
    type Err = Infallible;

    /// Splits at commas.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl From<&str> for DacAddresses {
    fn from(text: &str) -> Self {
        text.split(',').collect()
    }
}

impl<T: AsRef<str>> FromIterator<T> for DacAddresses {
    fn from_iter<I: IntoIterator<Item = T>>(addresses: I) -> Self {
        let trimmed = addresses.into_iter().map(|address| address.as_ref().trim().to_owned());
        Self(trimmed.filter(|address| !address.is_empty()).collect())
    }
}

impl fmt::Display for DacAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl Serialize for DacAddresses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DacAddresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected an address HOST:PORT, or a list of them")]
        enum Form {
            One(String),
            Several(Vec<String>),
        }
        let addresses: Self = match Form::deserialize(deserializer)? {
            Form::One(text) => text.as_str().into(),
            Form::Several(list) => list.iter().collect(),
        };
        match addresses.0.is_empty() {
            true => Err(serde::de::Error::custom("expected at least one address of a DAC")),
            false => Ok(addresses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Section {
        dac: DacAddresses,
    }

    #[test]
    fn a_text_a_list_and_a_text_with_commas_are_read() {
        for (toml, wanted) in [
            ("dac = \"a:1\"", "dac = \"a:1\"\n"),
            ("dac = [\"a:1\"]", "dac = \"a:1\"\n"),
            ("dac = [\"a:1\", \"tls://b:2\"]", "dac = [\"a:1\", \"tls://b:2\"]\n"),
            ("dac = \"a:1, tls://b:2,\"", "dac = [\"a:1\", \"tls://b:2\"]\n"),
        ] {
            let section: Section = toml::from_str(toml).unwrap();
            assert_eq!(toml::to_string(&section).unwrap(), wanted, "{toml}");
        }
        for wrong in ["dac = []", "dac = \",\"", "dac = 7"] {
            assert!(toml::from_str::<Section>(wrong).unwrap_err().to_string().contains("address"), "{wrong}");
        }
        assert_eq!(DacAddresses::from("a:1 ,b:2").to_string(), "a:1,b:2");
    }
}
