//! Destinations that rules name but the configuration lacks.

use crate::Alarms;

impl Alarms {
    /// Rules and the destinations that they name although there is none with this name, in the order of the rules' names.
    pub fn unknown_destinations(&self) -> Vec<(String, String)> {
        let memory = self.memory();
        let named = memory.rules.values().flat_map(|facts| {
            let names = facts.notify.iter().flatten();
            names.map(move |name| (facts.name.clone(), name.clone()))
        });
        let mut unknown: Vec<_> = named.filter(|(_, name)| !memory.destinations.contains(name)).collect();
        unknown.sort();
        unknown
    }
}

#[cfg(test)]
mod tests {
    use crate::{Alarms, Limits, RuleFacts};
    use oasis_rules::program::Severity;

    #[test]
    fn a_rule_that_names_nobody_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let alarms = Alarms::open(folder.path(), Limits::default()).unwrap();
        alarms.set_destinations(&["pager".into()]).unwrap();
        let rule = |name: &str, notify: Option<&[&str]>| RuleFacts {
            name: name.into(),
            severity: Severity::High,
            latch: false,
            message: None,
            notify: notify.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        };
        let rules = [
            rule("B", Some(&["mail", "pager"])),
            rule("A", Some(&["fax"])),
            rule("C", None),
            rule("D", Some(&[])),
        ];
        alarms.set_rules(&rules).unwrap();
        let wanted = [("A", "fax"), ("B", "mail")].map(|(rule, name)| (rule.to_owned(), name.to_owned()));
        assert_eq!(alarms.unknown_destinations(), wanted);
    }
}
