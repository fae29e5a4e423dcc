//! Errors of the macros, with the name of the field and the remedy.

use crate::{declarations, enums};
use syn::{DeriveInput, Result, parse_str};

fn refused(derive: fn(&DeriveInput) -> Result<proc_macro2::TokenStream>, text: &str) -> String {
    let input: DeriveInput = parse_str(text).unwrap();
    derive(&input).expect_err(text).to_string()
}

/// A struct with this field.
fn field(text: &str) -> String {
    refused(declarations::probe, &format!("struct Motor {{ {text} }}"))
}

#[test]
fn a_refused_field_is_named_with_the_remedy() {
    let cases = [
        (
            r#"#[probe(unit = "°C")] temperature: f64"#,
            "unit of field `temperature`: unknown unit `°C`: did you mean `Cel`?",
        ),
        (
            "#[probe(units = \"Cel\")] temperature: f64",
            "`units` is not possible of field `temperature`: use `unit`",
        ),
        ("#[probe(min = 1, min = 2)] rpm: u32", "`min` stands of field `rpm` twice"),
        ("#[probe(min = 5, max = 4)] rpm: u32", "range of field `rpm`: 5 is greater than 4"),
        ("#[probe(max = 4, warn(> 5))] rpm: u32", "limit 5 of field `rpm` is outside of its min and max"),
        ("#[probe(warn(< 5, < 6))] rpm: u32", "this limit stands here twice"),
        ("#[probe(warn(80))] rpm: u32", "expected `< 5`, `> 80`"),
        ("#[probe(min = 5u8)] rpm: u32", "expected a number without a suffix"),
        ("#[probe(kind = \"gage\")] rpm: u32", "kind of field `rpm`: write counter, gauge, state or event"),
        ("#[probe(label = \"5\\\"\")] rpm: u32", "label of field `rpm`: leave out quotes"),
        ("_rpm: u32", "the name of field `_rpm` cannot be written in PDL: begin with a letter"),
        ("a: u32, #[probe(name = \"a\")] b: u32", "two metrics have the name `a`"),
    ];
    for (text, message) in cases {
        let error = field(text);
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn a_refused_type_is_told_what_to_do() {
    let cases = [
        ("struct Motor(u32);", "Probe needs fields with names"),
        ("struct Motor<T> { a: T }", "`Motor` has parameters"),
        ("enum Motor { A }", "Probe is for structs"),
        (
            "#[probe(type = \"Plant.Motor\")] struct Motor {}",
            "the type `Plant.Motor` cannot be written in PDL",
        ),
        ("#[probe(version = 1)] struct Motor {}", "expected a version of two numbers"),
        ("#[probe(uuid = \"5\")] struct Motor {}", "expected a UUID"),
        ("#[probe(rate(demand, 5, 1))] struct Motor {}", "invalid demand range"),
        ("#[probe(rate(demand, 0, 1))] struct Motor {}", "rate of 0 Hz is out of range"),
    ];
    for (text, message) in cases {
        let error = refused(declarations::probe, text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_refused_enum_is_told_what_to_do() {
    let cases = [
        ("struct Mode;", "ProbeEnum is for enums"),
        ("enum Mode {}", "`Mode` has no variants"),
        ("enum Mode { A(u8) }", "variant `A` has data"),
        ("enum Mode { A = 300 }", "`A` is 300, which does not fit u8"),
        ("enum Mode { A = 1 << 3 }", "the number of variant `A` must be written as digits"),
        ("#[repr(u64)] enum Mode { A }", "`Mode` needs an integer of at most 32 bits"),
        ("enum Mode { A, #[probe(name = \"A\")] B }", "two variants have the name `A`"),
    ];
    for (text, message) in cases {
        let error = refused(enums::enumeration, text);
        assert!(error.starts_with(message), "{text}: {error}");
    }
}
