//! One error in a file is one diagnostic: none is missed, repeated or followed by consequences.

use oasis_pdl::compile;
use std::{collections::HashMap, path::PathBuf};

/// Compiles texts by path, the first one named on the command line, and gives codes and messages.
fn reported(texts: &[(&str, &str)], include_dirs: &[PathBuf]) -> Vec<(String, String)> {
    let files: HashMap<PathBuf, String> =
        texts.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    let report = compile(&[texts[0].0.into()], include_dirs, &files);
    report.diagnostics.iter().map(|wrong| (wrong.code.name(), wrong.message.clone())).collect()
}

fn check(text: &str) -> Vec<(String, String)> {
    reported(&[("example.pdl", text)], &[])
}

fn one(code: &str, message: &str) -> Vec<(String, String)> {
    vec![(code.into(), message.into())]
}

#[test]
fn a_cycle_of_bases_is_found_from_outside_it() {
    let text = "abstract probe C : A { }; abstract probe A : B { }; abstract probe B : A { };";
    assert_eq!(check(text), one("E0014", "probe `A` is its own base"));
}

#[test]
fn a_cycle_of_bases_is_one_error() {
    let text = "abstract probe A : B { }; abstract probe B : C { }; abstract probe C : A { };";
    assert_eq!(check(text), one("E0014", "probe `A` is its own base"));
}

#[test]
fn a_cycle_of_structs_is_one_error() {
    let text = "struct O { A a; }; struct A { B b; }; struct B { vector<A> a; };";
    assert_eq!(check(text), one("E0015", "struct `A` contains itself"));
}

#[test]
fn each_cycle_of_structs_is_an_error() {
    let reported = check("struct A { A a; }; struct B { vector<vector<B>> b; A a; };");
    let messages: Vec<_> = reported.into_iter().map(|(_, message)| message).collect();
    assert_eq!(messages, ["struct `A` contains itself", "struct `B` contains itself"]);
}

#[test]
fn an_unknown_type_of_several_metrics_is_one_error() {
    assert_eq!(check("struct A { Port a, b, c; };"), one("E0010", "unknown type `Port`"));
}

#[test]
fn a_missing_semicolon_leaves_the_declaration_and_the_next_one_known() {
    let text = "module M { struct A { uint8 a; } struct B { A a; } } struct C { M::A a; M::B b; };";
    let codes: Vec<_> = check(text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["E0001", "E0001"]);
}

#[test]
fn a_missing_quote_is_one_error() {
    let text = "abstract probe A {\n  [unit(\"s)] uint8 a;\n  uint8 b;\n};\n";
    assert_eq!(check(text), one("E0003", "unterminated string"));
}

#[test]
fn a_comment_without_end_is_one_error() {
    let text = "module M { struct A { uint8 a /* first; };";
    assert_eq!(check(text), one("E0003", "unterminated comment"));
}

#[test]
fn an_error_before_an_unterminated_comment_is_reported_too() {
    let codes: Vec<_> = check("struct A { uint8; }; /* first").into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["E0001", "E0003"]);
}

#[test]
fn a_file_with_nothing_but_documentation_is_empty() {
    assert_eq!(check("/// Nothing to see."), check(""));
    assert_eq!(check("")[0].0, "E0019");
}

#[test]
fn sixteen_vectors_nest_and_seventeen_do_not() {
    let nested = |depth: usize| {
        check(&format!("struct A {{ {}uint8{} a; }};", "vector<".repeat(depth), ">".repeat(depth)))
    };
    assert_eq!(nested(16), []);
    assert_eq!(nested(17), one("E0018", "vectors nest deeper than 16"));
}

#[test]
fn a_file_beside_wins_over_one_of_the_same_name_that_was_read_before() {
    let files = [
        ("main.pdl", "#include \"lib/x.pdl\"\n#include \"here/a.pdl\"\nstruct W { X x; };"),
        ("lib/x.pdl", "struct X { uint8 a; };"),
        ("here/x.pdl", "struct Y { uint8 a; };"),
        ("here/a.pdl", "#include \"x.pdl\"\nstruct Z { Y y; };"),
    ];
    assert_eq!(reported(&files, &["lib".into()]), []);
}

/// Messages with their advice.
fn advised(text: &str) -> Vec<(String, String)> {
    let files = HashMap::from([(PathBuf::from("example.pdl"), text.to_owned())]);
    let report = compile(&["example.pdl".into()], &[], &files);
    report.diagnostics.into_iter().map(|wrong| (wrong.message, wrong.help.unwrap_or_default())).collect()
}

fn only(message: &str, help: &str) -> Vec<(String, String)> {
    vec![(message.into(), help.into())]
}

#[test]
fn a_missing_semicolon_before_a_line_with_attributes_is_one_error() {
    let missing = || one("E0001", "missing `;` after the metric");
    for next in [
        "[unit(\"s\")] real64 b;",
        "[unit(\"s\"); min(0); max(9); warn(> 5); kind(gauge)] real64 b;",
        "/// How long it took.\n  real64 b;",
        "real64 b;",
        "vector<M::A> b;",
    ] {
        let text = format!(
            "module M {{ struct A {{ uint8 a; }}; }}\nabstract probe P {{\n  [unit(\"s\")] real64 a\n  {next}\n  [unit(\"m\")] real64 c;\n}};"
        );
        assert_eq!(check(&text), missing(), "{text}");
    }
    // The next metric is known.
    let text = "abstract probe P {\n  real64 a\n  [unit(\"s\")] real64 a;\n};";
    let messages: Vec<_> = check(text).into_iter().map(|(_, message)| message).collect();
    assert_eq!(messages, ["missing `;` after the metric", "`a` is declared twice"]);
}

#[test]
fn a_misspelled_type_leads_to_the_nearest_one() {
    for (written, meant) in [
        ("unit8", "uint8"),
        ("unit16", "uint16"),
        ("flot32", "real32"),
        ("flaot64", "real64"),
        ("doubel", "real64"),
        ("stirng", "string"),
        ("bolean", "boolean"),
        ("Prot", "Port"),
    ] {
        let found = advised(&format!("struct Port {{ uint8 a; }}; struct A {{ {written} a; }};"));
        assert_eq!(found, only(&format!("unknown type `{written}`"), &format!("did you mean `{meant}`?")));
    }
}

#[test]
fn a_size_after_a_name_leads_to_a_vector_of_the_type() {
    for (written, vector) in [
        ("real32 a[3]", "vector<real32> a"),
        ("::M::B a[]", "vector<::M::B> a"),
        ("vector<uint8> rows[SIZE]", "vector<vector<uint8>> rows"),
    ] {
        let found = advised(&format!("struct A {{ {written}; uint8 b; }};"));
        let help = format!("fixed-size arrays are not supported: write `{vector};`");
        assert_eq!(found, only("missing `;` after the metric", &help));
    }
}

#[test]
fn attributes_of_other_languages_lead_to_those_of_pdl() {
    for (written, help) in [
        ("[range(0,1)] real32 a", "write `min(0); max(1)`"),
        ("[range(-5, 1e3)] real32 a", "write `min(-5); max(1e3)`"),
        ("[description(\"x\")] real32 a", "write documentation as `/// …` on a line before the metric"),
        ("[units(\"s\")] real32 a", "did you mean `unit`?"),
    ] {
        let found = advised(&format!("struct A {{ {written}; }};"));
        assert_eq!(found.iter().map(|(_, help)| help.as_str()).collect::<Vec<_>>(), [help], "{written}");
    }
    for (written, help) in [
        ("real32 a range(0,1)", "put attributes in brackets before the type: write `min(0); max(1)`"),
        ("real32 a unit(\"s\")", "put attributes in brackets before the type: `[unit(…)] real64 age;`"),
    ] {
        let found = advised(&format!("struct A {{ {written}; }};"));
        assert_eq!(found, only("missing `;` after the metric", help));
    }
}

#[test]
fn composed_units_lead_to_their_spelling_in_ucum() {
    for (written, ucum) in [("rpm", "{rev}/min"), ("kWh", "kW.h")] {
        let found = advised(&format!("abstract probe A {{ [unit(\"{written}\")] real64 a; }};"));
        assert_eq!(found, only(&format!("unknown unit `{written}`"), &format!("did you mean `{ucum}`?")));
    }
}

#[test]
fn a_metric_with_the_name_of_a_built_in_column_has_a_warning() {
    let text = "abstract probe Base { uint8 state; };
        abstract probe P : Base { real64 Time; uint8 level; };
        abstract probe Q : Base { S node; };
        struct S { uint8 sequence; };";
    let files = HashMap::from([(PathBuf::from("example.pdl"), text.to_owned())]);
    let report = compile(&["example.pdl".into()], &[], &files);
    assert!(report.is_ok(), "{}", report.render(false));
    let warnings: Vec<_> = report.findings().into_iter().map(|found| (found.message, found.label)).collect();
    let expected = ["state", "Time"].map(|name| {
        (
            format!("metric `{name}` has the name of a built-in column"),
            format!("the column is `{name}_2` in SQL and in exported tables"),
        )
    });
    assert_eq!(warnings, expected);
}
