//! Settings of a session: `SET`, `SHOW`, and what the server reports when a session begins.

use crate::failure::{SqlFailure, code};
use std::{collections::BTreeMap, time::Duration};

/// The version that clients choose their queries by.
pub const VERSION: &str = "15.0";
/// Longest value of a setting, bytes.
const MAX_VALUE_BYTES: usize = 1_024;

/// Settings with their defaults. Names with a capital are shown so.
const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("backslash_quote", "safe_encoding"),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("DateStyle", "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("default_tablespace", ""),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("enable_seqscan", "on"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("lock_timeout", "0"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("row_security", "off"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version", VERSION),
    ("server_version_num", "150000"),
    ("session_authorization", ""),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("TimeZone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];
/// Settings that are reported to the client when a session begins, and when they change.
const REPORTED: &[&str] = &[
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];
/// Settings that keep their value whatever a client sets: answers have one form.
const FIXED: &[&str] = &[
    "bytea_output",
    "DateStyle",
    "IntervalStyle",
    "integer_datetimes",
    "in_hot_standby",
    "is_superuser",
    "max_identifier_length",
    "max_index_keys",
    "server_encoding",
    "server_version",
    "server_version_num",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
    "transaction_read_only",
    "default_transaction_read_only",
    "client_encoding",
];

/// The settings of a session.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    changed: BTreeMap<&'static str, String>,
}

/// Returns the default of a setting, with its name as it is shown.
fn find(name: &str) -> Option<(&'static str, &'static str)> {
    DEFAULTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied()
}

impl Settings {
    /// Settings of a session of this user.
    pub fn of(user: &str) -> Self {
        let user = user.chars().take(MAX_VALUE_BYTES / 4).collect();
        Self { changed: BTreeMap::from([("session_authorization", user)]) }
    }

    /// Returns a setting's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (name, default) = find(name)?;
        Some(self.changed.get(name).map_or(default, String::as_str))
    }

    /// Returns name and value of a setting.
    ///
    /// # Errors
    /// If there is none.
    pub fn show(&self, name: &str) -> Result<(&'static str, &str), SqlFailure> {
        let (known, default) = find(name).ok_or_else(|| unknown(name))?;
        Ok((known, self.changed.get(known).map_or(default, String::as_str)))
    }

    /// Changes a setting; `None` to its default. Settings of extensions are accepted and forgotten.
    ///
    /// # Errors
    /// If there is no such setting, or its value is not supported.
    pub fn set(&mut self, name: &str, value: Option<String>) -> Result<(), SqlFailure> {
        let Some((known, _)) = find(name) else {
            return if name.contains('.') { Ok(()) } else { Err(unknown(name)) };
        };
        if known == "client_encoding" {
            let encoding = value.unwrap_or_default().to_ascii_lowercase().replace(['-', '_'], "");
            return match encoding.as_str() {
                "" | "utf8" | "unicode" | "sqlascii" => Ok(()),
                _ => Err(SqlFailure::new(code::UNSUPPORTED, "client_encoding: texts are UTF8")),
            };
        }
        let is_off = value.as_deref().is_some_and(|value| ["off", "false", "0", "no"].contains(&value));
        if known.ends_with("_read_only") && is_off {
            return Err(SqlFailure::new(
                code::READ_ONLY,
                "transactions are read-only: stored samples are only read",
            ));
        }
        if FIXED.contains(&known) {
            return Ok(());
        }
        match value {
            Some(value) if value.len() > MAX_VALUE_BYTES => Err(SqlFailure::new(
                code::LIMIT,
                format!("{known}: the value has more than {MAX_VALUE_BYTES} bytes"),
            )),
            Some(value) => {
                self.changed.insert(known, value);
                Ok(())
            }
            None => {
                self.changed.remove(known);
                Ok(())
            }
        }
    }

    /// Sets everything to its default.
    pub fn reset(&mut self) {
        self.changed.retain(|name, _| *name == "session_authorization");
    }

    /// Names and values of all settings.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        DEFAULTS
            .iter()
            .map(|(name, default)| (*name, self.changed.get(name).map_or(*default, String::as_str)))
    }

    /// Settings that the client receives when the session begins.
    pub fn reported(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.all().filter(|(name, _)| REPORTED.contains(name))
    }

    /// Longest time of a statement, if the client limits it.
    pub fn statement_timeout(&self) -> Option<Duration> {
        let text = self.get("statement_timeout")?.trim();
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().ok()?;
        let millis = match text[digits..].trim() {
            "" | "ms" => number,
            "s" => number.saturating_mul(1_000),
            "min" => number.saturating_mul(60_000),
            _ => return None,
        };
        (millis > 0).then(|| Duration::from_millis(millis))
    }
}

fn unknown(name: &str) -> SqlFailure {
    let name: String = name.chars().take(100).collect();
    SqlFailure::new(code::UNKNOWN_SETTING, format!("unrecognized configuration parameter {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_and_are_shown() {
        let mut settings = Settings::of("ada");
        assert_eq!(settings.show("SEARCH_PATH").unwrap(), ("search_path", "\"$user\", public"));
        settings.set("application_name", Some("psql".into())).unwrap();
        assert_eq!(settings.get("application_name"), Some("psql"));
        settings.set("timezone", Some("Europe/Berlin".into())).unwrap();
        assert_eq!(settings.get("TimeZone"), Some("UTC"));
        assert_eq!(settings.set("nonsense", None).unwrap_err().code, code::UNKNOWN_SETTING);
        assert_eq!(
            settings.set("client_encoding", Some("LATIN1".into())).unwrap_err().code,
            code::UNSUPPORTED
        );
        assert!(settings.set("client_encoding", Some("utf-8".into())).is_ok());
        let on = settings.set("default_transaction_read_only", Some("off".into()));
        assert_eq!(on.unwrap_err().code, code::READ_ONLY);
        settings.reset();
        assert_eq!(settings.get("application_name"), Some(""));
        assert!(settings.set("application_name", Some("x".repeat(2_000))).is_err());
    }

    #[test]
    fn a_statement_timeout_has_units() {
        let mut settings = Settings::default();
        assert_eq!(settings.statement_timeout(), None);
        for (text, millis) in [("250", 250), ("2s", 2_000), ("1 min", 60_000)] {
            settings.set("statement_timeout", Some(text.into())).unwrap();
            assert_eq!(settings.statement_timeout(), Some(Duration::from_millis(millis)));
        }
    }
}
