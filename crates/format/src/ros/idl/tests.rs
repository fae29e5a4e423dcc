use super::*;

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
    assert_eq!(layout.fields.is_delimited, Some(false));
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
    let union = "union U switch (long) { case 1: long x; }; struct A { U u; };";
    assert_eq!(error(union), unsupported("union U"));
    assert_eq!(error("struct A { map<long, string> m; };"), unsupported("map"));
    assert_eq!(error("@mutable struct A { long x; };"), unsupported("@mutable"));
    assert_eq!(error("struct A { @optional long x; };"), unsupported("@optional"));
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
