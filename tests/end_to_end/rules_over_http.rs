//! Rules that the page writes: checked, previewed, saved and taken over by the DAC that evaluates them.

use crate::harness::{Oasis, eventually, ledger, oasis, request};
use serde_json::{Value, json};
use std::fs;

const INPUT: &str = "input cpu = \"*/processor\" : OASIS::System::LinuxProcessorProbe;\n";
const FILE: &str = "/api/v1/rules/files/page.rules";

fn loaded(dac: &Oasis, name: &str) -> Option<Value> {
    let (_, list) = request(dac, "GET", "/api/v1/rules", None);
    list["rules"].as_array()?.iter().find(|rule| rule["name"] == name).cloned()
}

#[test]
fn a_rule_is_previewed_saved_evaluated_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("a.rules"), format!("{INPUT}alarm Gone {{ raise silent(cpu) for 60s; }}\n")).unwrap();
    let dac = Oasis::dac(&["--archive", &path("samples"), "--rules", &path("a.rules")]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@50"]);
    ledger(&dac, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(20));
    eventually("the rule of the configuration", || {
        loaded(&dac, "Gone").filter(|rule| rule["instances"] == 1)
    });

    let text =
        format!("{INPUT}alarm Counted {{ raise count(cpu.idle_time >= 0, last 10) >= 10; severity low; }}\n");
    let (status, found) = request(&dac, "POST", "/api/v1/rules/preview", Some(&json!({"text": text})));
    assert_eq!((status, &found["events"][0]["rule"]), (200, &json!("Counted")), "{found}");
    assert_eq!(found["events"][0]["sequence"], 10, "{found}");

    let (status, refused) =
        request(&dac, "PUT", FILE, Some(&json!({"text": text.replace("Counted", "Gone")})));
    assert_eq!((status, &refused["type"]), (409, &json!("/problems/rule_exists")), "{refused}");
    let (status, saved) = request(&dac, "PUT", FILE, Some(&json!({"text": text})));
    assert_eq!(status, 200, "{saved}");
    let rule = eventually("the saved rule", || loaded(&dac, "Counted").filter(|rule| rule["instances"] == 1));
    assert_eq!((&rule["file"], &rule["severity"]), (&json!("page.rules"), &json!("low")), "{rule}");
    eventually("the alarm", || {
        let (_, list) = request(&dac, "GET", "/api/v1/alarms", None);
        list["alarms"].as_array()?.iter().find(|alarm| alarm["rule"] == "Counted").cloned()
    });
    let listed = oasis().args(["rules", "list", "--url", &dac.url()]).output().unwrap();
    let listed = (listed.status.code(), String::from_utf8(listed.stdout).unwrap());
    assert!(listed.0 == Some(0) && listed.1.contains("page.rules"), "{listed:?}");

    // The same name in its own file is no other rule.
    let again = json!({"text": text.replace("low", "high"), "revision": saved["revision"]});
    let (status, saved) = request(&dac, "PUT", FILE, Some(&again));
    assert_eq!(status, 200, "{saved}");
    eventually("the changed rule", || loaded(&dac, "Counted").filter(|rule| rule["severity"] == "high"));
    let (status, _) = request(&dac, "DELETE", FILE, None);
    assert_eq!(status, 204);
    eventually("the end of the rule", || loaded(&dac, "Counted").is_none().then_some(()));
    assert!(node.stop().success() && dac.stop().success());
}
