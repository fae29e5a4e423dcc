//! Rules over nodes of two DACs that relay each other: one of the DACs evaluates each of them, and the other one continues if that is killed.

use crate::harness::{Oasis, RelayingDacs, eventually_shown, get};
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write as _};

/// Number of rules: enough that each DAC has some, unless the hash is very unkind. No test depends on that.
const RULES: usize = 8;

/// Two DACs with the same rules, which join the nodes `a` and `b`.
struct Site(RelayingDacs);

impl Site {
    fn new() -> Self {
        let mut rules = String::new();
        for node in ["a", "b"] {
            writeln!(rules, "input {node} = \"{node}/processor\" : OASIS::System::LinuxProcessorProbe;")
                .unwrap();
        }
        for number in 0..RULES {
            writeln!(rules, "alarm Both{number} {{ raise a.idle_time >= 0 and b.idle_time >= 0; }}").unwrap();
        }
        Self(RelayingDacs::start_both(&rules))
    }

    /// A node that prefers a DAC.
    fn node(&self, name: &str, number: usize) -> Oasis {
        let [first, other] = [number, 1 - number].map(|number| self.0.addresses[number].1.clone());
        let arguments = ["node", "--name", name, "--dac", &first, "--dac", &other, "--probe", "processor@50"];
        Oasis::start_as_written(crate::harness::oasis(), &arguments)
    }

    /// The rules whose alarms stand at a DAC, as it shows them: its own ones, or those of the other one.
    fn standing(&self, number: usize, is_own: bool) -> BTreeSet<String> {
        let alarms = get(self.0.dac(number), "/api/v1/alarms?state=all");
        let alarms = alarms["alarms"].as_array().unwrap().iter();
        let stands = |alarm: &&Value| alarm["state"] == "active" && alarm["dac"].is_null() == is_own;
        alarms.filter(stands).map(|alarm| alarm["rule"].as_str().unwrap().to_owned()).collect()
    }

    fn state(&self, number: usize) -> Value {
        let handlers = get(self.0.dac(number), "/api/v1/handlers");
        let mut handlers = handlers["handlers"].as_array().unwrap().iter();
        handlers.find(|handler| handler["name"] == "rules").unwrap()["state"].clone()
    }

    /// Waits until these alarms stand at a DAC, and it shows these of the other one, and no more.
    fn until(&self, number: usize, own: &BTreeSet<String>, other: &BTreeSet<String>) {
        eventually_shown("the alarms", || {
            let found = [self.standing(number, true), self.standing(number, false)];
            let state = self.state(number);
            let counts = [&state["joins"], &state["joins_elsewhere"]];
            let is_so = found == [own.clone(), other.clone()] && counts == [own.len(), other.len()];
            if is_so { Ok(()) } else { Err(serde_json::json!([found, state])) }
        });
    }

    /// Returns the entries of a kind in a DAC's own journal.
    fn journal(&self, number: usize, kind: &str) -> Vec<String> {
        let journal = get(self.0.dac(number), "/api/v1/alarms/journal?limit=1000");
        let entries = journal["entries"].as_array().unwrap().iter();
        let of_kind = entries.filter(|entry| entry["dac"].is_null() && entry["kind"] == kind);
        let mut rules: Vec<_> = of_kind.map(|entry| entry["rule"].as_str().unwrap().to_owned()).collect();
        rules.sort_unstable();
        rules
    }
}

#[test]
fn one_of_two_dacs_evaluates_a_rule_over_nodes_of_both_and_the_other_one_after_a_kill() {
    let mut site = Site::new();
    let (none, all) = (BTreeSet::new(), (0..RULES).map(|number| format!("Both{number}")).collect());
    let _a = site.node("a", 0);
    eventually_shown("what is missing", || {
        let state = site.state(0);
        let is_so = state["joins_waiting"] == RULES && state["missing_node"] == "b" && state["joins"] == 0;
        if is_so { Ok(()) } else { Err(state) }
    });
    let _b = site.node("b", 1);
    eventually_shown("the alarms", || {
        let own = [0, 1].map(|number| site.standing(number, true));
        if own[0].len() + own[1].len() == RULES { Ok(()) } else { Err(serde_json::json!(own)) }
    });
    let [first, second] = [0, 1].map(|number| site.standing(number, true));
    assert_eq!(&first | &second, all, "exactly one DAC evaluates each");
    // Both show all.
    site.until(0, &first, &second);
    site.until(1, &second, &first);
    site.0.kill(0);
    // The node `a` comes to the second DAC, which has all then. Nothing is raised again.
    site.until(1, &all, &none);
    assert_eq!(site.journal(1, "raised"), second.iter().cloned().collect::<Vec<_>>());
    assert_eq!(site.journal(1, "taken_over"), first.iter().cloned().collect::<Vec<_>>());
    // The first one has its alarms in its database, and learns that another one has them.
    site.0.start(0);
    site.until(0, &none, &all);
    site.until(1, &all, &none);
    assert_eq!(site.journal(0, "moved"), first.into_iter().collect::<Vec<_>>());
    assert_eq!(site.journal(0, "cleared"), Vec::<String>::new());
    assert_eq!(site.journal(1, "cleared"), Vec::<String>::new());
}
