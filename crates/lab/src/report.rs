//! The report: which machine, which command, and a section for each scenario.

use crate::cpu;
use anyhow::Context;
use std::{env, fs, path::Path};

/// What a report is about, and the target of the Makefile that makes it.
pub type Title = (&'static str, &'static str);

/// Servers and subscribers.
pub const FANOUT: Title = ("Fan-out", "bench-fanout");
/// Watched threads.
pub const PROBES: Title = ("Probes", "bench-probes");

/// Samples on the disk.
pub const ARCHIVE: Title = ("Archive", "bench-archive");

/// Prints it, and writes it to a file if that is wanted.
pub fn give((title, make): Title, sections: &[String], file: Option<&Path>) -> anyhow::Result<()> {
    let mut arguments = env::args().skip(1);
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        // Where the report goes has nothing to do with what is in it.
        if argument == "--write" {
            arguments.next();
        } else if !argument.starts_with("--write=") {
            kept.push(argument);
        }
    }
    let mut report = format!(
        "# {title}, measured\n\nWritten by `make {make}` (`oasis-lab {}`); [performance.md](performance.md) says what to make of it.\n\nMachine: {}.\n",
        kept.join(" "),
        cpu::machine(),
    );
    for section in sections {
        report.push('\n');
        report += section;
    }
    print!("{report}");
    if let Some(file) = file {
        fs::write(file, &report).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
