//! Addresses in the configuration: a text for one, a list for several.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Addresses, each once, in their order. An empty text is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlList(Vec<String>);

impl UrlList {
    /// The addresses in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: AsRef<str>> FromIterator<T> for UrlList {
    fn from_iter<I: IntoIterator<Item = T>>(addresses: I) -> Self {
        let mut different: Vec<String> = Vec::new();
        for address in addresses {
            let address = address.as_ref().trim();
            if !address.is_empty() && !different.iter().any(|known| known == address) {
                different.push(address.into());
            }
        }
        Self(different)
    }
}

impl Serialize for UrlList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [] => to.serialize_str(""),
            [one] => to.serialize_str(one),
            several => several.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for UrlList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected an address http://HOST:PORT, or a list of them")]
        enum Form {
            One(String),
            Several(Vec<String>),
        }
        Ok(match Form::deserialize(from)? {
            Form::One(text) => text.split(',').collect(),
            Form::Several(list) => list.iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_a_list_are_read_and_what_is_named_twice_counts_once() {
        for (json, wanted) in [
            (r#""""#, r#""""#),
            ("[]", r#""""#),
            (r#""http://a:1""#, r#""http://a:1""#),
            (r#"["http://a:1", " http://b:2", "http://a:1"]"#, r#"["http://a:1","http://b:2"]"#),
            (r#""http://a:1,http://b:2""#, r#"["http://a:1","http://b:2"]"#),
        ] {
            let list: UrlList = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&list).unwrap(), wanted, "{json}");
        }
        assert!(serde_json::from_str::<UrlList>("7").unwrap_err().to_string().contains("an address"));
    }
}
