//! Alarms, events and checks equal formulas of signal temporal logic, which RTAMT evaluates offline.
//!
//! | rule | formula at each sample |
//! |---|---|
//! | `raise C for D; clear E for F` | active: `(not historically[0, F] E) since (historically[0, D] C)`, each once the trace is as old |
//! | `when C` | `C and prev((C is unknown) since (C is false))` |
//! | `when C then D within W` | at each start `eventually[0, W] D`; violated: `always[0, W] (D is false)` |
//! | `after C: always[A, B] D` | at each start `always[A, B] D`; violated: `eventually[A, B] (D is false)` |
//!
//! Samples are a period apart: a step of discrete time. Then a duration between two steps is as long as the next one for `for`, and as short as the one before
//! for `within`. Samples that are missing are steps at which all is unknown. A quarter of the cases has samples at irregular times and formulas in dense time
//! (`irregular`). Python evaluates all cases, and compares signs.

#![allow(clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod case;
mod formula;
mod irregular;
mod trace;

use case::Case;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    process::Command,
};

#[test]
fn rules_equal_signal_temporal_logic() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rtamt-cases.jsonl");
    let mut file = BufWriter::new(File::create(&path).expect("a file of cases"));
    for number in 0..oasis_oracles::cases(300) {
        let mut random = oasis_oracles::random(number);
        let case = match number % 4 {
            0 => irregular::random(number, &mut random),
            _ => Case::random(&mut random).to_json(number, &mut random),
        };
        writeln!(file, "{case}").expect("a case is written");
    }
    file.flush().expect("all cases are written");

    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join("../../target/venv-oracles/bin/python");
    assert!(python.exists(), "no RTAMT: make target/venv-oracles/installed");
    let output = Command::new(python)
        .arg(here.join("tests/rtamt/evaluate.py"))
        .arg(&path)
        .output()
        .expect("Python starts");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    print!("{said}");
}
