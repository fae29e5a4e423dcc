//! A state survives only changes that it does not depend on.

use oasis_rules::{Program, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};

fn program(rules: &str) -> Program {
    let metrics = vec![Metric::new("x", MetricType::Real64), Metric::new("y", MetricType::Real64)];
    let uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap();
    let probe_type =
        ProbeType { name: "P".into(), uuid, version: "1.0".into(), doc: None, rate: None, metrics };
    let report =
        compile("a.rules".as_ref(), &format!("input p = \"*/p\" : P; {rules}"), &[probe_type.into()]);
    assert!(report.is_ok(), "{:?}", report.diagnostics);
    report.program
}

fn fingerprint(rules: &str, name: &str) -> [u8; 16] {
    let program = program(rules);
    let at = program.rules.iter().position(|rule| rule.name == name).unwrap();
    program.fingerprint(at).unwrap()
}

#[test]
fn a_rule_is_the_same_beside_other_rules_and_with_another_message() {
    let alone = fingerprint("alarm A { raise p.y > 3 for 2s; }", "A");
    for other in [
        "alarm B { raise p.x > 1; } alarm A { raise p.y > 3 for 2s; }",
        "alarm A { raise p.y > 3 for 2s; severity low; message \"too much\"; notify none; }",
        "alarm A { on raised trigger \"*/recorder\"; raise p.y > 3 for 2s; }",
        "derive D every 1s { x = p.x; } alarm C { raise D.x > 1; } alarm A { raise p.y > 3 for 2000ms; }",
    ] {
        assert_eq!(fingerprint(other, "A"), alone, "{other}");
    }
}

#[test]
fn a_rule_is_another_one_if_it_computes_something_else() {
    let alone = fingerprint("alarm A { raise p.y > 3 for 2s; }", "A");
    for other in [
        "alarm A { raise p.x > 3 for 2s; }",
        "alarm A { raise p.y > 4 for 2s; }",
        "alarm A { raise p.y > 3 for 3s; }",
        "alarm A { raise p.y > 3 for 2s; latch; }",
        "alarm A { raise p.y > 3 for 2s; on_unknown raise; }",
        "event A { when p.y > 3; }",
    ] {
        assert_ne!(fingerprint(other, "A"), alone, "{other}");
    }
}

#[test]
fn a_rule_depends_on_the_derived_instance_that_it_reads() {
    let reads = |mean: &str| {
        fingerprint(
            &format!("derive D every 1s {{ m = mean(p.x, {mean}); }} alarm A {{ raise D.m > 1; }}"),
            "A",
        )
    };
    assert_eq!(reads("5s at most 9 samples"), reads("5s at most 9 samples"));
    assert_ne!(reads("5s at most 9 samples"), reads("6s at most 9 samples"));
}

/// A state of an older program is refused if this changes.
#[test]
fn the_fingerprint_of_a_rule_with_windows_stays_the_same() {
    let rule = "alarm A { raise mean(p.x, last 5) > min(p.y, 2s at most 9 samples); clear count(p.x > 1, last 3) > 2 and rate(p.y) * 1 s > 1; }";
    let text: String = fingerprint(rule, "A").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text, "ec3c4bb39d45702d05e7bb9573e00506");
}
