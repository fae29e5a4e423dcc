//! The report: which machine, which command, and a section for each scenario.

use crate::cpu;
use anyhow::Context;
use std::{env, fs, path::Path};

/// Subject of a report, and the target of the Makefile that makes it.
pub type Title = (&'static str, &'static str);

/// Servers and subscribers.
pub const FANOUT: Title = ("Fan-out", "bench-fanout");
/// Watched threads.
pub const PROBES: Title = ("Probes", "bench-probes");

/// Samples on the disk.
pub const ARCHIVE: Title = ("Archive", "bench-archive");

/// Bytes on the wire.
pub const MESSAGE_OVERHEAD: Title = ("Overhead of a message", "overhead");

/// Encryption.
pub const TLS: Title = ("TLS", "bench-tls");

/// Flags that the report does not repeat.
const LEFT_OUT: [&str; 2] = ["--write", "--postgresql-url"];

/// Prints it, and writes it to a file if that is wanted.
pub fn give((title, make): Title, sections: &[String], file: Option<&Path>) -> anyhow::Result<()> {
    let mut report = format!(
        "# {title}, measured\n\nWritten by `make {make}` (`oasis-lab {}`); [performance-measured.md](performance-measured.md) discusses the results.\n\nMachine: {}.\n",
        repeated(env::args().skip(1)).join(" "),
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

/// The flags that reproduce the report, without its output file and without the address of a database, which may contain a password.
fn repeated(mut arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        if LEFT_OUT.contains(&argument.as_str()) {
            arguments.next();
        } else if argument.split_once('=').is_none_or(|(flag, _)| !LEFT_OUT.contains(&flag)) {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_contains_neither_its_output_file_nor_a_password() {
        let typed = "archive --write a.md --what=sql --postgresql-url=host=h --rows-m 2 --postgresql-url postgresql://u:secret@h/d --write=b.md";
        let kept = repeated(typed.split(' ').map(str::to_owned));
        assert_eq!(kept, ["archive", "--what=sql", "--rows-m", "2"]);
    }
}
