use super::{super::definitions::BadText, *};

fn names(layout: &Layout) -> Vec<&str> {
    layout.metrics.iter().map(|metric| metric.name.as_str()).collect()
}

#[test]
fn a_message_of_ros_has_the_metrics_of_its_other_definition() {
    let text = "================================================================================
IDL: a/msg/A
#include \"std_msgs/msg/Header.idl\"
module a { module msg {
  typedef double double__2[2];
  module A_Constants { const uint8 OK = 0; };
  @verbatim (language=\"comment\", text=\"Of a pump;\" \"{ in\")
  struct A {
    std_msgs::msg::Header header;
    @verbatim(language=\"comment\", text=\"x\") @unit(value=\"m/s\")
    float speed;
    double__2 pair;
    sequence<a::msg::None, 3> none;
    string<10> name;
  };
  struct None { uint8 structure_needs_at_least_one_member; };
}; };
================================================================================
IDL: std_msgs/msg/Header
module std_msgs { module msg { struct Header { builtin_interfaces::msg::Time stamp; string frame_id; }; }; };
================================================================================
IDL: builtin_interfaces/msg/Time
module builtin_interfaces { module msg { struct Time { int32 sec; uint32 nanosec; }; }; };
";
    let of_idl = Layout::read_idl("a/msg/A", text.as_bytes()).unwrap();
    let text = "std_msgs/Header header\nfloat32 speed\nfloat64[2] pair\nNone[<=3] none\nstring<=10 name\n===\nMSG: a/None\n===\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
    let mut of_msg = Layout::read("a/msg/A", text.as_bytes()).unwrap();
    of_msg.metrics[1].unit = Some("m/s".into());
    assert_eq!(of_idl.metrics, of_msg.metrics);
    assert_eq!(of_idl.fields, of_msg.fields);
    // Some recorders omit the module.
    assert_eq!(
        Layout::read_idl("a/A", b"module a { module msg { struct A { long x; }; }; };").unwrap().count,
        1
    );
}

#[test]
fn enums_have_their_names_and_bases_come_first() {
    let text = "enum Mode { OFF, @value(7) ON }; @bit_bound(8) enum Small { A }; struct Base { long x; }; @final struct A : Base { Mode mode; sequence<Small> small; };";
    let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
    assert_eq!(names(&layout), ["x", "mode", "small"]);
    assert_eq!(layout.fields.extensibility, Some(Extensibility::Final));
    let mode = layout.metrics[1].enumeration.as_ref().unwrap();
    assert_eq!((mode.name.as_str(), mode.values[1].value), ("Mode", 7));
    assert_eq!(layout.metrics[2].kind, MetricType::Vector(Box::new(MetricType::Int8)));
}

#[test]
fn a_type_beyond_a_bound_or_without_a_metric_is_refused() {
    let error = |text: &str| Layout::read_idl("A", text.as_bytes()).unwrap_err();
    let unsupported = |of: &str| BadLayout::Unsupported(of.to_owned());
    assert_eq!(error("struct A { A again; };"), BadLayout::Deep);
    assert_eq!(error("typedef B A; typedef A B; struct C { A a; };"), unsupported("A"));
    assert_eq!(error("typedef B T; typedef T B; struct A { T a; };"), BadLayout::Deep);
    assert_eq!(error("struct A : A { long x; };"), BadLayout::Deep);
    assert_eq!(error("struct B { long x; };"), BadLayout::Undefined("A".into()));
    assert_eq!(error("struct A { b::C x; };"), BadLayout::Undefined("b::C".into()));
    assert_eq!(error("bitset B { bitfield<3> x; }; struct A { B b; };"), unsupported("bitset B"));
    assert_eq!(error("struct A { map<long, string> m; };"), unsupported("map"));
    let hashed = unsupported("a @mutable struct with @hashid or @autoid(HASH)");
    assert_eq!(error("@mutable struct A { @hashid long x; };"), hashed);
    assert_eq!(
        error(
            "@autoid(HASH) module m { @mutable struct A { long x; }; }; typedef m::A B; struct A { B b; };"
        ),
        hashed
    );
    assert_eq!(
        error("@mutable struct A { @id(3) long x; @id(3) long y; };"),
        unsupported("the member number 3 twice")
    );
    let line = BadText::Idl(2, "expected a name".into());
    assert_eq!(error("struct A { long x; };\nenum Mode { OFF, ON = 3 };"), line.into());
    assert_eq!(error("struct A {};"), unsupported("a struct without members"));
    // An enum of 10,000 values that each of 1,000 members repeats.
    let values: String = (0..10_000).map(|value| format!("V{value},")).collect();
    let members: String = (0..1_000).map(|member| format!("E m{member};")).collect();
    assert_eq!(error(&format!("enum E {{ {values} }}; struct A {{ {members} }};")), BadLayout::Many);
    let mut bomb = "struct L9 { long x; };".to_owned();
    for level in (0..9).rev() {
        let members: String = (0..10).map(|at| format!("L{} f{at};", level + 1)).collect();
        bomb += &format!("struct L{level} {{ {members} }};");
    }
    assert_eq!(Layout::read_idl("L0", bomb.as_bytes()), Err(BadLayout::Many));
}

#[test]
fn unions_are_structs_with_a_discriminator_and_all_members() {
    let text = "module c { enum Mode { OFF, ON, FAULT }; };
        union U switch (c::Mode) { case ON: case c::FAULT: long x; default: string discriminator; };
        union V switch (char) { case 'a': long x; case 'b': double y; };
        struct A { U u; sequence<V> v; };";
    let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
    assert_eq!(names(&layout), ["u", "v", "oasis.absent"]);
    let MetricType::Struct(of) = &layout.metrics[0].kind else { panic!("{layout:?}") };
    let members: Vec<_> = of.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(members, ["discriminator_", "x", "discriminator"]);
    assert_eq!(of.members[0].enumeration.as_ref().unwrap().values.len(), 3);
    let Kind::Union(of) = &layout.fields.members[0].kind else { panic!("{layout:?}") };
    assert_eq!([0, 1, 2, 9].map(|number| of.case(number)), [Some(1), Some(0), Some(0), Some(1)]);
    let Kind::Sequence(of) = &layout.fields.members[1].kind else { panic!("{layout:?}") };
    let Kind::Union(of) = &*of.of else { panic!("{layout:?}") };
    assert_eq!([97, 98, 99].map(|number| of.case(number)), [Some(0), Some(1), None]);
}

#[test]
fn a_union_that_is_not_of_idl_is_refused_with_its_line() {
    let error = |union: &str| {
        let text = format!("union U {union};\nstruct A {{ U u; }};");
        Layout::read_idl("A", text.as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(error("{ case 1: long x; }"), "invalid text: line 1: expected a name");
    assert_eq!(error("switch (long) {\nlong x; }"), "invalid text: line 2: expected case or default");
    assert_eq!(error("switch (long) {\n case 1 long x; }"), "invalid text: line 2: expected ':'");
    assert_eq!(error("switch (long) { case 1: long x, y; }"), "invalid text: line 1: expected one name");
    assert_eq!(
        error("switch (long) { case 1: long x; case 2: long x; }"),
        "invalid text: line 1: the name \"x\" again"
    );
    assert_eq!(error("switch (char) { case 'ab': long x; }"), "invalid text: line 1: expected one letter");
    let unsupported = |what: &str| BadLayout::Unsupported(what.into()).to_string();
    assert_eq!(error("switch (long) { case N: long x; }"), unsupported("the label Name(\"N\") of a union"));
    assert_eq!(
        error("switch (long) { case 1: long x; case 1: long y; }"),
        unsupported("the label 1 of a union twice")
    );
    assert_eq!(error("switch (double) { case 1: long x; }"), unsupported("the discriminator of the union U"));
}

#[test]
fn bitmasks_are_numbers_with_the_names_of_their_bits() {
    let text = "@bit_bound(12) bitmask F { HOT, @position(5) WET, DRY }; struct A { F f; sequence<F> g; };";
    let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
    assert_eq!(layout.metrics[0].kind, MetricType::Uint16);
    assert_eq!(layout.metrics[0].doc.as_deref(), Some("Bits: 0 HOT, 5 WET, 6 DRY."));
    assert_eq!(layout.metrics[1].kind, MetricType::Vector(Box::new(MetricType::Uint16)));
}

#[test]
fn members_of_mutable_types_have_numbers() {
    let text = "@mutable struct B { @id(5) long a; long b; }; @mutable struct A : B { long c; @id(2) @optional long d; long e; };";
    let layout = Layout::read_idl("A", text.as_bytes()).unwrap();
    let numbers: Vec<_> = layout.fields.members.iter().map(|member| member.id).collect();
    assert_eq!(numbers, [5, 6, 7, 2, 3]);
    assert_eq!(names(&layout), ["a", "b", "c", "d", "e", "oasis.absent"]);
}
