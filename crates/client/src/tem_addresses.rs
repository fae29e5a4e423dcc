//! The TEMs that were configured: in TOML a text or a list, in an environment variable a text with commas.

use crate::DacAddress;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// Most TEMs that can be named.
const MAX_TEMS: usize = 16;
/// Begins an address that is to be discovered.
const MDNS: &str = "mdns:";
/// RFC 1035 2.3.4: longest label of a name, bytes.
const LONGEST_LABEL: usize = 63;

/// Address of a TEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemAddress {
    /// Address of its page.
    Url(DacAddress),
    /// `mdns:` for all that the local network has, or `mdns:NAME` for those of this name.
    Mdns(Option<String>),
}

/// A text that names no TEM.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemAddressError {
    /// The text is not an address.
    #[error(
        "{0:?} is no address of a TEM: use http://HOST:PORT of its page, such as http://127.0.0.1:7000, with a certificate https://, \
         or mdns: to find TEMs in the local network (--tem, OASIS_TEM, node.tem)"
    )]
    Invalid(String),
    /// This program cannot discover TEMs.
    #[error(
        "{0:?} needs mDNS, which this library was built without (feature mdns): name the TEM by its address, http://HOST:PORT"
    )]
    NoMdns(String),
    /// There are too many.
    #[error("{0} TEMs are named: use at most {MAX_TEMS} (--tem, OASIS_TEM, node.tem)")]
    TooMany(usize),
}

impl TemAddress {
    /// Whether it has a certificate.
    pub fn is_encrypted(&self) -> bool {
        matches!(self, Self::Url(url) if url.is_encrypted)
    }
}

impl FromStr for TemAddress {
    type Err = TemAddressError;

    fn from_str(text: &str) -> Result<Self, TemAddressError> {
        // An error must not carry a text of any length.
        let shown = || text.chars().take(200).collect();
        if let Some(name) = text.strip_prefix(MDNS) {
            if !cfg!(feature = "mdns") {
                return Err(TemAddressError::NoMdns(shown()));
            }
            let is_name = name.len() <= LONGEST_LABEL && !name.contains(char::is_control);
            let name = is_name.then(|| Some(name.to_owned()).filter(|name| !name.is_empty()));
            return name.map(Self::Mdns).ok_or_else(|| TemAddressError::Invalid(shown()));
        }
        text.parse().map(Self::Url).map_err(|_| TemAddressError::Invalid(shown()))
    }
}

impl fmt::Display for TemAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => url.fmt(f),
            Self::Mdns(name) => write!(f, "{MDNS}{}", name.as_deref().unwrap_or_default()),
        }
    }
}

/// Addresses of TEMs, the first choice first. None means that no TEM is to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemAddresses(Vec<TemAddress>);

impl TemAddresses {
    /// Leaves out what is named twice.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(addresses: Vec<TemAddress>) -> Result<Self, TemAddressError> {
        if addresses.len() > MAX_TEMS {
            return Err(TemAddressError::TooMany(addresses.len()));
        }
        let mut different: Vec<TemAddress> = Vec::new();
        for address in addresses {
            if !different.contains(&address) {
                different.push(address);
            }
        }
        Ok(Self(different))
    }

    /// The addresses in their order.
    pub fn iter(&self) -> impl Iterator<Item = &TemAddress> {
        self.0.iter()
    }

    /// Whether no TEM is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<DacAddress> for TemAddresses {
    /// Addresses that were counted before.
    fn from_iter<I: IntoIterator<Item = DacAddress>>(urls: I) -> Self {
        Self(urls.into_iter().map(TemAddress::Url).collect())
    }
}

impl FromStr for TemAddresses {
    type Err = TemAddressError;

    /// Splits at commas.
    fn from_str(text: &str) -> Result<Self, TemAddressError> {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        Self::new(texts.map(str::parse).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for TemAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&each.join(","))
    }
}

impl Serialize for TemAddresses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => serializer.collect_str(one),
            several => serializer.collect_seq(several.iter().map(ToString::to_string)),
        }
    }
}

impl<'de> Deserialize<'de> for TemAddresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected the address of a TEM, or a list of them")]
        enum Form {
            One(String),
            Several(Vec<String>),
        }
        let text = match Form::deserialize(deserializer)? {
            Form::One(text) => text,
            Form::Several(texts) => texts.join(","),
        };
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Section {
        tem: TemAddresses,
    }

    #[test]
    fn a_text_a_list_and_a_text_with_commas_are_read() {
        for (toml, wanted) in [
            ("tem = \"http://a:1\"", "tem = \"http://a:1\"\n"),
            ("tem = [\"http://a:1\"]", "tem = \"http://a:1\"\n"),
            ("tem = \"http://a:1, https://b:2,\"", "tem = [\"http://a:1\", \"https://b:2\"]\n"),
            ("tem = [\"http://a:1\", \"http://a:1\"]", "tem = \"http://a:1\"\n"),
            ("tem = []", "tem = []\n"),
        ] {
            let section: Section = toml::from_str(toml).unwrap();
            assert_eq!(toml::to_string(&section).unwrap(), wanted, "{toml}");
        }
        for wrong in ["tem = 7", "tem = \"127.0.0.1:7071\"", "tem = [\"ftp://a\"]"] {
            assert!(toml::from_str::<Section>(wrong).unwrap_err().to_string().contains("TEM"), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_with_an_example() {
        for wrong in ["127.0.0.1:7071", "tls://127.0.0.1:7071", "tem.example.org", "mdns", "http://"] {
            let refused = wrong.parse::<TemAddresses>().unwrap_err().to_string();
            assert!(refused.contains("http://127.0.0.1:7000") && refused.contains(wrong), "{refused}");
        }
        let many = (0..17).map(|port| format!("http://a:{port}")).collect::<Vec<_>>().join(",");
        assert!(many.parse::<TemAddresses>().unwrap_err().to_string().contains("at most 16"));
    }
}
