//! Hostile files give diagnostics: no panic, no stack overflow, no quadratic time.

use oasis_pdl::{compile, format, tokens};
use std::{collections::HashMap, path::PathBuf};

/// Large enough that quadratic time would be minutes.
const REPETITIONS: usize = 50_000;

/// The number of errors.
fn errors(text: String) -> usize {
    let _laid_out_or_not = format("hostile.pdl".as_ref(), &text);
    assert!(tokens(&text).iter().all(|(_, at)| text.get(at.clone()).is_some()));
    let files = HashMap::from([(PathBuf::from("hostile.pdl"), text)]);
    compile(&["hostile.pdl".into()], &[], &files).diagnostics.len()
}

fn numbered(piece: impl Fn(usize) -> String) -> String {
    (0..REPETITIONS).map(piece).collect()
}

#[test]
fn structs_that_double_are_refused_where_they_exceed_the_limit() {
    let doubling = |number: usize| format!("struct S{} {{ S{number} a, b; }};", number + 1);
    let text: String =
        std::iter::once("struct S0 { uint8 a; };".into()).chain((0..64).map(doubling)).collect();
    // Deeper ones are not reported again.
    assert_eq!(errors(text), 1);
    let chain = |number: usize| format!("struct S{} {{ S{number} a; }};", number + 1);
    let text: String =
        std::iter::once("struct S0 { uint8 a; };".into()).chain((0..REPETITIONS).map(chain)).collect();
    assert_eq!(errors(text), 1);
}

#[test]
fn endless_repetition_does_not_overflow_the_stack() {
    for piece in [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        ";",
        ",",
        ":",
        "::",
        "=",
        "#",
        "\"",
        "'",
        "/*",
        "///\n",
        "-",
        "5",
        "module a{",
        "module ",
        "struct a{",
        "vector<",
        "struct a{vector<",
        "enum a{",
        "enum a{a=",
        "[uuid(",
        "[uuid({",
        "[version(1.1.1)]",
        "[warn(<",
        "[kind(",
        "#include ",
        "#include <a>",
        "#pragma ",
        "abstract ",
        "a::",
        "\0",
        "é",
    ] {
        assert!(errors(piece.repeat(REPETITIONS)) > 0, "{piece}");
    }
}

#[test]
fn a_name_can_have_any_length() {
    let name = "a".repeat(1 << 20);
    assert_eq!(errors(format!("struct {name} {{ uint8 {name}; }}; struct b {{ {name} c; }};")), 0);
    assert_eq!(errors(format!("struct b {{ {name} c; }};")), 1);
}

#[test]
fn many_errors_of_one_kind_are_reported_one_by_one() {
    let uuids = numbered(|at| format!("[uuid({at}-?)] probe P{at} {{ }};\n"));
    assert_eq!(errors(uuids), REPETITIONS);
    let versions = numbered(|at| format!("[version(1.{at}.?)] abstract probe P{at} {{ }};\n"));
    assert_eq!(errors(versions), REPETITIONS);
    let directives = numbered(|_| "#include <a/b>".to_owned());
    assert_eq!(errors(directives), REPETITIONS);
    let duplicates = numbered(|_| "struct S { };\n".to_owned());
    assert_eq!(errors(duplicates), REPETITIONS - 1);
}

#[test]
fn an_enum_and_its_limits_can_be_long() {
    let values = numbered(|at| format!("V{at}, "));
    let wanted = (0..REPETITIONS).map(|at| format!("V{at}")).collect::<Vec<_>>().join(", ");
    let declared = format!("enum E : uint32 {{ {values} }};\n");
    assert_eq!(errors(format!("{declared} struct S {{ [warn({wanted})] E e; }};")), 0);
    assert_eq!(
        errors(format!("{declared} struct S {{ [warn({})] E e; }};", wanted.replace('V', "Unknown"))),
        REPETITIONS
    );
}
