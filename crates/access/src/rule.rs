//! Rules: these verbs, on what matches.

use crate::{
    pattern::{Pattern, PatternError},
    verb::{VerbError, Verbs},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Permits verbs on the instances whose node and name match. Rules only add: what no rule permits is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The permitted verbs.
    pub verbs: Verbs,
    /// Nodes.
    #[serde(default = "all", skip_serializing_if = "Pattern::is_all")]
    pub node: Pattern,
    /// Instances of these nodes.
    #[serde(default = "all", skip_serializing_if = "Pattern::is_all")]
    pub instance: Pattern,
}

fn all() -> Pattern {
    Pattern::All
}

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A verb is unknown.
    #[error(transparent)]
    Verb(#[from] VerbError),
    /// A pattern is not one.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// There is a node and no instance.
    #[error("{0:?} names no instances: write NODE/INSTANCE, such as \"{0}/*\" for all of a node")]
    NoInstance(String),
    /// Something else than verbs and one target. An empty variable of a shell must not permit everything.
    #[error(
        "{0:?} has no target after its space: write NODE/INSTANCE there, such as \"plant-7/*\", or * for everything"
    )]
    NoTarget(String),
    /// A second target, or a space after a comma.
    #[error(
        "{0:?} has a space: write VERB,VERB NODE/INSTANCE with one space, and a rule for each target; a * stands for the space of a name"
    )]
    Space(String),
}

impl Rule {
    /// Parses the target of a rule: `NODE/INSTANCE`, or `*` for everything. The node ends at the first slash.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse_target(text: &str) -> Result<(Pattern, Pattern), RuleError> {
        match text.split_once('/') {
            Some((node, instance)) => Ok((node.parse()?, instance.parse()?)),
            None if text == "*" => Ok((Pattern::All, Pattern::All)),
            None => Err(RuleError::NoInstance(shortened(text))),
        }
    }
}

/// At most 40 characters of a text from outside.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// As on the command line: `VERB,VERB NODE/INSTANCE`; without a target, everything.
impl FromStr for Rule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let rule = text.trim_start();
        let (verbs, target) = match rule.split_once(char::is_whitespace) {
            Some((verbs, target)) => (verbs, target.trim()),
            None => (rule, "*"),
        };
        if target.is_empty() {
            return Err(RuleError::NoTarget(shortened(text)));
        }
        if target.contains(char::is_whitespace) {
            return Err(RuleError::Space(shortened(target)));
        }
        let (node, instance) = Self::parse_target(target)?;
        Ok(Self { verbs: Verbs::parse(verbs.split(','))?, node, instance })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.verbs.words().join(","), self.node, self.instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_verbs_and_a_target() {
        let rule: Rule = "read,command:enable plant-*/network/eth0".parse().unwrap();
        assert_eq!(
            (rule.node.to_string(), rule.instance.to_string()),
            ("plant-*".into(), "network/eth0".into())
        );
        assert_eq!(rule.to_string().parse(), Ok(rule));
        let everything: Rule = "read".parse().unwrap();
        assert!(everything.node.is_all() && everything.instance.is_all());
        assert!(matches!("read plant".parse::<Rule>(), Err(RuleError::NoInstance(_))));
        assert!(matches!("reed */*".parse::<Rule>(), Err(RuleError::Verb(_))));
        assert!(matches!("read /x".parse::<Rule>(), Err(RuleError::Pattern(_))));
    }

    #[test]
    fn a_rule_has_one_space_and_something_after_it() {
        for odd in ["read a/* x", "read a/* b/*", "read, export a/*", "read plant 7/*", "read a/*\tx"] {
            let refused = odd.parse::<Rule>().unwrap_err();
            assert!(matches!(refused, RuleError::Space(_)), "{odd}: {refused}");
        }
        for open in ["read ", "read  ", "read\t"] {
            let refused = open.parse::<Rule>().unwrap_err();
            assert_eq!(refused, RuleError::NoTarget(open.into()));
            assert!(refused.to_string().contains("or * for everything"), "{refused}");
        }
        let rule = "read plant*7/*".parse::<Rule>().unwrap();
        assert!(rule.node.matches("plant 7"), "a star stands for the space of a name");
        for same in [" read plant*7/*", "read  plant*7/* "] {
            assert_eq!(same.parse::<Rule>().as_ref(), Ok(&rule), "{same:?}");
        }
    }
}
