//! A PDL file of any size: machines of a plant, as a generator of PDL would write them.

use std::fmt::Write;

/// A module holds this many probes, with a base, a struct and an enum for them.
const PROBES_OF_A_LINE: usize = 10;

/// A file with this many concrete probes, eight metrics of its own each.
pub fn plant(probes: usize) -> String {
    let mut text = String::from("#pragma version (1.1)\n\nmodule Plant {\n");
    for number in 0..probes {
        if number % PROBES_OF_A_LINE == 0 {
            begin_line(number / PROBES_OF_A_LINE, &mut text);
        }
        machine(number, &mut text);
        if number % PROBES_OF_A_LINE == PROBES_OF_A_LINE - 1 || number + 1 == probes {
            text.push_str("  }\n");
        }
    }
    text.push_str("}\n");
    text
}

fn begin_line(line: usize, text: &mut String) {
    let written = write!(
        text,
        "  module Line{line} {{
    enum Mode {{ IDLE, RUNNING, DEGRADED = 10, FAILED }};

    /// One drive of a machine.
    struct Drive {{
      string name;
      [unit(\"1/min\"); kind(gauge); min(0); max(6000)] real64 speed;
      [kind(state)] Mode mode;
    }};

    abstract probe Machine {{
      /// Temperature of the housing.
      [unit(\"Cel\"); kind(gauge); warn(> 80); alarm(> 95)] real32 temperature;
      [kind(state); warn(DEGRADED); alarm(FAILED)] Mode mode;
    }};
"
    );
    written.expect("a String takes any text");
}

fn machine(number: usize, text: &mut String) {
    let base = if number.is_multiple_of(2) { " : Machine" } else { "" };
    let written = write!(
        text,
        "
    /// Machine number {number}.
    [uuid({number:08x}-9c7e-4a57-8a9f-62c1f1b8c7aa); version(1.2)]
    probe Machine{number}{base} {{
      [unit(\"By\"); kind(counter)] uint64 bytes_in, bytes_out;
      [unit(\"V\"); label(\"Supply\")] real64 supply;
      vector<Drive> drives;
      ::Plant::Line{}::Mode wanted;
      string operator;
      boolean locked;
      uint32 parts;
    }};
",
        number / PROBES_OF_A_LINE
    );
    written.expect("a String takes any text");
}
