//! Proposals and descriptions of an editor.

use crate::common::{INPUTS, compiled, rendered, types};
use oasis_rules::{CompletionKind, EditorCatalog, KnownInstance, complete, hover};
use proptest::prelude::*;
use std::sync::LazyLock;

static AROUND: LazyLock<EditorCatalog> = LazyLock::new(|| {
    let known = |node: &str, instance: &str, probe_type: &str| KnownInstance {
        node: node.into(),
        instance: instance.into(),
        probe_type: probe_type.into(),
    };
    let instances = vec![
        known("hall", "pump 1", "Plant::Pump"),
        known("mill", "pump 1", "Plant::Pump"),
        known("mill", "wheel", "Plant::Wheel"),
    ];
    EditorCatalog { types: types(), instances }
});

/// Returns the proposals at `|`, and the text that they replace.
fn proposed(text: &str) -> (Vec<String>, String) {
    let text = format!("{INPUTS}derive D every 1s {{ mean = mean(pump.flow, 1s); top = 3; }}\n{text}");
    let offset = text.find('|').unwrap();
    let found = complete(&text.replace('|', ""), offset, &AROUND);
    (found.items.into_iter().map(|item| item.label).collect(), text[found.from..offset].to_owned())
}

#[test]
fn each_place_has_its_proposals() {
    for (text, expected, replaced) in [
        ("|", "input alarm event derive check", ""),
        ("al|", "alarm", "al"),
        ("input x = \"*/x\" : |", "Plant::Pump Plant::Wheel", ""),
        ("input x = \"*/x\" : Plant::Wh|", "Plant::Wheel", "Plant::Wh"),
        ("input x = \"|", "*/pump 1,*/wheel,hall/pump 1,mill/pump 1,mill/wheel", ""),
        ("input x = \"mill/|\" : Plant::Pump;", "mill/pump 1,mill/wheel", "mill/"),
        ("derive X |", "every", ""),
        ("derive X every 1|", "s ms min h us", ""),
        ("alarm A { |", "raise clear severity latch on_unknown message notify on", ""),
        ("alarm A { latch; sev|erity", "severity", "sev"),
        ("alarm A { severity |", "low medium high critical", ""),
        ("alarm A { on_unknown |", "keep raise clear", ""),
        ("alarm A { raise pump.|", "temperature vibration flow state pressed starts pose", ""),
        ("alarm A { raise pump.pose.|", "x", ""),
        ("alarm A { raise D.|", "mean top", ""),
        ("alarm A { raise pump.te| > 5; latch; }", "temperature", "te"),
        ("alarm A { raise pump.state == O|", "OPEN", "O"),
        ("alarm A { raise pump.pressed |", "and or for", ""),
        ("alarm A { raise ri|", "rising", "ri"),
        ("alarm A { raise p|", "pump", "p"),
        ("alarm A { raise pump.pressed; on |", "raised cleared", ""),
        ("alarm A { raise pump.pressed; on raised sample-n|", "sample-now", "sample-n"),
        ("alarm A { raise pump.pressed; on raised hertz 10 w|", "wheel,\"*/wheel\",\"mill/wheel\"", "w"),
        ("alarm A { raise pump.pressed; on raised trigger \"hall|", "hall/pump 1,", "hall"),
        ("alarm A { raise pump.pressed; message \"Pump {n|", "{node}", "{n"),
        ("event E { when pump.pressed; on |", "matched violated", ""),
        ("event E { |", "when on", ""),
        ("check C { after pump.pressed: |", "always", ""),
        ("// al|", "", ""),
        ("/* al|", "", ""),
        ("alarm A { raise pump.flow > 3 {beat}/min and pump.pr|", "pressed", "pr"),
    ] {
        let (found, of) = proposed(text);
        let separator = if expected.contains(',') { ',' } else { ' ' };
        let expected: Vec<_> = expected.split(separator).filter(|word| !word.is_empty()).collect();
        assert_eq!((found.iter().map(String::as_str).collect(), &*of), (expected, replaced), "{text}");
    }
}

#[test]
fn a_limit_has_the_units_of_its_metric() {
    let (found, _) = proposed("alarm A { raise pump.flow > 3 l|");
    assert_eq!(found[0], "l/min");
    assert!(found.iter().all(|unit| unit.starts_with('l') || unit.starts_with('L')), "{found:?}");
    let (found, _) = proposed("alarm A { raise pump.temperature > 3 |");
    assert!(found.starts_with(&["Cel".to_owned()]) && found.contains(&"[degF]".into()), "{found:?}");
    assert!(!found.contains(&"m".into()) && found.contains(&"for".into()), "{found:?}");
    let (found, _) = proposed("alarm A { raise pump.pressed for 2|");
    assert!(found.starts_with(&["s".to_owned(), "ms".into()]), "{found:?}");
    let (found, _) = proposed("alarm A { raise mean(pump.flow, 2|");
    assert!(found.contains(&"at most".into()), "{found:?}");
}

#[test]
fn a_value_has_inputs_derived_instances_and_functions() {
    let (found, _) = proposed("alarm A { raise not |");
    for name in ["pump", "wheel", "D", "mean", "silent", "last"] {
        assert!(found.contains(&name.into()), "{found:?}");
    }
    let text = format!("{INPUTS}alarm A {{ raise pump.");
    let found = complete(&text, text.len(), &AROUND);
    let temperature = &found.items[0];
    assert_eq!((temperature.kind, &*temperature.detail), (CompletionKind::Metric, "real64, Cel"));
}

/// The description at the begin of a word.
fn described(text: &str, word: &str) -> String {
    let text = format!("{INPUTS}{text}");
    hover(&text, text.find(word).unwrap(), &AROUND).map_or_else(String::new, |hover| hover.text)
}

#[test]
fn a_description_has_unit_and_bound() {
    let alarm = "alarm Hot { raise mean(pump.temperature, last 5) > 95; }";
    assert_eq!(rendered(&compiled(alarm)), "");
    let hot = described(alarm, "Hot");
    assert!(hot.contains("severity medium") && hot.contains("Takes at most"), "{hot}");
    assert_eq!(described(alarm, "temperature, last"), "```rules\npump.temperature\n```\n\nreal64, Cel");
    assert!(described(alarm, "mean(").contains("The mean of a window."));
    let pump = described(alarm, "pump.temperature");
    assert!(pump.contains("*/pump* of the type Plant::Pump"), "{pump}");
    assert!(pump.contains("Matches 2 instances now: `hall/pump 1`, `mill/pump 1`"), "{pump}");
    assert!(described("alarm A { raise pump.state == OPEN; }", "state ==").contains("CLOSED, OPEN, FAILED"));
    assert_eq!(described(alarm, "last 5"), "");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_an_answer_at_any_place(
        words in prop::collection::vec(prop::sample::select(vec![
            "input", "alarm", "pump", ".", "::", "on", "raised", "-", "sample", "{", "}", ";", "\"", "ä", "\n", "//", "/*", "*/",
            " ", "5", "m", "==", "raise", ":", "=", "derive", "every", ",", "(", "message", "{node}", "水",
        ]), 0..40),
        offset in 0..200_usize,
    ) {
        let text = words.concat();
        let found = complete(&text, offset, &AROUND);
        prop_assert!(found.from <= offset && (found.items.is_empty() || text.get(found.from..offset).is_some()));
        hover(&text, offset, &AROUND);
    }
}
