//! The one layout of files.

use oasis_rules::format;
use proptest::prelude::*;

fn laid_out(text: &str) -> String {
    format("a.rules".as_ref(), text).unwrap()
}

#[test]
fn a_file_has_one_layout() {
    let text = r#"// Pumps.
input pump="*/pump *":Plant::Pump;   // one state each


alarm Hot{raise (pump.temperature>95   Cel or -pump.x < - 3)and not(pump.a==OPEN) for 2 s;
  /* why */ clear pump.temperature<90 for 10s;severity high;

  latch;message   "{node}:  hot";notify a,"b c" ;on  raised sample-now"*/x";on cleared // why
  hertz 2.5 pump; }
event E{when pump.a;on matched demand-off pump;on violated demand"a/b";}
derive Yield every 1s{ratio=mean(pump.power,10s at most 20 samples)/mean(pump.flow,last 5);};
check Brake{after rising(pump.pressed):always[0s,5s]pump.speed<5 Cel/s;}
"#;
    let expected = r#"// Pumps.
input pump = "*/pump *" : Plant::Pump; // one state each

alarm Hot {
  raise (pump.temperature > 95 Cel or -pump.x < -3) and not (pump.a == OPEN) for 2 s;
  /* why */ clear pump.temperature < 90 for 10s;
  severity high;

  latch;
  message "{node}:  hot";
  notify a, "b c";
  on raised sample-now "*/x";
  on cleared // why
      hertz 2.5 pump;
}
event E {
  when pump.a;
  on matched demand-off pump;
  on violated demand "a/b";
}
derive Yield every 1s {
  ratio = mean(pump.power, 10s at most 20 samples) / mean(pump.flow, last 5);
};
check Brake {
  after rising(pump.pressed): always[0s, 5s] pump.speed < 5 Cel/s;
}
"#;
    assert_eq!(laid_out(text), expected);
    assert_eq!(laid_out(expected), expected);
}

#[test]
fn a_long_condition_is_broken_before_its_words() {
    let text = format!("alarm A {{ raise {}; }}", ["pump.temperature > 95 Cel"; 5].join(" and "));
    let expected = "alarm A {
  raise pump.temperature > 95 Cel and pump.temperature > 95 Cel and pump.temperature > 95 Cel
      and pump.temperature > 95 Cel and pump.temperature > 95 Cel;
}
";
    assert_eq!(laid_out(&text), expected);
}

#[test]
fn a_long_sum_is_broken_before_its_operators() {
    let text = format!("derive D every 1s {{ x = {}; }}", ["mean(pump.a + pump.b, last 5)"; 4].join("/"));
    let expected = "derive D every 1s {
  x = mean(pump.a + pump.b, last 5) / mean(pump.a + pump.b, last 5) / mean(pump.a + pump.b, last 5)
      / mean(pump.a + pump.b, last 5);
}
";
    assert_eq!(laid_out(&text), expected);
}

#[test]
fn a_file_with_an_error_is_not_laid_out() {
    let report = format("a.rules".as_ref(), "alarm A { raise ; }").unwrap_err();
    assert_eq!(report.diagnostics.len(), 1);
}

/// Words that can follow one another in many ways, with comments between them.
fn text() -> impl Strategy<Value = String> {
    let expression = prop::sample::select(vec![
        "a.x > 5 Cel/s",
        "not a.b",
        "(a.b or a.c)",
        "mean(a.x,last 3)<-2",
        "count(a.b,10 s)>=3",
        "a.x - -1 == a.y*2 %",
    ]);
    let blank =
        prop::sample::select(vec![" ", "\n", "\n\n\n", " // why\n", " /* so */ ", "\n/* a\n b */\n", "\t"]);
    let clause = (expression.clone(), blank.clone(), prop::sample::select(vec![" and ", " or "]), expression)
        .prop_map(|(one, blank, word, other)| {
            format!("raise{blank}{one}{word}{blank}{other}{blank}for 2s;{blank}")
        });
    (clause, blank.clone(), blank).prop_map(|(clause, one, other)| {
        format!("{one}input a=\"*/a\":T;{other}alarm A{one}{{{other}{clause}latch;{one}}}{other}event E{{when a.b;}}{one}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_layout_stays_as_it_is(text in text()) {
        let once = laid_out(&text);
        prop_assert_eq!(&laid_out(&once), &once);
        let words = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(words(&once), words(&text));
    }
}
