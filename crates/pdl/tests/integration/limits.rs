//! Ranges and limits: kept as written, checked against the type, and each error reported once.

use crate::common::{compiled, one, reported};
use oasis_pdl::model::{Limits, Number, Threshold};

/// The limits of the only metric of the only probe.
fn limits(metric: &str) -> Limits {
    let report =
        compiled(&format!("enum Mode {{ IDLE, STALE = 7, FAILED }}; abstract probe P {{ {metric} }};"));
    assert!(report.is_ok(), "{}", report.render(false));
    report.model.probes[0].metrics[0].limits.clone()
}

/// The errors of a metric.
fn refused(metric: &str) -> Vec<(String, String)> {
    reported(&format!(
        "enum Mode {{ IDLE, STALE = 7, FAILED }}; struct S {{ }}; abstract probe P {{ {metric} }};"
    ))
}

const NONE: Threshold = Threshold { below: None, above: None, values: Vec::new() };

#[test]
fn limits_are_kept_as_they_were_written() {
    let reported = limits("[min(-1.5); max(1e2); warn(< 5, > 80); alarm(> 99.5)] real32 m;");
    let warn =
        Threshold { below: Some(Number::Integer(5)), above: Some(Number::Integer(80)), values: Vec::new() };
    let alarm = Threshold { above: Some(Number::Real(99.5)), ..NONE };
    let (min, max) = (Some(Number::Real(-1.5)), Some(Number::Real(100.0)));
    assert_eq!(reported, Limits { min, max, warn, alarm });
    assert_eq!(limits("uint8 m;"), Limits::default());
}

#[test]
fn the_limits_of_an_enum_are_enumerators() {
    let reported = limits("[warn(STALE); alarm(FAILED, IDLE)] Mode m;");
    assert_eq!((reported.warn.values, reported.alarm.values), (vec![7], vec![8, 0]));
}

#[test]
fn limits_of_a_vector_are_for_its_elements() {
    assert_eq!(limits("[max(1)] vector<vector<int8>> m;").max, Some(Number::Integer(1)));
    assert_eq!(limits("[warn(STALE)] vector<Mode> m;").warn.values, [7]);
}

#[test]
fn members_and_inherited_metrics_have_limits_too() {
    let text =
        "abstract probe Q : P { }; abstract probe P { [min(1)] uint8 m; }; struct S { [max(2)] uint8 m; };";
    let model = compiled(text).model;
    assert_eq!(model.probes[0].metrics[0].limits.min, Some(Number::Integer(1)));
    assert_eq!(model.structs[0].members[0].limits.max, Some(Number::Integer(2)));
}

#[test]
fn the_bounds_of_every_type_fit() {
    for (kind, least, greatest) in [
        ("int8", "-128", "127"),
        ("uint32", "0", "4294967295"),
        ("int64", "-9223372036854775808", "9223372036854775807"),
        ("uint64", "0", "18446744073709551615"),
        ("real32", "-3.4e38", "3.4e38"),
        ("real64", "-1.7e308", "100000000000000000000000000000"),
    ] {
        limits(&format!("[min({least}); max({greatest}); warn(< {least}, > {greatest})] {kind} m;"));
    }
}

#[test]
fn a_number_that_the_type_cannot_have_is_refused() {
    for (kind, number, message) in [
        ("int8", "128", "128 does not fit in `int8`"),
        ("uint8", "-1", "-1 does not fit in `uint8`"),
        ("uint8", "0.5", "`uint8` requires a whole number"),
        ("uint64", "1e3", "`uint64` requires a whole number"),
        ("int64", "18446744073709551616", "`int64` requires a whole number"),
        ("real32", "1e39", "number is too large for `real32`"),
        ("real64", "1e309", "number is too large for any type"),
    ] {
        assert_eq!(refused(&format!("[max({number})] {kind} m;")), one("E0023", message));
        assert_eq!(refused(&format!("[warn(> {number})] {kind} m, n;")), one("E0023", message));
    }
}

#[test]
fn a_type_that_is_not_a_number_has_no_limits() {
    for (kind, name) in
        [("string", "string"), ("boolean", "boolean"), ("vector<string>", "string"), ("S", "S")]
    {
        let reported = refused(&format!("[min(0); max(3); alarm(> 5)] {kind} m;"));
        assert_eq!(reported, one("E0025", &format!("`{name}` cannot have limits")));
    }
    assert_eq!(refused("[min(0)] Mode m;"), one("E0025", "enum `Mode` cannot have a range"));
    assert_eq!(refused("[warn(> 1)] Mode m;"), one("E0025", "the limits of enum `Mode` must be enumerators"));
    assert_eq!(refused("[warn(STALE)] int8 m;"), one("E0025", "the limits of `int8` must be numbers"));
}

#[test]
fn bounds_in_the_wrong_order_are_one_error() {
    let reported = refused("[min(5); max(4); warn(> 7)] int8 m;");
    assert_eq!(reported, one("E0026", "the lower bound of the range is greater than its upper bound"));
    let reported = refused("[alarm(< 1.5, > 1)] real32 m;");
    assert_eq!(reported, one("E0026", "the lower bound of `alarm` is greater than its upper bound"));
    limits("[min(5); max(5); warn(< 5, > 5)] int8 m;");
}

#[test]
fn a_limit_lies_inside_the_range() {
    let outside = || one("E0027", "limit is outside the metric's range");
    assert_eq!(refused("[max(100); warn(> 100.5)] real64 m;"), outside());
    assert_eq!(refused("[min(0); alarm(< -1)] int8 m;"), outside());
    // As an `f64` both are the same.
    let (max, limit) = ("18446744073709551614", "18446744073709551615");
    assert_eq!(refused(&format!("[max({max}); warn(> {limit})] uint64 m;")), outside());
}

#[test]
fn an_enumerator_is_looked_for_in_the_enum_of_the_metric() {
    assert_eq!(refused("[warn(STALLED)] Mode m;"), one("E0028", "enum `Mode` has no enumerator `STALLED`"));
    // Its number is the mistake, not its use.
    let text = "enum E { A = 300 }; struct T { [warn(A)] E e; };";
    assert_eq!(reported(text), one("E0023", "300 does not fit in `uint8`"));
}

#[test]
fn a_limit_has_no_duplicates() {
    assert_eq!(refused("[warn(> 1, > 2)] int8 m;"), one("E0007", "duplicate `>`"));
    assert_eq!(refused("[warn(STALE, STALE)] Mode m;"), one("E0007", "duplicate `STALE`"));
    assert_eq!(refused("[min(1); min(2)] int8 m;"), one("E0007", "duplicate attribute `min`"));
}

#[test]
fn a_limit_that_makes_no_sense_is_one_error() {
    for limit in [
        "warn()",
        "warn(80)",
        "warn(>)",
        "warn(> 80,)",
        "warn(>= 80)",
        "min()",
        "max(> 5)",
        "min",
        "max(STALE)",
    ] {
        let codes: Vec<_> =
            refused(&format!("[{limit}] int8 m;")).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["E0001"], "{limit}");
    }
}

#[test]
fn a_probe_has_no_limits() {
    assert_eq!(
        reported("[min(0)] abstract probe P { };"),
        one("E0006", "attribute `min` is not allowed on a probe")
    );
}
