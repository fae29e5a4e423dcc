//! Warnings of rules whose alarms are raised again and again, with the remedy.

use oasis_alarms::{AlarmKey, Chatter, MAX_COUNTED_RAISES};
use oasis_rules::{LoadedRule, RulesState};

/// Rules that are named.
const MAX_NAMED: usize = 16;

/// A warning of each rule that chatters, and one of those beyond [`MAX_NAMED`].
pub fn warnings(found: &[Chatter], rules: &RulesState) -> Vec<String> {
    if found.is_empty() {
        return Vec::new();
    }
    let loaded = rules.loaded().rules;
    let rule_of = |chatter: &Chatter| loaded.iter().find(|rule| rule.name == chatter.rule);
    let named = found.iter().take(MAX_NAMED).map(|chatter| warning(chatter, rule_of(chatter)));
    let more = found.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| format!("{more} more rules chatter: `oasis alarms statistics` lists them"));
    named.chain(more).collect()
}

fn warning(chatter: &Chatter, rule: Option<&LoadedRule>) -> String {
    let Chatter { rule: name, alarms, example: AlarmKey { node, instance, .. }, raised_last_hour } = chatter;
    let at_least = if *raised_last_hour as usize >= MAX_COUNTED_RAISES { "at least " } else { "" };
    let others = match alarms.saturating_sub(1) {
        0 => String::new(),
        others => format!(" (and {others} other instances)"),
    };
    format!(
        "the rule {name} chatters: {node}/{instance} was raised {at_least}{raised_last_hour} times in the last hour{others}; {}",
        remedy(rule)
    )
}

fn remedy(rule: Option<&LoadedRule>) -> &'static str {
    match rule {
        Some(LoadedRule { file: None, .. }) => {
            "a limit of a PDL file has no hysteresis: move the limit, or declare an alarm with `clear` or `for` instead of it"
        }
        Some(LoadedRule { is_damped: true, .. }) => {
            "set `clear` farther away from `raise`, or a longer time after `for`"
        }
        _ => "give it hysteresis (`clear` with another limit) or a delay (`raise … for 5s`)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_rules::{Loaded, program::Severity};

    fn rule(name: &str, file: Option<&str>, is_damped: bool) -> LoadedRule {
        LoadedRule {
            name: name.into(),
            kind: "alarm",
            file: file.map(Into::into),
            inputs: Vec::new(),
            severity: Some(Severity::High),
            is_damped,
            memory_bytes: 0,
            instances: 1,
        }
    }

    fn chatter(rule: &str, alarms: usize, raised_last_hour: u32) -> Chatter {
        let example = AlarmKey { rule: rule.into(), node: "plant".into(), instance: "pump".into() };
        Chatter { rule: rule.into(), alarms, example, raised_last_hour }
    }

    #[test]
    fn a_rule_that_chatters_is_named_with_its_remedy() {
        let rules = RulesState::default();
        let loaded = vec![
            rule("Hot", Some("a.rules"), false),
            rule("Slow", Some("a.rules"), true),
            rule("Limit", None, false),
        ];
        rules.publish(Loaded { files: Vec::new(), rules: loaded });
        let found = [chatter("Hot", 1, 60), chatter("Limit", 3, 7), chatter("Slow", 1, 4)];
        let [hot, limit, slow] = &warnings(&found, &rules)[..] else { panic!("three") };
        assert!(hot.starts_with("the rule Hot chatters: plant/pump was raised at least 60 times in the last hour; give it hysteresis"), "{hot}");
        assert!(
            limit.contains("7 times in the last hour (and 2 other instances); a limit of a PDL file"),
            "{limit}"
        );
        assert!(slow.contains("farther away"), "{slow}");
        let many: Vec<_> = (0..20).map(|number| chatter(&format!("Rule {number}"), 1, 3)).collect();
        let warnings = warnings(&many, &rules);
        assert_eq!((warnings.len(), warnings[16].starts_with("4 more rules")), (17, true));
    }
}
