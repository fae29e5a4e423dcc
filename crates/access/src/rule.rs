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
            None => Err(RuleError::NoInstance(text.chars().take(40).collect())),
        }
    }
}

/// As on the command line: `VERB,VERB NODE/INSTANCE`; without a target, everything.
impl FromStr for Rule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (verbs, target) = text.split_once(' ').unwrap_or((text, "*"));
        let (node, instance) = Self::parse_target(target.trim_start())?;
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
}
