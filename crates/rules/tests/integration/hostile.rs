//! Any text is compiled or refused, and nothing panics.

use crate::common::{INPUTS, compiled, rendered};
use oasis_rules::{Report, format};
use proptest::prelude::*;

const WORDS: [&str; 70] = [
    "input",
    "alarm",
    "event",
    "derive",
    "check",
    "raise",
    "clear",
    "severity",
    "latch",
    "on_unknown",
    "when",
    "then",
    "within",
    "after",
    "always",
    "every",
    "for",
    "and",
    "or",
    "not",
    "last",
    "at",
    "most",
    "samples",
    "pump",
    ".",
    "temperature",
    "state",
    "OPEN",
    "mean",
    "count",
    "rate",
    "rising",
    "silent",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "::",
    "=",
    ">",
    "5",
    "10s",
    "3 Cel",
    "- ",
    "\"*/x\"",
    "Plant::Pump",
    "message",
    "notify",
    "none",
    "on",
    "raised",
    "cleared",
    "matched",
    "violated",
    "hertz",
    "sample-now",
    "sample",
    "now",
    "demand",
    "demand-off",
    "trigger",
    "\"{node}\"",
    "\"{\"",
    "/*-*/",
];

const FOLLOWS: [&str; 9] = [
    "message\"{node}{value} is \";",
    "message/* why */\"{rule}\";",
    "notify mail,\"night shift\";",
    "notify none;",
    "on raised hertz 100 pump;",
    "on raised hertz 100/**/pump;",
    "on cleared sample-now\"*/x\";",
    "on cleared demand-off//\npump;",
    "on/**/raised demand pump;",
];

const CONDITIONS: [&str; 8] = [
    "pump.temperature>95 Cel",
    "(pump.flow <-3 or pump.pressed)",
    "rate(pump.temperature,1s)>5 [Cel/s]",
    "count(pump.vibration>4,last 5)>=3",
    "pump.state==OPEN",
    "rising(not pump.pressed)",
    "- pump.flow*2-1 != abs( pump.flow )/-3 ",
    "mean(pump.flow,10s at most 5 samples)-5 l/min<2{beat}*3 l/min",
];

fn survives(text: &str) {
    let report = compiled(text);
    assert_eq!(report.is_ok(), rendered(&report).is_empty());
    report.diagnostics.iter().for_each(|wrong| drop(wrong.to_json(&report.sources)));
    if report.is_ok() {
        report.explain();
    }
    if let Ok(laid_out) = format("a.rules".as_ref(), text) {
        assert_eq!(format("a.rules".as_ref(), &laid_out).unwrap(), laid_out, "{text}");
        let bodies = |report: &Report| -> Vec<_> {
            report.program.rules.iter().map(|rule| format!("{:?}", rule.body)).collect()
        };
        assert_eq!(bodies(&compiled(&laid_out)), bodies(&report), "{text}");
    }
}

#[test]
fn the_edges_of_units_and_numbers_survive() {
    for text in [
        "5 [",
        "5 {",
        "5 [[m]",
        "5 [[degF]]",
        "5 m/",
        "5 m//x",
        "5 m-",
        "5 m-2",
        "5 µs",
        "1e999",
        "5%",
        "5 m{é}",
        "5 m\u{feff}",
    ] {
        survives(&format!("alarm A {{ raise pump.flow > {text}; }}"));
        survives(&format!("alarm A {{ raise pump.flow > {text}"));
    }
    survives(INPUTS);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_words_survive(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..60)) {
        survives(&words.join(" "));
        survives(&format!("alarm A {{ raise {}", words.concat()));
    }

    /// Rules that compile more often than not.
    #[test]
    fn conditions_survive_their_layout(
        words in prop::collection::vec(prop::sample::select(CONDITIONS.to_vec()), 1..6),
        joins in prop::collection::vec(prop::sample::select(vec![" and ", "\nor not ", " or ", "/* why */and "]), 6),
    ) {
        let joined: String = words.iter().zip(&joins).map(|(word, join)| format!("{word}{join}")).collect();
        survives(&format!("alarm A{{raise {joined} pump.pressed for 2s;}}"));
    }

    #[test]
    fn what_follows_an_event_survives_its_layout(
        clauses in prop::collection::vec(prop::sample::select(FOLLOWS.to_vec()), 0..6),
        event in prop::sample::select(vec!["alarm A{raise pump.on*demand-pump.flow>1;", "event E{when pump.pressed;"]),
    ) {
        survives(&format!("{event}{}}}", clauses.concat()));
        survives(&format!("{event}{}}}", clauses.concat().replace("raised", "matched").replace("cleared", "violated")));
    }

    #[test]
    fn any_message_survives(text in "[\\PC{}\t\"]{0,40}") {
        survives(&format!("alarm A {{ raise pump.pressed; message \"{text}\"; notify \"{text}\"; }}"));
    }

    #[test]
    fn any_text_survives(text in "\\PC{0,80}") {
        survives(&text);
        survives(&format!("alarm A {{ raise pump.flow > {text}"));
    }
}
