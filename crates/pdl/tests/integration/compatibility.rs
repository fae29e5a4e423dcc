//! The effect of each kind of change on readers.

use oasis_pdl::{Class, Report, compare, compile};
use std::{collections::HashMap, path::PathBuf};

const UUID: &str = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa";
const OTHER: &str = "ed970279-247d-42ca-aeaa-bef0239ca3b3";

fn compiled(text: &str) -> Report {
    let files = HashMap::from([(PathBuf::from("example.pdl"), text.to_owned())]);
    compile(&["example.pdl".into()], &[], &files)
}

/// Class, name and message of each change.
fn changes(old: &str, new: &str) -> Vec<(Class, &'static str, String)> {
    let model = |text: &str| {
        let report = compiled(text);
        assert!(report.is_ok(), "{}", report.render(false));
        report.model
    };
    let reported = compare(&model(old), &model(new)).into_iter();
    reported.map(|change| (change.class, change.kind.name(), change.message)).collect()
}

fn probe(version: &str, metrics: &str) -> String {
    format!("[uuid({UUID}); version({version})] probe Engine {{ {metrics} }};")
}

/// The one change of a probe whose version stays, and of one whose version is raised.
fn one(old: &str, new: &str) -> (Class, &'static str, String) {
    let reported = changes(&probe("1.0", old), &probe("1.0", new));
    assert_eq!(reported.len(), 1, "{old:?} to {new:?}: {reported:?}");
    let raised = changes(&probe("1.0", old), &probe("1.1", new));
    let [(_, "version_raised", _), (class, what, _)] = raised.as_slice() else { panic!("{raised:?}") };
    assert_eq!(*what, reported[0].1);
    assert_eq!(*class, if reported[0].0 == Class::Safe { Class::Safe } else { Class::NewVersion });
    reported[0].clone()
}

/// The same with declarations that the probe uses.
fn one_beside(old: &str, new: &str, metrics: &str) -> (Class, &'static str, String) {
    let text = |declared: &str, version| format!("{declared} {}", probe(version, metrics));
    let reported = changes(&text(old, "1.0"), &text(new, "1.0"));
    assert_eq!(reported.len(), 1, "{old:?} to {new:?}: {reported:?}");
    let raised = changes(&text(old, "1.0"), &text(new, "1.1"));
    assert!(raised.iter().all(|(class, _, _)| *class <= Class::NewVersion), "{raised:?}");
    reported[0].clone()
}

#[test]
fn another_layout_of_the_same_version_breaks_readers() {
    for (old, new, what, message) in [
        ("int8 a, b;", "int8 a;", "metric_removed", "metric `b` removed"),
        ("int8 a;", "int8 a, b;", "metric_added", "metric `b` added"),
        ("int8 b;", "int8 a, b;", "metric_added", "metric `a` added"),
        ("int8 a, b, c;", "int8 a, c, b;", "order_changed", "order changed, starting with metric `c`"),
        ("int8 a;", "uint8 a;", "type_changed", "type of metric `a` changed from `int8` to `uint8`"),
        (
            "vector<int8> a;",
            "int8 a;",
            "type_changed",
            "type of metric `a` changed from `vector<int8>` to `int8`",
        ),
        (
            "vector<vector<int8>> a;",
            "vector<vector<string>> a;",
            "type_changed",
            "type of metric `a` changed from `vector<vector<int8>>` to `vector<vector<string>>`",
        ),
    ] {
        assert_eq!(one(old, new), (Class::Breaking, what, message.to_owned()));
    }
}

#[test]
fn another_meaning_of_the_same_layout_needs_a_version() {
    for (old, new, what, message) in [
        ("int8 a, b;", "int8 a, c;", "metric_renamed", "metric `c` renamed from `b`"),
        ("int8 a;", "[unit(\"By\")] int8 a;", "unit_changed", "unit of metric `a` added: \"By\""),
        (
            "[unit(\"s\")] int8 a;",
            "[unit(\"ms\")] int8 a;",
            "unit_changed",
            "unit of metric `a` changed from \"s\" to \"ms\"",
        ),
        ("[kind(gauge)] int8 a;", "int8 a;", "kind_changed", "kind of metric `a` removed: \"gauge\""),
        ("[min(1)] int8 a;", "[min(2)] int8 a;", "range_changed", "`min` of metric `a` changed"),
        ("[max(9)] int8 a;", "int8 a;", "range_changed", "`max` of metric `a` changed"),
    ] {
        assert_eq!(one(old, new), (Class::NeedsVersion, what, message.to_owned()));
    }
}

#[test]
fn a_change_of_texts_is_safe() {
    for (old, new, what, message) in [
        ("int8 a;", "[label(\"A\")] int8 a;", "label_changed", "label of metric `a` added: \"A\""),
        ("int8 a;", "/// A.\nint8 a;", "documentation_changed", "documentation of metric `a` changed"),
        ("[warn(> 5)] int8 a;", "[warn(> 6)] int8 a;", "limits_changed", "`warn` of metric `a` changed"),
        ("int8 a;", "[alarm(< 6)] int8 a;", "limits_changed", "`alarm` of metric `a` changed"),
    ] {
        assert_eq!(one(old, new), (Class::Safe, what, message.to_owned()));
    }
    let rate = |max| probe("1.0", "").replacen(';', &format!("; rate(demand, 1, {max});"), 1);
    let changed = [(Class::Safe, "rate_changed", "`rate` changed".to_owned())];
    assert_eq!(
        (changes(&rate("10"), &rate("20")), changes(&rate("10"), &rate("1e1"))),
        (changed.into(), vec![])
    );
    let reported = changes(
        &probe("1.0", ""),
        &format!("/// It runs.\n{}", probe("1.0", "").replacen('[', "/// Fast.\n[", 1)),
    );
    assert_eq!(
        reported,
        [(Class::Safe, "documentation_changed", "documentation of the probe changed".into())]
    );
}

#[test]
fn equivalent_files_have_no_changes() {
    let old = format!(
        "struct S {{ int8 x; }}; {}",
        probe("1.0", "[max(1.5e2); unit(\"s\")] real64 a; S s; [] int8 b;")
    );
    let new = format!(
        "{}\n// moved\nstruct S {{ int8 x; }};",
        probe("1.0", "[unit(\"s\")] [max(150)] real64 a; ::S s; int8 b;")
    );
    assert_eq!(changes(&old, &new), []);
    // The DAC never receives these.
    let unused = "enum E { X }; struct S { E e; }; abstract probe A { S s; };";
    assert_eq!(changes(&old, &format!("{new} module M {{ {unused} }}")), []);
}

#[test]
fn a_struct_is_part_of_every_layout_that_uses_it() {
    let nested = "struct Outer { vector<Inner> inner; }; struct Inner";
    for (old, new, class, what, message) in [
        ("{ int8 x; };", "{ int8 x, y; };", Class::Breaking, "metric_added", "member `Inner.y` added"),
        (
            "{ int8 x; };",
            "{ int16 x; };",
            Class::Breaking,
            "type_changed",
            "type of member `Inner.x` changed from `int8` to `int16`",
        ),
        (
            "{ int8 x; };",
            "{ int8 y; };",
            Class::NeedsVersion,
            "metric_renamed",
            "member `Inner.y` renamed from `x`",
        ),
        (
            "{ int8 x; };",
            "{ [label(\"X\")] int8 x; };",
            Class::Safe,
            "label_changed",
            "label of member `Inner.x` added: \"X\"",
        ),
    ] {
        let [old, new] = [old, new].map(|members| format!("{nested} {members}"));
        assert_eq!(
            one_beside(&old, &new, "Outer outer; vector<Outer> more;"),
            (class, what, message.to_owned())
        );
    }
    let [old, new] = ["A", "B"]
        .map(|name| format!("struct {name} {{ int8 x; }}; {}", probe("1.0", &format!("{name} a;"))));
    let renamed = "struct `A` replaced by `B`".to_owned();
    assert_eq!(changes(&old, &new), [(Class::Safe, "type_renamed", renamed)]);
}

#[test]
fn an_enum_may_grow_but_its_numbers_stay() {
    use Class::{Breaking, NeedsVersion, Safe};
    for (old, new, class, what, message) in [
        ("{ X, Y }", "{ X, Y, Z }", Safe, "enumerator_added", "enumerator `E.Z` added"),
        (
            "{ X, Y }",
            "{ X, Y = 5 }",
            Breaking,
            "enumerator_renumbered",
            "enumerator `E.Y` changed from 1 to 5",
        ),
        ("{ X, Y }", "{ X }", NeedsVersion, "enumerator_removed", "enumerator `E.Y` removed"),
        ("{ X, Y }", "{ X, Z }", NeedsVersion, "enumerator_renamed", "enumerator `E.Z` renamed from `Y`"),
        (
            "{ X }",
            ": int8 { X }",
            Breaking,
            "enum_base_changed",
            "base type of enum `E` changed from `uint8` to `int8`",
        ),
        (
            "{ X }",
            "{ /// What.\nX }",
            Safe,
            "documentation_changed",
            "documentation of enumerator `E.X` changed",
        ),
    ] {
        let [old, new] = [old, new].map(|body| format!("enum E {body};"));
        let wanted = (class, what, message.to_owned());
        assert_eq!(one_beside(&old, &new, "[warn(X)] E e; vector<E> more;"), wanted);
    }
    let with = |metrics: &str| format!("enum E {{ X, Y }}; {}", probe("1.0", metrics));
    let reported = |message: &str| [(NeedsVersion, "enum_or_number", message.to_owned())];
    assert_eq!(
        changes(&with("uint8 e;"), &with("E e;")),
        reported("type of metric `e` changed from `uint8` to `E`")
    );
    assert_eq!(
        changes(&with("vector<E> e;"), &with("vector<uint8> e;")),
        reported("type of metric `e` changed from `vector<E>` to `vector<uint8>`")
    );
    assert_eq!(changes(&with("E e;"), &with("int8 e;"))[0].1, "type_changed");
    let limits = changes(&with("[warn(X)] E e;"), &with("[warn(X, Y)] E e;"));
    assert_eq!(limits, [(Safe, "limits_changed", "`warn` of metric `e` changed".to_owned())]);
}

#[test]
fn probes_are_matched_by_uuid_and_then_by_name() {
    let [old, new] = ["Engine", "Motor"].map(|name| format!("[uuid({UUID})] probe {name} {{ int8 a; }};"));
    let renamed = |class| (class, "probe_renamed", "probe renamed from `Engine`".to_owned());
    assert_eq!(changes(&old, &new), [renamed(Class::NeedsVersion)]);
    let raised = new.replace(")]", "); version(1.1)]");
    assert_eq!(changes(&old, &raised)[1], renamed(Class::NewVersion));

    let other = old.replace(UUID, OTHER);
    assert_eq!(changes(&old, &other), [(Class::Breaking, "uuid_changed", "UUID changed".to_owned())]);
    // The old UUID lives on under another name: the probe was renamed and another took its name.
    let reported = changes(&old, &format!("{other} {new}"));
    assert_eq!(
        reported,
        [renamed(Class::NeedsVersion), (Class::Safe, "probe_added", "probe added".to_owned())]
    );

    let both = format!("{old} [uuid({OTHER})] probe Other {{ }};");
    assert_eq!(changes(&old, &both), [(Class::Safe, "probe_added", "probe added".to_owned())]);
    assert_eq!(changes(&both, &old), [(Class::Breaking, "probe_removed", "probe removed".to_owned())]);
    let hidden = both.replace("probe Other", "abstract probe Other");
    let message = "probe became abstract: it sends no samples".to_owned();
    assert_eq!(changes(&both, &hidden), [(Class::Breaking, "probe_removed", message)]);
}

#[test]
fn a_version_only_rises() {
    let reported = |old: &str, new: &str| changes(&probe(old, "int8 a;"), &probe(new, "int8 a;"));
    assert_eq!(
        reported("1.9", "1.10"),
        [(Class::NewVersion, "version_raised", "version raised from 1.9 to 1.10".to_owned())]
    );
    let lowered = "version lowered from 2.0 to 1.12".to_owned();
    assert_eq!(reported("2.0", "1.12"), [(Class::Breaking, "version_lowered", lowered)]);
    assert_eq!(reported("1.99999999999999999999999", "1.100000000000000000000000")[0].1, "version_raised");
    assert_eq!(reported("1.0", "01.00"), []);
    // A lower version may have named another layout.
    let both = changes(&probe("1.1", "int8 a;"), &probe("1.0", "int16 a;"));
    assert!(both.len() == 2 && both.iter().all(|(class, _, _)| *class == Class::Breaking), "{both:?}");
}

#[test]
fn a_base_changes_every_probe_that_inherits_from_it() {
    let text = |metrics: &str| {
        let probes = [(UUID, "A", "1.0"), (OTHER, "B", "1.1")].map(|(uuid, name, version)| {
            format!("[uuid({uuid}); version({version})] probe {name} : Base {{ int8 own; }};")
        });
        format!("abstract probe Base {{ {metrics} }}; {}", probes.concat())
    };
    let old = text("int8 a;").replace("1.1", "1.0");
    let reported = changes(&old, &text("int8 a, b;"));
    let classes: Vec<_> = reported.iter().map(|(class, what, _)| (*class, *what)).collect();
    let wanted = [
        (Class::Breaking, "metric_added"),
        (Class::NewVersion, "version_raised"),
        (Class::NewVersion, "metric_added"),
    ];
    assert_eq!(classes, wanted);
}

#[test]
fn a_change_has_its_places() {
    let [old, new] =
        [compiled(&probe("1.0", "int8 a;\nint8 b;")), compiled(&probe("1.0", "int8 a;\n\nint16 b;"))];
    let changes = compare(&old.model, &new.model);
    let reported = changes[0].to_json(&old.sources, &new.sources).to_string();
    let wanted = r#"{"class":"breaking","change":"type_changed","probe":"Engine","message":"type of metric `b` changed from `int8` to `int16`","old":{"file":"example.pdl","line":2,"column":6},"new":{"file":"example.pdl","line":3,"column":7}}"#;
    assert_eq!(reported, wanted);
}
