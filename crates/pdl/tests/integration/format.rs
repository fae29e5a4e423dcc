//! The layout of formatted files, and the files that are refused.

use crate::words::words;
use oasis_pdl::format;
use std::{fs, path::Path};

/// Formats a text. Checks that its words are unchanged and that a second run changes nothing.
fn formatted(text: &str) -> String {
    let once =
        format("example.pdl".as_ref(), text).unwrap_or_else(|report| panic!("{}", report.render(false)));
    assert_eq!(words(&once), words(text), "{once}");
    assert_eq!(format("example.pdl".as_ref(), &once).expect("it is still right"), once);
    assert!(once.ends_with('\n') && !once.ends_with("\n\n"), "{once:?}");
    assert!(once.lines().all(|line| line.trim_end() == line), "{once:?}");
    once
}

#[test]
fn one_declaration_a_line_and_blocks_two_deeper() {
    let text = r#"#pragma version(1.1)
#include "a.pdl"   #include "b.pdl"
module Plant{module Line7{struct Port{string name;uint64 in,out;};}
enum Link{DOWN,UP,TESTING=10,};

[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa);version( 1.2 )]probe Switch:::Plant :: Machine{vector < vector<
Port> >ports;[ unit ( "By" ) ;]uint64 total;};


abstract probe Machine{};};"#;
    let wanted = r#"#pragma version (1.1)
#include "a.pdl"
#include "b.pdl"
module Plant {
  module Line7 {
    struct Port {
      string name;
      uint64 in, out;
    };
  }
  enum Link { DOWN, UP, TESTING = 10, };

  [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa); version(1.2)]
  probe Switch : ::Plant::Machine {
    vector<vector<Port>> ports;
    [unit("By");] uint64 total;
  };

  abstract probe Machine { };
};
"#;
    let text = text.replace(":::Plant", ": ::Plant");
    assert_eq!(formatted(&text), wanted);
}

#[test]
fn a_comment_keeps_its_line() {
    let text = "\
// of the file

/* of the pragma */ #pragma version (1.1) // after it


    // of the module
module Plant { // after the brace

// alone

      // of the struct
  struct Port { /* inside */
    string /* of the name */ name /* before the semicolon */; // after the member
      // last in the struct


  }; /* after the struct */
  // last in the module
}
// last in the file";
    let wanted = "\
// of the file

/* of the pragma */ #pragma version (1.1) // after it

// of the module
module Plant { // after the brace

  // alone

  // of the struct
  struct Port { /* inside */
    string /* of the name */ name /* before the semicolon */; // after the member
    // last in the struct
  }; /* after the struct */
  // last in the module
}
// last in the file
";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn the_lines_of_a_comment_move_together() {
    let text = "\
module Plant {
/* One
     two
   three

*/
struct A { string a; };
\t\t/*
\t\t * Tabs
\t\t */
        struct B { string b; /* after it,
                                and below */ };
}
";
    let wanted = "\
module Plant {
  /* One
       two
     three

  */
  struct A {
    string a;
  };
  /*
   * Tabs
   */
  struct B {
    string b; /* after it,
                 and below */
  };
}
";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn a_comment_may_stand_between_an_attribute_and_what_it_describes() {
    let text = "\
/// Documentation.
// of the probe
[version(1.0)] // of the version
// of the word
abstract /* not sent */ probe P {
  [unit(\"By\") /* bytes */; // of the unit
   kind(gauge)] /* how many */ uint8 a, // first
     b; [kind(state)]
  // of c
  boolean c;
};
";
    let wanted = "\
/// Documentation.
// of the probe
[version(1.0)] // of the version
// of the word
abstract /* not sent */ probe P {
  [unit(\"By\") /* bytes */; // of the unit
   kind(gauge)] /* how many */
  uint8 a, // first
      b;
  [kind(state)]
  // of c
  boolean c;
};
";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn attributes_that_fill_the_line_stand_above_what_they_describe() {
    let text = r#"abstract probe P {
  [unit("Cel"); kind(gauge); label("Temperature"); min(-40); max(150); warn(< 5, > 80); alarm(>95)] real32 temperature;
  [unit("Cel"); kind(gauge)] [label("Temperature of the housing, on the side of the fan"); min(-40); max(150)] real32 a;
  [unit("Cel"); kind(gauge); label("Temperature of the housing, on the side of the fan"); min(-40); max(150)] real32 b;
};"#;
    let wanted = r#"abstract probe P {
  [unit("Cel"); kind(gauge); label("Temperature"); min(-40); max(150); warn(< 5, > 80); alarm(> 95)]
  real32 temperature;
  [unit("Cel"); kind(gauge)]
  [label("Temperature of the housing, on the side of the fan"); min(-40); max(150)]
  real32 a;
  [unit("Cel");
   kind(gauge);
   label("Temperature of the housing, on the side of the fan");
   min(-40);
   max(150)]
  real32 b;
};
"#;
    assert_eq!(formatted(text), wanted);
}

#[test]
fn a_full_line_is_broken_after_a_comma() {
    let names: Vec<String> = (0..20).map(|number| format!("metric{number}")).collect();
    let text = format!("abstract probe P {{ uint64 {}; vector<string> a, b; }};", names.join(","));
    let wanted = "\
abstract probe P {
  uint64 metric0, metric1, metric2, metric3, metric4, metric5, metric6, metric7, metric8, metric9,
      metric10, metric11, metric12, metric13, metric14, metric15, metric16, metric17, metric18,
      metric19;
  vector<string> a, b;
};
";
    assert_eq!(formatted(&text), wanted);
}

#[test]
fn a_line_has_its_semicolon_within_a_hundred_characters() {
    for length in 88..92 {
        let text = format!("struct A {{ uint64 {}, b; }};", "a".repeat(length - 5));
        let lines = formatted(&text).lines().count();
        assert_eq!(lines, if length <= 91 { 3 } else { 4 }, "{length}");
        let longest = formatted(&text).lines().map(str::len).max();
        assert!(longest <= Some(100), "{}", formatted(&text));
    }
    let text = |length| format!("struct A {{ [label(\"{}\")] string b; }};", "a".repeat(length));
    assert_eq!(formatted(&text(77)).lines().map(str::len).max(), Some(100));
    assert_eq!(formatted(&text(78)).lines().count(), 4);
}

#[test]
fn an_enum_stands_on_one_line_if_it_can() {
    assert_eq!(formatted("enum A:int16{X=-1,\n\nY};"), "enum A : int16 { X = -1, Y };\n");
    assert_eq!(formatted("enum A { X, // first\nY};"), "enum A {\n  X, // first\n  Y\n};\n");
    let text = "enum A {\n  /// First.\n  X,\n\n  Y, /// Of nothing.\n};";
    assert_eq!(formatted(text), "enum A {\n  /// First.\n  X,\n\n  Y,\n  /// Of nothing.\n};\n");
    let names =
        |separator: &str| (0..20).map(|number| format!("NUMBER{number}")).collect::<Vec<_>>().join(separator);
    let wanted = format!("enum A {{\n  {}\n}};\n", names(",\n  "));
    assert_eq!(formatted(&format!("enum A {{ {} }};", names(","))), wanted);
}

#[test]
fn documentation_stays_with_what_it_describes() {
    let text =
        "/// One.\n\n///Two.   \n\nstruct A { /// Three.\n\n string a; /// Of nothing.\n};\n/// Of the end.";
    let wanted =
        "/// One.\n///Two.\nstruct A {\n  /// Three.\n  string a;\n  /// Of nothing.\n};\n/// Of the end.\n";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn line_ends_and_other_blanks_become_one_kind() {
    let text = "\u{feff}/* a\r\n   b */\r\n// c \t\r\nstruct\tA\x0c{\r\n\r\n\r\n  string a;  \r\n  /// D.  \r\n  string d;}\r\n;\r\n\r\n";
    let wanted = "/* a\n   b */\n// c\nstruct A {\n  string a;\n  /// D.\n  string d;\n};\n";
    assert_eq!(formatted(text), wanted);
    assert_eq!(formatted("module A{}/* end */"), "module A { } /* end */\n");
    assert_eq!(formatted("module A{}\n\n\n/* end */"), "module A { }\n\n/* end */\n");
    assert_eq!(formatted("module A{// nothing\n}"), "module A { // nothing\n}\n");
}

#[test]
fn a_file_with_syntax_errors_is_not_laid_out() {
    for (text, code) in [("struct A {", "E0001"), ("struct A { /*", "E0003")] {
        let report = format("example.pdl".as_ref(), text).expect_err(text);
        assert_eq!(report.diagnostics[0].code.name(), code, "{text}");
        assert!(report.render(false).contains("example.pdl:"), "{}", report.render(false));
    }
    // Names are not looked up.
    assert_eq!(formatted("struct A{B b;};"), "struct A {\n  B b;\n};\n");
}

#[test]
fn a_file_that_declares_nothing_yet_is_laid_out() {
    for blank in ["", " \n\n"] {
        assert_eq!(format("example.pdl".as_ref(), blank).expect("a file without words"), "");
    }
    assert_eq!(formatted("  // nothing  \n"), "// nothing\n");
    assert_eq!(
        formatted("#include  \"a.pdl\"   #pragma version(1.1)"),
        "#include \"a.pdl\"\n#pragma version (1.1)\n"
    );
}

#[test]
fn a_long_file_takes_time_in_proportion() {
    let text = format!("module A {{ {} }}", "struct B { uint8 c; }; ".repeat(20_000));
    assert_eq!(formatted(&text).lines().count(), 60_002);
}

#[test]
fn every_file_of_this_project_is_laid_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for folder in ["pdl", "pdl/instrument", "vectors", "examples/control-loop", "crates/pdl-gen/tests/plant"]
    {
        for entry in fs::read_dir(root.join(folder)).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            if path.extension().is_some_and(|extension| extension == "pdl") {
                let text = fs::read_to_string(&path).expect("it can be read");
                assert_eq!(formatted(&text), text, "run `oasis pdl fmt {}`", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 7, "{count}");
}

#[test]
fn the_examples_of_the_reference_are_laid_out() {
    let page = include_str!("../../../../docs/reference/pdl.md");
    let examples: Vec<&str> =
        page.split("```pdl\n").skip(1).filter_map(|after| after.split("```").next()).collect();
    assert!(examples.len() >= 3, "{}", examples.len());
    for example in examples {
        formatted(example);
    }
}
