//! Whether the TLS files of a DAC can be used.

use super::{super::encryption, Finding};
use oasis_dac::config::TlsConfig;
use std::time::{Duration, SystemTime};

/// A certificate that expires within this time gets a warning, as in the log of the DAC.
const EXPIRY_WARNING_TIME: Duration = Duration::from_secs(21 * 86_400);
const ISSUE: &str = "issue another one: oasis ca issue server NAME";

/// Files that can be read, a key that fits the certificate, and a certificate that has not ended.
pub(super) fn check(config: &TlsConfig) -> Finding {
    match encryption::read(config) {
        Ok(None) => Finding::fine("TLS", "not wanted: only this host can connect"),
        Ok(Some(tls)) => match tls.facts() {
            Some(facts) => judge(facts.ends, &facts.last_day, SystemTime::now()),
            None => Finding::problem("TLS", "the certificate cannot be parsed", ISSUE),
        },
        Err(error) => Finding::problem(
            "TLS",
            format!("{error:#}"),
            "name files that this user can read and that belong together: tls.certificate, tls.key (oasis ca issue server)",
        ),
    }
}

fn judge(ends: SystemTime, last_day: &str, now: SystemTime) -> Finding {
    if ends < now {
        let says = format!("the certificate has expired on {last_day}: clients refuse it");
        return Finding::problem("TLS", says, ISSUE);
    }
    if ends < now + EXPIRY_WARNING_TIME {
        return Finding::warning("TLS", format!("the certificate expires soon, on {last_day}"), ISSUE);
    }
    Finding::fine("TLS", format!("certificate and key belong together, until {last_day}"))
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};
    use oasis_tls::{Authority, Lifetime};

    #[test]
    fn files_that_do_not_belong_together_are_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(folder.path()).unwrap();
        let issue = |name: &str| authority.issue_server(&[name.to_owned()], Lifetime::days(90)).unwrap();
        let (one, other) = (issue("one.example"), issue("other.example"));
        let with = |certificate, key| check(&TlsConfig { certificate, key, ..TlsConfig::default() });
        assert_eq!(check(&TlsConfig::default()).weight, Severity::Fine);
        let fine = with(one.certificate.clone(), one.key.clone());
        assert_eq!(fine.weight, Severity::Fine, "{fine:?}");
        let mixed = with(one.certificate.clone(), other.key);
        assert_eq!(mixed.weight, Severity::Problem, "{mixed:?}");
        let missing = with(one.certificate, folder.path().join("none.key"));
        assert!(missing.weight == Severity::Problem && missing.says.contains("none.key"), "{missing:?}");
    }

    #[test]
    fn a_certificate_that_ends_is_a_warning_and_then_a_problem() {
        let now = SystemTime::now();
        let day = Duration::from_secs(86_400);
        assert_eq!(judge(now - day, "d", now).weight, Severity::Problem);
        assert_eq!(judge(now + day, "d", now).weight, Severity::Warning);
        assert_eq!(judge(now + 30 * day, "d", now).weight, Severity::Fine);
    }
}
