//! Settings that earlier versions had: a file with one is refused, so that nothing that it asks for is missing silently.

use anyhow::bail;
use toml::de::{DeTable, DeValue};

/// Each removed setting, and what replaces it.
const REMOVED: &[(&str, &str, &str)] = &[
    (
        "tem",
        "peers",
        "TEMs no longer exchange their lists: remove this line, and name each TEM at each DAC (url in [tem], --tem)",
    ),
    (
        "nats",
        "tem",
        "DACs are no longer listed in NATS: remove this line, and name a TEM at each DAC (url in [tem], --tem)",
    ),
];

/// Checks that a file has no removed setting.
///
/// # Errors
/// Names the line, the setting and the remedy.
pub fn check(text: &str) -> anyhow::Result<()> {
    let table = DeTable::parse(text)?;
    for (section, name, remedy) in REMOVED {
        let Some(DeValue::Table(found)) = table.get_ref().get(*section).map(|value| value.get_ref()) else {
            continue;
        };
        if let Some(value) = found.get(*name) {
            let line = text.get(..value.span().start).unwrap_or_default().matches('\n').count() + 1;
            bail!("line {line}: the setting {name} of [{section}] was removed. {remedy}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_setting_is_refused_with_its_line_and_the_remedy() {
        for (section, name, remedy) in REMOVED {
            let refused = check(&format!("\n[{section}]\n{name} = \"\"\n")).unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("line 3: the setting {name} of [{section}] was removed")),
                "{refused}"
            );
            assert!(refused.ends_with(remedy), "{refused}");
        }
        check("[tem]\nurl = \"http://127.0.0.1:7070\"\n[other]\npeers = 1\n").unwrap();
    }
}
