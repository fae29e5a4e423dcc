//! Rules of several DACs that relay each other: a rule runs where its node is, and nowhere else.

use crate::harness::{Oasis, RelayingDacs, eventually, eventually_shown, get, post};
use serde_json::{Value, json};
use std::fs;

/// `Up` stands as long as there are samples; `Gone` must not be raised by a DAC that the node has left.
const RULES: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;

alarm Up {
  raise cpu.idle_time >= 0;
  message "{node} is up";
}

alarm Gone {
  raise silent(cpu) for 5s;
}
"#;

/// Two DACs with these rules.
struct Site(RelayingDacs);

impl Site {
    fn new() -> Self {
        Self(RelayingDacs::start_both(RULES))
    }

    /// A node that prefers the first DAC.
    fn node(&self) -> Oasis {
        Oasis::node(&self.0.addresses[0].1, &["--dac", &self.0.addresses[1].1, "--probe", "processor@50"])
    }

    /// An alarm of a rule that a DAC keeps itself.
    fn own(&self, number: usize, rule: &str) -> Option<Value> {
        let alarms = get(self.0.dac(number), "/api/v1/alarms?state=all");
        let mut alarms = alarms["alarms"].as_array().unwrap().iter();
        alarms.find(|alarm| alarm["rule"] == rule && alarm["dac"].is_null()).cloned()
    }

    fn until_active(&self, number: usize, rule: &str) -> Value {
        eventually(rule, || self.own(number, rule).filter(|alarm| alarm["state"] == "active"))
    }

    fn until_relayed(&self, number: usize) {
        eventually_shown("the node at the other DAC", || {
            let nodes = get(self.0.dac(number), "/api/v1/nodes");
            let is_relayed = |node: &Value| node["name"] == "plant" && !node["path"].is_null();
            if nodes["nodes"].as_array().unwrap().iter().any(is_relayed) { Ok(()) } else { Err(nodes) }
        });
    }

    fn own_journal(&self, number: usize) -> Vec<Value> {
        let journal = get(self.0.dac(number), "/api/v1/alarms/journal");
        let entries = journal["entries"].as_array().unwrap().iter();
        entries.filter(|entry| entry["dac"].is_null()).cloned().collect()
    }
}

#[test]
fn an_alarm_exists_once_and_goes_with_its_node() {
    let mut site = Site::new();
    let _node = site.node();
    site.until_active(0, "Up");
    site.until_relayed(1);
    assert_eq!(site.own_journal(1), Vec::<Value>::new(), "its home alone evaluates the rule");
    site.0.kill(0);
    site.until_active(1, "Up");
    // The former home knows the alarm from its database, and that the node is elsewhere.
    site.0.start(0);
    let moved = eventually("the end of the alarm", || {
        site.own_journal(0).into_iter().find(|entry| entry["kind"] == "moved")
    });
    assert_eq!(moved["rule"], "Up");
    assert_eq!(moved["cause"], format!("moved to DAC {}", site.0.addresses[1].0));
    assert_eq!(site.own(0, "Up"), None);
    let is_gone = |entry: &Value| entry["rule"] == "Gone";
    assert!(!(0..2).any(|number| site.own_journal(number).iter().any(is_gone)));
    // The DAC shows the alarm of the other one.
    alarm(site.0.dac(0), "Up", |alarm| alarm["dac"] == site.0.addresses[1].0 && alarm["quality"] == "good");
    assert_eq!(alarms(site.0.dac(0)).iter().filter(|alarm| alarm["rule"] == "Up").count(), 1);
    // And back.
    site.0.kill(1);
    site.until_active(0, "Up");
}

fn alarms(dac: &Oasis) -> Vec<Value> {
    get(dac, "/api/v1/alarms?state=all")["alarms"].as_array().unwrap().clone()
}

/// Waits until an alarm matches.
fn alarm(dac: &Oasis, rule: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(rule, || {
        let alarms = alarms(dac);
        let found = alarms.iter().find(|alarm| alarm["rule"] == rule && is_so(alarm)).cloned();
        found.ok_or(Value::Array(alarms))
    })
}

fn act(dac: &Oasis, action: &str) -> Value {
    let body =
        json!({"rule": "Up", "node": "plant", "instance": "processor", "action": action, "comment": "seen"});
    let (status, answer) = post(dac, "/api/v1/alarms/actions", &body);
    assert_eq!(status, 200, "{answer}");
    answer
}

#[test]
fn relays_show_the_alarms_of_their_dacs_and_send_actions_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("a.rules"), RULES).unwrap();
    let arguments = ["--rules".into(), path("a.rules"), "--archive".into(), path("archive")];
    let arguments = arguments.each_ref().map(String::as_str);
    let home = Oasis::dac(&arguments);
    let (listen, channel) = (home.listen().to_owned(), home.channel().to_owned());
    let _node = Oasis::node(&channel, &["--probe", "processor@50"]);
    let log = || tempfile::tempfile().unwrap();
    let first = Oasis::relay_at("127.0.0.1:0", log(), &["--upstream", home.http()]);
    let second = Oasis::relay_at("127.0.0.1:0", log(), &["--upstream", first.http()]);
    let near = alarm(&first, "Up", |alarm| alarm["state"] == "active");
    assert_eq!(near["dac"], listen);
    assert_eq!(near["message"], "plant is up");
    let far = alarm(&second, "Up", |alarm| alarm["state"] == "active");
    assert_eq!((&far["dac"], far["path"].as_array().map(Vec::len)), (&json!(listen), Some(2)));
    assert_eq!(get(&second, "/api/v1/session")["alarms"], true);
    assert_eq!(get(&second, "/api/v1/alarms/statistics")["unacknowledged"], 1);

    // An action goes through both to the home, and its change comes back.
    assert_eq!(act(&second, "acknowledge")["acknowledged"], true);
    assert_eq!(alarm(&home, "Up", |_| true)["comment"], "seen");
    for relay in [&first, &second] {
        alarm(relay, "Up", |alarm| alarm["acknowledged"] == true);
    }
    let journal = get(&first, "/api/v1/alarms/journal?limit=1");
    let [newest] = &journal["entries"].as_array().unwrap()[..] else { panic!("{journal}") };
    assert_eq!((&newest["kind"], &newest["dac"]), (&json!("acknowledged"), &json!(listen)), "{journal}");
    let next = journal["next"].as_str().unwrap().replace('{', "%7B").replace('}', "%7D").replace('"', "%22");
    let journal = get(&first, &format!("/api/v1/alarms/journal?after={next}"));
    assert_eq!(journal["entries"][0]["kind"], "raised", "{journal}");
    assert_eq!(journal["next"], Value::Null, "{journal}");

    // Without the home the alarm is unknown; then it is as it was.
    home.kill();
    alarm(&first, "Up", |alarm| alarm["quality"] == "unknown" && alarm["state"] == "active");
    let _home = Oasis::dac_at(&listen, &channel, &arguments);
    for relay in [&first, &second] {
        alarm(relay, "Up", |alarm| alarm["quality"] == "good" && alarm["acknowledged"] == true);
    }
}
