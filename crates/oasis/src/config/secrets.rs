//! Which settings are secrets: a file that has one must be closed to others.

use toml::de::{DeTable, DeValue};

/// Section and key of a text that can be a secret, and whether it is.
type Secret = (&'static str, &'static str, fn(&str) -> bool);

/// All of them.
const SECRETS: &[Secret] = &[("postgresql", "url", has_password)];

/// Returns the first key with a secret, if the file has any.
pub fn found(bytes: &[u8]) -> Option<String> {
    let table = DeTable::parse(std::str::from_utf8(bytes).ok()?).ok()?;
    let text = |section: &str, key: &str| match table.get_ref().get(section)?.get_ref() {
        DeValue::Table(section) => section.get(key)?.get_ref().as_str().map(str::to_owned),
        _ => None,
    };
    let mut secrets = SECRETS
        .iter()
        .filter(|(section, key, is_secret)| text(section, key).is_some_and(|text| is_secret(&text)));
    secrets.next().map(|(section, key, _)| format!("{section}.{key}"))
}

/// Whether the address of a database has a password: `scheme://USER:PASSWORD@HOST`, or `password=` in one of its parameters.
fn has_password(url: &str) -> bool {
    let user = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next()?.rsplit_once('@'));
    let in_authority =
        user.and_then(|(user, _)| user.split_once(':')).is_some_and(|(_, word)| !word.is_empty());
    in_authority || url.split(['?', '&', ' ']).any(|pair| pair.trim_start().starts_with("password"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_wherever_it_stands() {
        let found = |url: &str| found(format!("[postgresql]\nurl = {url:?}\n").as_bytes());
        for url in [
            "postgresql://ada:secret@host/plant",
            "postgresql://host/plant?user=ada&password=secret",
            "host=/run/postgresql password=secret dbname=plant",
            "password = secret host=x",
        ] {
            assert_eq!(found(url).as_deref(), Some("postgresql.url"), "{url}");
        }
        for url in ["", "postgresql://ada@host:5432/plant", "host=/run/postgresql user=ada dbname=plant"] {
            assert_eq!(found(url), None, "{url}");
        }
        assert_eq!(super::found(b"[node]\nname = \"password=x\"\n"), None);
    }
}
