//! Rules and alarms of a node that goes from one DAC to another: they continue there, and exist once.

use crate::{
    harness::{Oasis, eventually, eventually_shown, get, post},
    notify::Webhook,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// `Up` and `Shelved` stand as long as there are samples; `Gone` must not be raised by a DAC that the node has left.
const RULES: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;

alarm Up {
  raise cpu.idle_time >= 0;
  message "{node} is up";
}

alarm Shelved {
  raise cpu.idle_time >= 0;
}

alarm Gone {
  raise silent(cpu) for 5s;
}

derive Mean every 1s {
  idle = mean(cpu.idle_time, 1s at most 100 samples);
}
"#;

/// Connections between the DACs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    /// They relay each other.
    Relays,
    /// A TEM lists both.
    Tem,
}

/// Two DACs with the same rules.
struct Site {
    folder: TempDir,
    webhook: Webhook,
    ties: Ties,
    tem: Option<Oasis>,
    /// Addresses of the page and the data channel of each.
    addresses: [(String, String); 2],
    dacs: [Option<Oasis>; 2],
    node: Option<Oasis>,
}

impl Site {
    /// With a node at the first DAC that has two alarms: one is acknowledged, one shelved. The other DAC has a copy of that.
    fn new(ties: Ties) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rules"), RULES).unwrap();
        // The ports must be known before the processes.
        let free = || {
            let dac = Oasis::dac(&[]);
            (dac.listen().to_owned(), dac.channel().to_owned())
        };
        let tem = (ties == Ties::Tem).then(|| Oasis::tem(&[]));
        let (addresses, dacs, webhook) = ([free(), free()], [None, None], Webhook::start());
        let mut site = Self { folder, webhook, ties, tem, addresses, dacs, node: None };
        for number in 0..2 {
            site.configure(number);
            site.start(number);
        }
        let [first, second] = site.addresses.each_ref().map(|(_, channel)| channel.clone());
        site.node = Some(Oasis::node(&first, &["--dac", &second, "--probe", "processor@50"]));
        site.until(0, "Up", |alarm| alarm["state"] == "active");
        site.until(0, "Shelved", |alarm| alarm["state"] == "active");
        site.act(0, json!({"rule": "Up", "action": "acknowledge", "comment": "on my way"}));
        site.act(0, json!({"rule": "Shelved", "action": "shelve", "seconds": 3600}));
        site.until_copied(1, 0);
        site
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn configure(&self, number: usize) {
        let ties = match self.ties {
            Ties::Relays => format!("[relay]\nupstreams = [\"http://{}\"]\n", self.addresses[1 - number].0),
            Ties::Tem => String::new(),
        };
        let table = "kind = \"webhook\"\nprivate = true\nper_minute = 60000\n";
        let pager = format!("[notify.pager]\n{table}url = \"http://{}/\"\n", self.webhook.address);
        fs::write(self.path(&format!("{number}.toml")), format!("{ties}{pager}")).unwrap();
    }

    fn start(&mut self, number: usize) {
        let (listen, channel) = &self.addresses[number];
        // A DAC that stands still may have the audit log of its accounts locked.
        let paths = [
            "a.rules".into(),
            format!("{number}.toml"),
            format!("archive-{number}"),
            format!("access-{number}"),
        ];
        let [rules, config, archive, access] = paths.map(|name: String| self.path(&name));
        let (name, tem) = (Self::name(number), self.tem.as_ref().map(|tem| tem.http().to_owned()));
        let mut arguments =
            vec!["--rules", &rules, "--config", &config, "--archive", &archive, "--access", &access];
        if let Some(tem) = &tem {
            arguments.extend(["--tem", tem, "--dac-name", &name]);
        }
        self.dacs[number] = Some(Oasis::dac_at(listen, channel, &arguments));
    }

    fn name(number: usize) -> String {
        format!("hall-{number}")
    }

    /// As another DAC calls it.
    fn called(&self, number: usize) -> String {
        match self.ties {
            Ties::Relays => self.addresses[number].0.clone(),
            Ties::Tem => Self::name(number),
        }
    }

    fn dac(&self, number: usize) -> &Oasis {
        self.dacs[number].as_ref().expect("it runs")
    }

    fn kill(&mut self, number: usize) {
        self.dacs[number].take().expect("it runs").kill();
    }

    fn signal(&self, number: usize, signal: Signal) {
        let id = i32::try_from(self.dac(number).id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, signal).unwrap();
    }

    fn act(&self, number: usize, mut action: Value) {
        (action["node"], action["instance"]) = (json!("plant"), json!("processor"));
        let (status, answer) = post(self.dac(number), "/api/v1/alarms/actions", &action);
        assert_eq!(status, 200, "{answer}");
    }

    /// An alarm of a rule that a DAC keeps itself.
    fn own(&self, number: usize, rule: &str) -> Option<Value> {
        let alarms = get(self.dac(number), "/api/v1/alarms?state=all");
        let mut alarms = alarms["alarms"].as_array().unwrap().iter();
        alarms.find(|alarm| alarm["rule"] == rule && alarm["dac"].is_null()).cloned()
    }

    fn until(&self, number: usize, rule: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually_shown(rule, || {
            let own = self.own(number, rule);
            own.clone().filter(&is_so).ok_or_else(|| json!([own, self.journal(number)]))
        })
    }

    fn journal(&self, number: usize) -> Vec<Value> {
        let journal = get(self.dac(number), "/api/v1/alarms/journal");
        let entries = journal["entries"].as_array().unwrap().iter();
        entries.filter(|entry| entry["dac"].is_null()).cloned().collect()
    }

    fn state(&self, number: usize) -> Value {
        let handlers = get(self.dac(number), "/api/v1/handlers");
        let mut handlers = handlers["handlers"].as_array().unwrap().iter();
        handlers.find(|handler| handler["name"] == "rules").unwrap()["state"].clone()
    }

    /// Waits until a DAC has a copy of all that another one has by now.
    fn until_copied(&self, number: usize, of: usize) {
        let now = get(self.dac(of), "/api/v1/rules/handover")["position"].as_u64().unwrap();
        eventually_shown("a copy", || {
            let state = self.state(number);
            let copies = state["copies"]["dacs"].as_array().unwrap().iter();
            let mut positions = copies.filter(|copy| copy["dac"] == self.called(of));
            match positions.any(|copy| copy["position"].as_u64() >= Some(now)) {
                true => Ok(()),
                false => Err(state),
            }
        });
    }

    /// Waits until a DAC has taken the alarms over as operators have left them at another one.
    fn until_taken_over(&self, number: usize, from: usize, before: &[Value; 2]) {
        let as_before = |alarm: &Value, before: &Value| {
            ["state", "acknowledged", "comment", "principal", "since", "raised", "shelved_until"]
                .iter()
                .all(|member| alarm[member] == before[member])
        };
        for before in before {
            let rule = before["rule"].as_str().unwrap();
            self.until(number, rule, |alarm| as_before(alarm, before));
        }
        let cause = format!("taken over from DAC {}", self.called(from));
        let journal = self.journal(number);
        let taken = journal.iter().filter(|entry| entry["kind"] == "taken_over" && entry["cause"] == *cause);
        assert_eq!(taken.count(), 2, "{journal:#?}");
    }

    /// Both alarms as a DAC has them.
    fn both(&self, number: usize) -> [Value; 2] {
        ["Up", "Shelved"].map(|rule| self.own(number, rule).unwrap())
    }

    /// Waits until a DAC has ended the alarms that another one has.
    fn until_ended(&self, number: usize, home: usize) {
        let cause = format!("moved to DAC {}", self.called(home));
        eventually_shown("the end of the alarms", || {
            let journal = self.journal(number);
            let moved = journal.iter().filter(|entry| entry["kind"] == "moved" && entry["cause"] == *cause);
            if moved.count() >= 2 { Ok(()) } else { Err(Value::Array(journal)) }
        });
        assert_eq!((self.own(number, "Up"), self.own(number, "Shelved")), (None, None));
    }

    /// Checks that nothing was raised again, and that no one was notified twice: `Up` was raised once, and `Shelved` once before it was shelved.
    fn check_messages(&self, number: usize) {
        self.act(number, json!({"rule": "Shelved", "action": "unshelve"}));
        let mut messages = Vec::new();
        // Messages of a DAC stay in order.
        while messages.iter().filter(|message: &&(String, String)| message.0 == "Shelved").count() < 3 {
            let body = self.webhook.next().1;
            let word = |name: &str| body[name].as_str().unwrap().to_owned();
            messages.push((word("rule"), word("event")));
        }
        let of = |rule: &str| -> Vec<_> {
            let of_rule = messages.iter().filter(|message| message.0 == rule);
            of_rule.map(|message| message.1.as_str()).collect()
        };
        assert_eq!((of("Up"), of("Shelved")), (vec!["raised"], vec!["raised", "cleared", "raised"]));
    }

    /// That no DAC took the node for silent.
    fn check_silence(&self) {
        for number in (0..2).filter(|number| self.dacs[*number].is_some()) {
            let journal = self.journal(number);
            assert!(journal.iter().all(|entry| entry["rule"] != "Gone"), "{journal:#?}");
        }
    }
}

fn goes_on_after_a_kill_and_comes_back(ties: Ties) {
    let mut site = Site::new(ties);
    let before = site.both(0);
    site.kill(0);
    site.until_taken_over(1, 0, &before);
    // The former home knows the alarms from its database, and learns that the node is elsewhere.
    site.start(0);
    site.until_ended(0, 1);
    assert!(site.journal(1).iter().all(|entry| entry["kind"] != "raised"), "{:#?}", site.journal(1));
    // And back.
    site.until_copied(0, 1);
    site.kill(1);
    site.until_taken_over(0, 1, &before);
    site.check_messages(0);
    site.check_silence();
}

#[test]
fn alarms_of_a_killed_dac_go_on_at_one_that_relays_it_and_come_back() {
    goes_on_after_a_kill_and_comes_back(Ties::Relays);
}

#[test]
fn alarms_of_a_killed_dac_go_on_at_one_of_the_same_tem_and_come_back() {
    goes_on_after_a_kill_and_comes_back(Ties::Tem);
}

fn goes_on_after_an_orderly_end(ties: Ties) {
    let mut site = Site::new(ties);
    let before = site.both(0);
    assert!(site.dacs[0].take().unwrap().stop().success());
    site.until_taken_over(1, 0, &before);
    site.start(0);
    site.until_ended(0, 1);
    site.check_messages(1);
    site.check_silence();
}

#[test]
fn alarms_of_a_dac_that_ends_go_on_at_one_that_relays_it() {
    goes_on_after_an_orderly_end(Ties::Relays);
}

#[test]
fn alarms_of_a_dac_that_ends_go_on_at_one_of_the_same_tem() {
    goes_on_after_an_orderly_end(Ties::Tem);
}

/// Both DACs take the node for theirs until the first one continues.
fn exists_once_after_a_standstill(ties: Ties) {
    let site = Site::new(ties);
    let before = site.both(0);
    site.signal(0, Signal::STOP);
    site.until_taken_over(1, 0, &before);
    site.signal(0, Signal::CONT);
    site.until_ended(0, 1);
    site.check_messages(1);
    let state = eventually("what was given", || {
        let state = site.state(0);
        (state["given_nodes"] == 1).then_some(state)
    });
    assert_eq!(state["taken_nodes"], 0);
    assert_eq!(site.state(1)["taken_nodes"], 1);
}

#[test]
fn an_alarm_exists_once_after_its_dac_stood_still_and_relays_learn_of_the_move() {
    exists_once_after_a_standstill(Ties::Relays);
}

#[test]
fn an_alarm_exists_once_after_its_dac_stood_still_and_the_tem_tells_of_the_move() {
    exists_once_after_a_standstill(Ties::Tem);
}
