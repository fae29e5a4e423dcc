//! Texts that compile, and the errors of others.

use crate::common::{self, compiled, rendered};
use oasis_rules::{
    EventKind, Placeholder,
    program::{ActionSpec, Alignment, Body, Command, Target},
};
use oasis_wire::{quantity::Hertz, schema::ProbeType};
use std::sync::Arc;

const DOCS: &str = include_str!("../../../../docs/reference/rules.md");

#[test]
fn every_construct_compiles() {
    let report = compiled(
        r#"
        alarm Hot { raise pump.temperature > 95 Cel for 2s; clear pump.temperature < 363.15 K for 10s;
                    severity high; latch; on_unknown keep; }
        alarm Rising { raise rate(pump.temperature, 1s) > 5 Cel/s; }
        alarm Silent { raise silent(pump) for 3s; severity critical; }
        alarm Shaky { raise count(pump.vibration > 4, last 5) >= 3; }
        alarm Shakier { raise 3 <= count(pump.vibration > 0.4 [cm/s], 10s); on_unknown raise; }
        alarm Busy { raise rate(pump.starts) * 60 > 2 and not (pump.state == CLOSED or pump.pressed); }
        alarm Far { raise abs(pump.pose.x - 3 mm) >= 2 m; on_unknown clear; }
        event Opened { when pump.state == OPEN then pump.flow > 0.1 within 500ms; }
        event Failed { when pump.state == FAILED; }
        derive Minute every 1min { flow = mean(pump.flow, 1min); is_hot = max(pump.temperature, last 3) > 80 Cel; };
        derive Hour every 1h { flow = mean(Minute.flow, 1h) / 1000; }
        alarm Dry { raise Hour.flow < 0.1 l/min; }
        alarm Warm { raise Minute.is_hot; }
        check Brake { after rising(pump.pressed): always[0s, 5s] pump.flow < 3; }
        alarm Loud { raise pump.vibration > 9; message "{rule}: pump {node}/{instance} shakes: {value} > {limit} since {since}";
                     notify mail, "night shift"; on raised hertz 100 pump; on raised trigger "*/recorder";
                     on cleared demand pump; on cleared demand-off "plant-*/pump 1"; }
        alarm Lost { raise silent(pump) for 3s; notify none; on raised sample-now "*/wheel"; on cleared enable pump; }
        event Shut { when pump.state == CLOSED then pump.flow < 1 within 1s; on matched disable "*/x"; on violated sample-now pump; }
        check Fast { after wheel.speed > 30 km/h: always[1s, 2s] mean(wheel.speed, 2s at most 20 samples) < 20; }
        "#,
    );
    assert!(report.is_ok(), "{}", rendered(&report));
    assert_eq!(report.program.rules.len(), 18);
    assert_eq!(report.program.inputs[0].columns.len(), 7);
}

/// The first error of a rule: its code, its message, and the remedy.
fn refused(rule: &str) -> (String, String, String) {
    let report = compiled(rule);
    let Some(wrong) = report.diagnostics.first() else { panic!("{rule} compiles") };
    assert!(!rendered(&report).is_empty());
    let code = oasis_pdl::ErrorCode::name(wrong.code);
    (code, wrong.message.clone(), wrong.help.clone().unwrap_or_default())
}

#[test]
fn instances_of_other_nodes_are_joined() {
    let feed = "input feed = \"hall-b/pump *\" : Plant::Pump; input one = \"site/pump\" : Plant::Pump;";
    let report = compiled(&format!(
        "{feed} alarm A {{ raise feed.temperature > linear(one.temperature, 2s) + 3 K; clear nearest(one.state) == OPEN; }}"
    ));
    assert!(report.is_ok(), "{}", rendered(&report));
    let feeds = &report.program.rules[0].feeds;
    let alignments: Vec<_> = feeds.iter().map(|feed| (feed.alignment, feed.max_age)).collect();
    let s = 1_000_000_000;
    assert_eq!(alignments, [(Alignment::Linear, 2 * s), (Alignment::Nearest, 10 * s)]);
    assert!(report.explain().contains("on the clock of the DAC"), "{}", report.explain());
    for (value, code, message) in [
        ("linear(one.pressed)", "R0012", "`linear` takes a number"),
        ("linear(mean(one.temperature, 1s), 2s) > 3", "R0015", "`linear` takes a value without memory"),
        ("nearest(rising(one.pressed))", "R0015", "`nearest` takes a value without memory"),
        ("nearest(one.temperature, last 3) > 3", "R0015", "`nearest` takes a duration"),
        ("linear(one.temperature) > 3 l/min", "R0013", "cannot compare"),
    ] {
        let (found, says, _) = refused(&format!("{feed} alarm A {{ raise feed.pressed and {value}; }}"));
        assert!(found == code && says.contains(message), "{value}: {found} {says}");
    }
    let many = "input feed = \"site/pump\" : Plant::Pump; input all = \"hall-b/pump *\" : Plant::Pump;";
    let (code, message, _) = refused(&format!("{many} alarm A {{ raise feed.pressed and all.pressed; }}"));
    assert_eq!((&*code, &*message), ("R0017", "`feed` is one instance, and `all` many"));
}

#[test]
fn each_error_says_what_is_wrong_and_the_remedy() {
    for (rule, code, message, help) in [
        ("alarm A { raise pump.temperature > 95 Cel for 2s }", "R0001", "missing `;` after `raise`", ""),
        ("alarm A { raise pump.pressed && pump.pressed; }", "R0001", "missing `;`", "write `and`"),
        ("alarm A { raise pump.flow = 3; }", "R0001", "missing `;`", "compare with `==`"),
        ("alert A { raise pump.pressed; }", "R0001", "expected a declaration", "did you mean `alarm`?"),
        ("alarm A { raise 0 < pump.flow < 3; }", "R0001", "comparisons cannot be chained", "0 < x and x < 9"),
        (
            "alarm A { raise pump.pressed; severity hihg; }",
            "R0001",
            "expected a severity, found `hihg`",
            "`high`",
        ),
        ("alarm A { raise pump.flow > 3 ° ; }", "R0002", "unexpected character", "write `Cel`"),
        ("alarm A { raise /* pump.pressed; }", "R0003", "unterminated comment", "*/"),
        ("alarm pump { raise pump.pressed; }", "R0005", "duplicate `pump`", ""),
        ("alarm A { raise pumpe.pressed; }", "R0006", "unknown name `pumpe`", "did you mean `pump`?"),
        ("input x = \"*/x\" : Pump;", "R0007", "unknown probe type `Pump`", "did you mean `Plant::Pump`?"),
        (
            "alarm A { raise pump.temprature > 3 Cel; }",
            "R0008",
            "unknown metric",
            "did you mean `temperature`?",
        ),
        (
            "alarm A { raise avg(pump.flow, 10s) > 3; }",
            "R0009",
            "unknown function `avg`",
            "did you mean `mean`?",
        ),
        ("alarm A { raise pump.state == OPENED; }", "R0010", "unknown enumerator", "did you mean `OPEN`?"),
        ("alarm A { raise pump.flow > 3 furlong; }", "R0011", "unknown unit `furlong`", "braces"),
        ("alarm A { raise pump.flow > 3 m/pump.flow; }", "R0011", "unknown unit `pump`", ""),
        ("alarm A { raise pump.flow; }", "R0012", "expected a condition, found a number", "compare it"),
        ("alarm A { raise pump.name > 3; }", "R0012", "the metric is text", ""),
        ("alarm A { raise pump.pressed == 1; }", "R0012", "a condition is not compared", "not x"),
        ("alarm A { raise pump.state > OPEN; }", "R0012", "values of an enum have no order", "=="),
        ("alarm A { raise pump > 3; }", "R0012", "`pump` is an input, and not a value", "pump.METRIC"),
        ("alarm A { raise pump.temperature > 3 m; }", "R0013", "cannot compare `Cel` and `m`", "`Cel`"),
        (
            "alarm A { raise rate(pump.temperature, 1s) > 3 Cel; }",
            "R0013",
            "cannot compare `K/s` and `Cel`",
            "",
        ),
        ("alarm A { raise pump.temperature + pump.flow > 3; }", "R0013", "cannot add `Cel` and `l/min`", ""),
        ("alarm A { raise pump.pressed for 2; }", "R0014", "expected a duration", "500ms"),
        ("alarm A { raise pump.pressed for 8d; }", "R0014", "duration of more than 7 d", ""),
        ("alarm A { raise mean(pump.flow) > 3; }", "R0015", "`mean` needs a window", "mean(x, 10s)"),
        ("alarm A { raise mean(pump.flow, 1h) > 3; }", "R0015", "at most 100000 are allowed", "shorten it"),
        ("alarm A { raise mean(wheel.speed, 10s) > 3; }", "R0016", "has no bound", "at most 1000 samples"),
        ("alarm A { raise pump.flow > wheel.speed; }", "R0017", "do not correspond", "as many `*` in both"),
        (
            "derive D every 1s { x = pump.flow; } alarm A { raise D.x > wheel.speed; }",
            "R0017",
            "a rule reads inputs, or one derived instance",
            "",
        ),
        ("alarm A { raise hold(pump.flow) > 3; }", "R0012", "a value of one other input", ""),
        ("alarm A { raise linear(pump.flow, 2s) > 3; }", "R0012", "`linear` takes a value of one other", ""),
        ("alarm A { raise 3 > 2; }", "R0018", "`A` reads no samples", "pump.temperature"),
        ("derive D every 1s { x = D.x; }", "R0019", "`D` is computed from itself", ""),
        ("alarm A { severity high; }", "R0020", "alarm without `raise`", "raise CONDITION"),
        ("alarm A { raise pump.pressed; latch; latch; }", "R0021", "duplicate `latch`", ""),
        ("input x = \"pump\" : Plant::Pump;", "R0022", "names no instances", "*/processor"),
        (
            "alarm A { raise silent(pump) or pump.pressed; }",
            "R0023",
            "`silent` can only be",
            "an alarm of its own",
        ),
        ("alarm A { raise silent(pump); }", "R0023", "`silent` can only be", "for 3s"),
        (
            "alarm A { raise pump.pressed; message \"{nodes} is hot\"; }",
            "R0026",
            "`{nodes}` is no placeholder",
            "did you mean `{node}`?",
        ),
        (
            "alarm A { raise pump.pressed; message \"50 } \"; }",
            "R0026",
            "`}` is no placeholder",
            "{rule}, {node}",
        ),
        ("alarm A { raise pump.pressed; message \"a\tb\"; }", "R0026", "a message has printable text", ""),
        ("alarm A { raise pump.pressed; message \" \"; }", "R0026", "a message has printable text", ""),
        (
            "alarm A { raise pump.pressed; message hot; }",
            "R0001",
            "expected the message in double quotes",
            "",
        ),
        ("alarm A { raise pump.pressed; message \"a\"; message \"b\"; }", "R0021", "duplicate `message`", ""),
        ("alarm A { raise pump.pressed; notify mail, none; }", "R0001", "expected a destination", ""),
        ("alarm A { raise pump.pressed; notify mail, mail; }", "R0005", "duplicate destination `mail`", ""),
        ("alarm A { raise pump.pressed; notify \"\"; }", "R0026", "the name of a destination", ""),
        (
            "alarm A { raise pump.pressed; on matched trigger pump; }",
            "R0001",
            "what the rule acts on",
            "raised",
        ),
        (
            "event A { when pump.pressed; on raised trigger pump; }",
            "R0001",
            "what the rule acts on",
            "matched",
        ),
        ("alarm A { raise pump.pressed; on raised triger pump; }", "R0001", "a command", "`trigger`"),
        ("alarm A { raise pump.pressed; on raised sample - now pump; }", "R0001", "a command", "sample-now"),
        ("alarm A { raise pump.pressed; on raised sample-later pump; }", "R0001", "a command", "sample-now"),
        ("alarm A { raise pump.pressed; on raised hertz pump; }", "R0001", "expected a rate in hertz", ""),
        ("alarm A { raise pump.pressed; on raised hertz 2000 pump; }", "R0028", "0.01 to 1000 Hz", ""),
        ("alarm A { raise pump.pressed; on raised trigger; }", "R0001", "an input, or NODE/INSTANCE", ""),
        (
            "alarm A { raise pump.pressed; on raised trigger \"recorder\"; }",
            "R0022",
            "names no instances",
            "",
        ),
        ("alarm A { raise pump.pressed; on raised trigger wheel; }", "R0027", "does not read", "`pump`"),
        ("alarm A { raise pump.pressed; on raised trigger pumps; }", "R0006", "`pumps` is not", "`pump`?"),
    ] {
        let found = refused(rule);
        assert!(DOCS.contains(&format!("| {code} |")), "docs/reference/rules.md lacks {code}");
        assert_eq!(found.0, code, "{rule}: {found:?}");
        assert!(found.1.contains(message) && found.2.contains(help), "{rule}: {found:?}");
    }
}

#[test]
fn a_cycle_of_derived_instances_is_refused_once() {
    let report = compiled(
        "derive A every 1s { x = B.x; } derive B every 1s { x = A.x + C.x; } derive C every 1s { x = B.x; }",
    );
    let messages: Vec<_> =
        report.diagnostics.iter().map(|wrong| (&*wrong.message, wrong.note.as_deref())).collect();
    assert_eq!(messages, [("`A` is computed from itself", Some("`A` reads `B` reads `A`"))]);
}

#[test]
fn a_type_of_another_program_is_named_in_quotes() {
    let mut types = common::types();
    types.push(Arc::new(ProbeType { name: "geometry_msgs/Twist".into(), ..(*types[1]).clone() }));
    let text =
        "input robot = \"*/cmd_vel\" : \"geometry_msgs/Twist\"; alarm Fast { raise robot.speed > 2 m/s; }";
    let report = oasis_rules::compile("a.rules".as_ref(), text, &types);
    assert!(report.is_ok(), "{}", rendered(&report));
    assert_eq!(report.program.inputs[0].probe_type, "geometry_msgs/Twist");
    let laid_out = oasis_rules::format("a.rules".as_ref(), text).unwrap();
    assert!(laid_out.starts_with("input robot = \"*/cmd_vel\" : \"geometry_msgs/Twist\";\n"), "{laid_out}");
}

#[test]
fn an_empty_file_is_an_error() {
    let report = oasis_rules::compile("a.rules".as_ref(), "// Nothing yet.\n", &[]);
    let codes: Vec<_> =
        report.diagnostics.iter().map(|wrong| oasis_pdl::ErrorCode::name(wrong.code)).collect();
    assert_eq!(codes, ["R0025"]);
}

#[test]
fn an_error_hides_no_other_one() {
    let report =
        compiled("alarm A { raise; }\nalarm B { raise pump.flow; }\nalarm C { raise pump.pressed; }");
    assert_eq!(report.diagnostics.len(), 2, "{}", rendered(&report));
    assert_eq!(report.program.rules.len(), 1);
}

#[test]
fn names_files_and_expressions_are_bounded() {
    let long = "x".repeat(65);
    let deep = format!("alarm A {{ raise {}pump.pressed{}; }}", "(".repeat(33), ")".repeat(33));
    let broad = format!("alarm A {{ raise pump.flow > 0{}; }}", " + 1".repeat(300));
    let many = "event E { when pump.pressed; }".repeat(1_001);
    let wordy = format!("alarm A {{ raise pump.pressed; message \"{}\"; }}", "x".repeat(257));
    let names: Vec<_> = (0..9).map(|number| format!("d{number}")).collect();
    let loud = format!("alarm A {{ raise pump.pressed; notify {}; }}", names.join(","));
    let named = format!("alarm A {{ raise pump.pressed; notify \"{long}\"; }}");
    let busy = format!("event E {{ when pump.pressed; {} }}", "on matched trigger pump; ".repeat(9));
    for rule in [
        &wordy,
        &loud,
        &named,
        &busy,
        &*format!("alarm {long} {{ raise pump.pressed; }}"),
        &deep,
        &broad,
        &many,
    ] {
        assert!(
            compiled(rule).diagnostics.iter().any(|wrong| oasis_pdl::ErrorCode::name(wrong.code) == "R0004"),
            "{rule:.60}"
        );
    }
    let huge = compiled(&" ".repeat(1024 * 1024));
    assert!(huge.diagnostics[0].message.contains("at most 1048576"));
}

#[test]
fn a_description_says_what_a_rule_does_and_what_it_takes() {
    let report = compiled(
        "alarm Hot { raise mean(pump.temperature,\n last 5) > 95 for 2s; clear pump.temperature < 90; latch; }
         alarm Gone { raise silent(pump) for 3s; message \"{node} is gone\"; notify mail, pager;
                      on raised hertz 0.5 pump; on cleared demand-off \"*/wheel\"; }
         alarm Calm { raise pump.pressed; notify none; }
         event Shut { when pump.state == CLOSED; on matched trigger pump; }",
    );
    let text = report.explain();
    for sentence in [
        "input pump\n  The instances */pump* of the type Plant::Pump; each has states of its own.",
        "Raises an alarm of severity medium when `mean(pump.temperature, last 5) > 95` has been true for 2 s.",
        "Clears it when `pump.temperature < 90` is true. It stays until it is acknowledged.",
        "when pump has sent no sample for 3 s. Clears it at the next sample.",
        "Reads input pump. Takes at most",
        "Its message is \"{node} is gone\". Notifies mail, pager. When raised, sends `hertz 0.5` to the instance of pump. \
         When cleared, sends `demand-off` to the instances */wheel.",
        "Nobody is notified.",
        "becomes true. When matched, sends `trigger` to the instance of pump.",
    ] {
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn a_program_has_what_follows_its_events() {
    let report = compiled(
        "derive D every 1s { x = mean(pump.flow, 1s); }
         alarm A { raise D.x > 5; message \"{value}\"; notify mail; on raised hertz 100 pump; on cleared trigger \"*/r\"; }
         alarm B { raise D.x > 6; notify none; }
         alarm C { raise D.x > 7; }",
    );
    assert!(report.is_ok(), "{}", rendered(&report));
    let alarms: Vec<_> = report
        .program
        .rules
        .iter()
        .filter_map(|rule| match &rule.body {
            Body::Alarm(alarm) => Some(alarm),
            _ => None,
        })
        .collect();
    let [first, second, third] = &*alarms else { panic!("{alarms:?}") };
    assert_eq!(
        (first.message.as_deref(), first.notify.as_deref()),
        (Some("{value}"), Some(&["mail".to_owned()][..]))
    );
    let hertz = Command::Hertz(Hertz::new(100.0).unwrap());
    assert_eq!(
        first.actions,
        [
            ActionSpec { on: EventKind::Raised, command: hertz, target: Target::Source },
            ActionSpec {
                on: EventKind::Cleared,
                command: Command::Trigger,
                target: Target::Pattern("*/r".into())
            },
        ]
    );
    assert_eq!((second.notify.as_deref(), third.notify.as_deref()), (Some(&[][..]), None));
}

#[test]
fn names_in_a_message_are_text() {
    let text = oasis_rules::fill("{node} {value}{limit} } {x}", |of| match of {
        Placeholder::Node => Some("{value}".into()),
        Placeholder::Value => Some("7".into()),
        _ => None,
    });
    assert_eq!(text, "{value} 7- } {x}");
}

#[test]
fn a_longer_window_takes_more_memory() {
    let bytes = |window: &str| {
        let report = compiled(&format!("alarm A {{ raise mean(pump.flow, {window}) > 1; }}"));
        report.program.rules[0].memory_bytes()
    };
    assert_eq!(bytes("last 15") - bytes("last 5"), 240);
    // 100 Hz, a tenth more for jitter, and two for the ends.
    assert_eq!(bytes("1s") - bytes("last 1"), 24 * 111);
    assert_eq!(bytes("1s at most 40 samples"), bytes("last 40"));
}

#[test]
fn an_alarm_that_the_same_values_raise_and_clear_is_warned_of() {
    let warned = |conditions: &str| {
        let report = compiled(&format!("alarm A {{ {conditions} }}"));
        assert!(report.is_ok() && report.program.rules.len() == 1, "{conditions}: {}", rendered(&report));
        let findings = report.findings();
        findings.first().map(|found| {
            let json = found.to_json(&report.sources);
            assert_eq!((&json["code"], &json["severity"]), (&"R0029".into(), &"warning".into()));
            found.render(&report.sources, false)
        })
    };
    for (conditions, value) in [
        ("raise pump.flow < 1000; clear pump.flow < 2000;", "such as 0 l/min"),
        ("raise pump.flow > 5 for 2s; clear pump.flow < 10 for 1s;", "such as 7.5 l/min"),
        ("raise pump.temperature > 50; clear pump.temperature < 330 K;", "such as 53.4"),
        ("raise pump.flow >= 5; clear 5 >= pump.flow;", "such as 5 l/min"),
        ("raise not (pump.flow < 5); clear pump.flow > 9 or pump.flow < 1;", "such as 18 l/min"),
        ("raise pump.state == OPEN; clear pump.state != FAILED;", "such as 1"),
        ("raise pump.starts > 5; clear pump.starts < 7;", "such as 6"),
    ] {
        let text = warned(conditions).unwrap_or_else(|| panic!("no warning: {conditions}"));
        assert!(text.starts_with("warning[R0029]: `A` is raised and cleared by the same values"), "{text}");
        assert!(text.contains(value) && text.contains("help: let the conditions exclude"), "{text}");
    }
    for conditions in [
        "raise pump.flow < 1000; clear pump.flow > 2000;",
        "raise pump.flow < 1000; clear pump.flow >= 1000;",
        "raise pump.starts > 5; clear pump.starts < 6;",
        "raise pump.state == OPEN; clear pump.state == CLOSED;",
        "raise pump.temperature > 50; clear pump.temperature < 300 K;",
        // Not to be said of two values, or of one in time.
        "raise pump.flow < 1000; clear pump.temperature < 2000;",
        "raise pump.flow < 1000; clear mean(pump.flow, last 3) < 2000;",
        "raise pump.flow < 1000 and pump.pressed; clear pump.flow < 2000;",
        "raise rising(pump.flow > 5); clear pump.flow > 1;",
        "raise pump.flow < pump.flow; clear pump.flow < 2000;",
        "raise pump.flow > 1e308; clear pump.flow < -1e308;",
    ] {
        assert_eq!(warned(conditions), None, "{conditions}");
    }
}
