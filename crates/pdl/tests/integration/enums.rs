//! Enums: numbered, found by name, and each error reported once.

use crate::common::{compiled, one, reported};
use oasis_pdl::model::{Primitive, Type};

fn numbers(text: &str) -> Vec<(String, i64)> {
    let report = compiled(text);
    assert!(report.is_ok(), "{}", report.render(false));
    report.model.enums[0].enumerators.iter().map(|value| (value.name.clone(), value.value)).collect()
}

fn pair(name: &str, number: i64) -> (String, i64) {
    (name.into(), number)
}

#[test]
fn enumerators_count_from_zero_or_from_the_number_before() {
    let reported = numbers("enum Mode { IDLE, RUNNING = 5, FAILED };");
    assert_eq!(reported, [pair("IDLE", 0), pair("RUNNING", 5), pair("FAILED", 6)]);
    let reported = numbers("enum Mode : int16 { LOST = -300, FOUND, AWAY = -1, HERE, };");
    assert_eq!(reported, [pair("LOST", -300), pair("FOUND", -299), pair("AWAY", -1), pair("HERE", 0)]);
}

#[test]
fn an_enum_is_carried_by_a_byte_unless_it_says_otherwise() {
    let model = compiled("enum A { X }; enum B : uint32 { X = 4294967295 };").model;
    assert_eq!([Primitive::Uint8, Primitive::Uint32], [model.enums[0].base, model.enums[1].base]);
}

#[test]
fn documentation_goes_to_what_follows_it() {
    let text = "/// How it runs.\nenum Mode {\n  /// Not at all.\n  IDLE,\n  RUNNING, /// Of nothing.\n};";
    let mode = &compiled(text).model.enums[0];
    assert_eq!(mode.doc.as_deref(), Some("How it runs."));
    let docs: Vec<_> = mode.enumerators.iter().map(|value| value.doc.as_deref()).collect();
    assert_eq!(docs, [Some("Not at all."), None]);
}

#[test]
fn an_enum_is_a_type_of_metrics_members_and_elements() {
    let text = "module Plant {
        struct Port { Mode mode; };
        module Line { abstract probe Switch { Mode mode; vector<::Plant::Mode> modes; Port port; }; }
        enum Mode { IDLE };
    }";
    let report = compiled(text);
    assert!(report.is_ok(), "{}", report.render(false));
    let mode = Type::Enum("Plant::Mode".into());
    let kinds: Vec<_> = report.model.probes[0].metrics.iter().map(|metric| metric.kind.clone()).collect();
    let port = Type::Struct("Plant::Port".into());
    assert_eq!(kinds, [mode.clone(), Type::Vector(Box::new(mode.clone())), port]);
    assert_eq!(report.model.structs[0].members[0].kind, mode);
}

#[test]
fn enum_is_still_a_name() {
    assert_eq!(reported("struct enum { uint8 enum; }; abstract probe P { enum enum; };"), []);
}

#[test]
fn a_number_that_does_not_fit_is_one_error() {
    assert_eq!(reported("enum E { A = 255, B, C };"), one("E0023", "256 does not fit in `uint8`"));
    assert_eq!(reported("enum E { A = -1, B };"), one("E0023", "-1 does not fit in `uint8`"));
    assert_eq!(reported("enum E { A = 1.5, B };"), one("E0023", "`uint8` requires a whole number"));
    let huge = format!("enum E {{ A = 1{} }};", "0".repeat(400));
    assert_eq!(reported(&huge), one("E0023", "number is too large for any type"));
}

#[test]
fn names_and_numbers_of_an_enum_differ() {
    assert_eq!(reported("enum E { A, B = 0 };"), one("E0024", "`A` and `B` are both 0"));
    assert_eq!(reported("enum E { A = 1, B = 0, C };"), one("E0024", "`A` and `C` are both 1"));
    assert_eq!(reported("enum E { A, A };"), one("E0012", "`A` is declared twice"));
    assert_eq!(reported("enum E { A, A = 0 };"), one("E0012", "`A` is declared twice"));
}

#[test]
fn a_mistake_in_one_enumerator_leaves_the_enum_known() {
    for text in ["{ A = B, C }", "{ A B }", "{ A; B }", "{ 5, A }", "{ }", "{ A = , B }", "{ A : 5 }"] {
        let text = format!("enum E {text}; struct S {{ E e; }};");
        let codes: Vec<_> = reported(&text).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["E0001"], "{text}");
    }
}

#[test]
fn an_enum_is_carried_by_a_small_integer_only() {
    for base in ["real32", "string", "boolean", "int64", "uint64", "Other"] {
        let text = format!("enum E : {base} {{ A, B }};");
        let message = format!("expected an integer type of at most 32 bits, found `{base}`");
        assert_eq!(reported(&text), one("E0001", &message));
    }
}

#[test]
fn an_enum_is_no_base_and_takes_no_attributes() {
    assert_eq!(
        reported("enum E { A }; abstract probe P : E { };"),
        one("E0011", "`E` is an enum, not a probe")
    );
    assert_eq!(
        reported("[version(1.0)] enum E { A };"),
        one("E0006", "attribute `version` is not allowed on an enum")
    );
}

#[test]
fn an_enum_shares_the_names_of_its_module() {
    assert_eq!(reported("enum E { A }; struct E { };"), one("E0012", "`E` is declared twice"));
}
